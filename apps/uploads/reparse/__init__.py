"""Uploaded files read again with today's parsers, and what that changes in the runs saved from them."""
