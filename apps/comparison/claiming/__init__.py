"""Claims in the database and on pages: kept, evaluated when data change, edited. What they mean is in `apps.comparison.claims`."""
