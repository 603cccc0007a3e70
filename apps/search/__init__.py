"""Search across everything of a lab: one entry per kind in `registry.py`, one index per kind in the migrations."""
