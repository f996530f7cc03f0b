"""Where people sign in elsewhere: one adapter for each kind of provider."""
