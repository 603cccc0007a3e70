"""Pages of what exists."""
