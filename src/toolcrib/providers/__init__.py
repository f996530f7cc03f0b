"""Models, search, embeddings, images and speech: one adapter each."""
