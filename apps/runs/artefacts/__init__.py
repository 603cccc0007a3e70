"""Raw bytes of runs and uploads: the store, and the checks that it is complete."""
