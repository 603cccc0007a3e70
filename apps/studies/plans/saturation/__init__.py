"""Searches for the load at which a target is saturated."""
