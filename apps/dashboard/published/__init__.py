"""Published studies from `apps/studies/data/`, loaded into the lab that everybody may read through the ordinary services."""
