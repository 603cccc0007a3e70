"""One module or package per tool: its text is read for uploads and for the inventory in the same place.

- `NAME`, `TITLE`, `looks_like` and `parse`, as `apps.parsers.core.models` has them, where uploads recognise the tool's output.
  What `ParsedFile.inventory` holds is what the tool said, in its own words: JSON documents as they are, text as fields,
  lists and tables; whole numbers are numbers where they can be nothing else (`tool_output.typed`).
- `TOOL` and `discover`: text → plain values for the inventory; `readings.py` lists them.
"""

from apps.parsers.core.registry import register

register(__name__, "inventory")
