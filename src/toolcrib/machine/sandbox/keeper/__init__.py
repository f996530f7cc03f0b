"""The process that starts programs for us. It is on its own: nothing here imports more than the standard library."""
