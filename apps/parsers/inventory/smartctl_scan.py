"""smartctl `--scan` and `--scan-open`: a line for each device that may be asked.

/dev/bus/0 -d megaraid,8 # /dev/bus/0 [megaraid_disk_08], SCSI device

Source: smartmontools' smartctl.cpp (scan_devices); behind a `#` stands one that could not be opened. Content as in its JSON:
{"devices": [{"name", "type", "info_name", "protocol"}]}, and "open_error".
"""

import re
from collections.abc import Iterator, Sequence

from apps.parsers.inventory.printed import Block, Content, count

LINE = re.compile(
    r"(?:# )?(/dev/\S{1,200}) -d (\S{1,60}) # (/dev/[^,\n]{1,200}), ([A-Za-z+]{1,20}) device(?: open failed: (\S.{0,300}))?\s*$"
)
_KEYS = ("name", "type", "info_name", "protocol", "open_error")


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    first = None
    for index, line in enumerate([*lines, ""]):
        is_line = LINE.match(line) is not None
        if is_line and first is None:
            first = index
        elif not is_line and first is not None:
            yield first, index
            first = None


def read(lines: Sequence[str]) -> tuple[str, Content]:
    devices = [
        {key: value for key, value in zip(_KEYS, match.groups(), strict=True) if value}
        for match in filter(None, map(LINE.match, lines))
    ]
    named = ", ".join(dict.fromkeys(device["name"] for device in devices[:8]))
    return f"{count(len(devices), 'device')}: {named}", {"devices": devices}
