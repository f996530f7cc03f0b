"""The loop, sub-agents, teams and delegation."""
