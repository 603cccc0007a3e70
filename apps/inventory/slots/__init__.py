"""Slot maps, without a database: names of slots, physical order, the rule that names devices, what spans what.

Nothing here is executed or fetched; the rows come from `apps/inventory/slots/slot_map.py`.
"""
