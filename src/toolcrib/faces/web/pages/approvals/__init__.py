"""Approvals."""
