"""Contracts: what every backend of a port does alike."""
