"""Comparisons that were put into a study: its own tables and charts."""
