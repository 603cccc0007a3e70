"""Answers with everything else held equal: matched strata, their effects, and what they say together."""
