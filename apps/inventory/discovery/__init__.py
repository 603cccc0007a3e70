"""From what tools print on a host to the inventory.

`receive.py` keeps the outputs verbatim, one small module per tool reads its text (no Django, listed in `tools.py`),
`layers.py` puts the readings together, and `rebuild.py` writes what was found onto the inventory's rows.
"""
