"""mdadm `--examine-bitmap` (`-X`): the write-intent bitmap of an array's member.

        Filename : /dev/sdb
           Magic : 6d746962
       Chunksize : 64 MB

Source: mdadm's bitmap.c (ExamineBitmap, ExamineBitmapInternal). Content: fields as in `mdadm`; what a cluster's bitmap tells of each
of its nodes is in "slots": [{"node_slot", "events", …}].
"""

import re
from collections.abc import Sequence

from apps.parsers.inventory.printed import Content, field, put, typed

_HEAD = re.compile(r"\s{0,40}Filename : \S")
_MAGIC = re.compile(r"\s{0,40}Magic : ")
_FIELD = re.compile(r"\s{0,40}[A-Z][A-Za-z ]{1,20} : ")


def end(lines: Sequence[str], index: int) -> int:
    """Behind the last line of the bitmap that begins at `index`; `index` where none does."""
    if not (_HEAD.match(lines[index]) and any(map(_MAGIC.match, lines[index + 1 : index + 2]))):
        return index
    behind = index + 1
    while behind < len(lines) and _FIELD.match(lines[behind]) and not _HEAD.match(lines[behind]):
        behind += 1
    return behind


def is_bitmap(lines: Sequence[str]) -> bool:
    return bool(_HEAD.match(lines[0]))


def read(lines: Sequence[str]) -> tuple[str, Content]:
    content: Content = {}
    here = content
    for key, value in filter(None, map(field, lines)):
        if key == "Node Slot":
            here = {}
            content.setdefault("slots", []).append(here)
        put(here, key.lower().replace(" ", "_"), typed(key, value))
    chunk = f", chunk {content['chunksize']}" if content.get("chunksize") else ""
    return f"{content['filename']}: bitmap{chunk}", content
