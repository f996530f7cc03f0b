"""Durable steps, the task queue, timers and triggers."""
