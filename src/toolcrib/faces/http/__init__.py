"""The HTTP API under /api/v1: JSON in and out, problem+json when something is wrong."""
