"""A host's parts, what lies on what, and what is wired to what."""
