"""What comes out: the release, its guarantee, and the frozen form that is hashed."""
