"""The caveats of the runs in matched sets: one mechanism for questions, their cards, and claims about them."""
