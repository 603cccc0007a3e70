"""The upper bound on what the stack under a target can carry."""
