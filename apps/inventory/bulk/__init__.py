"""Work on many parts at once: the same change to all of them, and duplicates made one."""
