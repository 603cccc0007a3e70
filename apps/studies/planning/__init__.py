"""A plan's arithmetic. Pure: values in, values out; no database, no clock."""
