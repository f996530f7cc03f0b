"""What tools work on: nouns and ports, one file each. No I/O."""
