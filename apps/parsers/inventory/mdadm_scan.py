"""mdadm `--detail --scan` and `--examine --scan`, and mdadm.conf: a line for each array, a second one for spares and, with `-v`, for
its members.

ARRAY /dev/md0 level=raid1 num-devices=2 metadata=1.2 UUID=0a1b:2c3d
   spares=1   devices=/dev/sda1,/dev/sdb1

Source: mdadm's Detail.c and Examine.c. Content: {"arrays": [{"device", …the words as they are}]}; a container may have no device.
"""

import re
from collections.abc import Sequence

from apps.parsers.inventory.printed import Content, count

LINE = re.compile(r"\s{0,40}(?:ARRAY|INACTIVE-ARRAY) \S+ .*\b(?:UUID|metadata|level|container)=")
_MORE = re.compile(  # also what a mail wrapped
    r"\s{0,40}(?:(?:UUID|auto|container|devices|level|member|metadata|name|num-devices|spare-group|spares)=\S+(?:\s+|$))+$"
)


def end(lines: Sequence[str], index: int) -> int:
    """Behind the last array of those that begin at `index`; `index` where none does."""
    behind = index
    while behind < len(lines) and (LINE.match(lines[behind]) or (behind > index and _MORE.match(lines[behind]))):
        behind += 1
    return behind


def read(lines: Sequence[str]) -> tuple[str, Content]:
    arrays: list[Content] = []
    for words in map(str.split, lines):
        if words[0] in ("ARRAY", "INACTIVE-ARRAY"):
            arrays.append({"inactive": True} if words[0] != "ARRAY" else {})
            words = words[1:]
            if "=" not in words[0] or words[0].startswith("/"):
                arrays[-1] = {"device": words.pop(0)} | arrays[-1]
        arrays[-1].update((key, value) for key, _, value in (word.partition("=") for word in words))
    return count(len(arrays), "array"), {"arrays": arrays}
