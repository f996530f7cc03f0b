"""Ways in: each turns its protocol into a Request, and an Outcome back."""
