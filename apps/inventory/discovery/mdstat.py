"""`/proc/mdstat` as an agent sends it; the reading is the one that uploaded files get (`apps.parsers.inventory`)."""

from apps.inventory.discovery.printed import UnreadableError
from apps.parsers.inventory.md_arrays import MdArray, MdMember, MdStat, read

__all__ = ["TOOL", "MdArray", "MdMember", "MdStat", "parse"]

TOOL = "mdstat"
MAX_LINES = 20_000


def parse(printed: str) -> MdStat:
    """Raises `UnreadableError` when the text is not mdstat; members that cannot be read become warnings with their
    line.
    """
    found = read(printed.splitlines()[:MAX_LINES])
    if found is None:
        raise UnreadableError(TOOL, next(iter(printed.strip().splitlines()), ""), "Personalities : …", 1)
    return found
