"""The configuration: toolcrib.yaml read with its lines, checked against what exists, and laid over what is built in.

`reading` and `values` are what most need; nothing is imported here, because start-up pays for it.
"""
