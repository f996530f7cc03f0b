"""Configurations of other systems, turned into ours: text in, the text of a toolcrib.yaml and notes out."""
