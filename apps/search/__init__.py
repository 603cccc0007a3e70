"""Search across everything of a lab: one entry per kind in `kinds.py`, one index per kind in the migrations."""
