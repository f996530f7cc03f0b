"""Web search: one module for each provider, behind one port; `chain` asks them."""
