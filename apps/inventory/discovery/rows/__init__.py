"""Writing discovered parts to the inventory's rows."""
