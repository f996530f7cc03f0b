"""What grants look like before they are in force: findings of lint, and what a change would do."""
