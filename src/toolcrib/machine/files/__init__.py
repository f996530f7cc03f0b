"""Files below a workspace on the local disk: `workspace.LocalWorkspaces` is the way in."""
