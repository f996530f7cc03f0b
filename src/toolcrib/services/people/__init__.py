"""People and programs that come in through a face: who they are, and what they may do there."""
