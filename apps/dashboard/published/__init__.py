"""Published studies out of `apps/studies/data/` into the lab that everybody may read, through the doors that users have."""
