"""Claims of studies: stored, evaluated when data change, shown and edited; `checks` has the arithmetic of a verdict."""
