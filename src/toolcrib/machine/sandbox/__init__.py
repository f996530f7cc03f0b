"""Programs inside walls: bubblewrap, Landlock, Docker, or a refusal that names the fix."""
