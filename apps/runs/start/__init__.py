"""What a start of runs consists of beside its jobs, and what of a former run it can begin with."""
