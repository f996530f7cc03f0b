"""Files below a workspace on the local disk."""
