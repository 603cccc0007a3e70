"""One configuration's values over months of runs: where they changed, what changed with them, and who is told."""
