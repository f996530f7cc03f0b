"""The server: all faces of a house as one ASGI application behind one door."""
