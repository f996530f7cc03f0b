"""A person's word on single calls: what is asked and answered, and who asks."""
