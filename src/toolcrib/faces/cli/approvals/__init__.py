"""`toolcrib approvals`: a person's word on calls that ask."""

from toolcrib.faces.cli.approvals.requests import command

__all__ = ["command"]
