"""Outputs of tools that describe a machine, uploaded beside results: kept, and offered to the inventory.

One module per tool, each a parser as `apps.parsers.shape` has it, giving `ParsedFile.inventory`. The content is what
the tool said, in its own words: JSON documents as they are, text as fields, lists and tables; whole numbers are numbers
where they can be nothing else (`printed.typed`).
"""
