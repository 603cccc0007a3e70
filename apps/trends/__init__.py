"""Trends: the values of one configuration over time, the changes of level in them, and notifications of regressions."""
