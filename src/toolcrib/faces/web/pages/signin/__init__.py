"""Signing in and out, the first visit, and invitations."""
