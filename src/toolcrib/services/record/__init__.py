"""The record of every call: its entries, their chain, and what an idempotency key remembers."""
