"""Where things are kept, behind the ports of services."""
