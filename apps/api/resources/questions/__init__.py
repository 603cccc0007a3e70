"""Questions with everything else held equal, and their answers."""
