"""One file, one guard: it looks at a checked call and lets it pass, asks, or refuses."""
