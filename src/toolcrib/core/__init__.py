"""What a tool is, who may call it, and how a call runs. Pure: no I/O, and nothing else of ours."""
