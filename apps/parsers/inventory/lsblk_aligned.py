"""Rows of lsblk's usual columns told apart by their words, where names were changed, tabs lost or the tree garbled.

NAME   MAJ:MIN RM  SIZE RO TYPE MOUNTPOINT
sda      8:0    0  931G  0 disk
`-r 253:0 0 931G 0 lvm /

Each of these columns has a word in every row but the last one, MOUNTPOINT, which has all of the rest.
"""

import re
from collections.abc import Sequence

from apps.parsers.inventory.printed import Content

_WORDS = {
    "MAJ:MIN": r"\d{1,7}:\d{1,9}",
    "RM": "[01]",
    "SIZE": r"\d[\d.,]{0,20}[BKMGTPE]?",
    "RO": "[01]",
    "TYPE": r"[a-z]\w{1,20}",
}
_LAST = ("MOUNTPOINT", "MOUNTPOINTS")
_REST = re.compile(
    r"(?:(?:(?:RM )?\s{0,6}(?:SIZE )?RO )?TYPE(?:\s{1,6}MOUNTPOINTS?)?"
    r"|(?:[01] )?(?:disk|part|lvm|crypt|loop|rom|mpath|raid\d{1,2})(?:\s{1,6}[/\[].*)?)\s*$"
)
ROW_NAME = r"([^\w/]{0,200}+)([\w/]\S{0,200}+(?: \(dm-\d{1,5}\))?)"
_BARE = re.compile(
    r"[^\w/]{0,80}+[\w/][\w/.+-]{0,100}(?: \(dm-\d{1,5}\))?\s{1,80}\d{1,7}:\d{1,9}\s{1,8}[01]\s{1,12}\d[\d.,]{0,20}[BKMGTPE]?\s{1,8}[01] "
    r"(?:disk|part|lvm|crypt|loop|rom|mpath|md|raid\d{1,2})(?:\s{1,40}(?:/|\[SWAP\]).*)?\s*$"
)
_ENCODED = re.compile("=E2=94=(80|82|94|9C)")
_GARBLED = re.compile(r"[^A-Za-z0-9/]*â[^A-Za-z0-9/]*")
_BOXES = {"œ": "├─", "\x9c": "├─", "‚": "│", "\x82": "│", "”": "└─", "\x94": "└─"}
_BOX = re.compile("â(?:[”\x94]([œ”‚\x94\x9c\x82])(?:â(?:[”\x94][€\x80])?)?|(â))?")


def ungarbled(line: str) -> str:
    """A tree whose UTF-8 was read as Latin-1 or CP1252: `â”œâ”€sda1` and, without control characters, `ââsda1`; or stayed encoded in
    a mail that quotes another: `=E2=94=9C=E2=94=80sda1`.
    """
    if "=E2=94=" in line:
        return _ENCODED.sub(lambda box: bytes([0xE2, 0x94, int(box[1], 16)]).decode(), line)
    found = _GARBLED.match(line)
    if not found:
        return line
    return _BOX.sub(lambda box: _BOXES.get(box[1] or "", "├─" if box[2] else "│"), found[0]) + line[found.end() :]


def is_bare(line: str) -> bool:
    """Whether a row of the usual columns stands there, as `lsblk -n` prints it."""
    return ":" in line and _BARE.match(line) is not None


def is_wrapped(header: str, line: str) -> bool:
    """Whether a mail may have put the end of a row, or of the heading, there."""
    return "MAJ:MIN" in header and bool(_REST.match(line))


def unwrapped(lines: Sequence[str]) -> list[str]:
    """The heading and rows as they were before a mail wrapped them; all as they are where that does not make rows whole."""
    whole = list(lines[:1])
    for line in lines[1:]:
        if is_wrapped(lines[0], line):
            whole[-1] = f"{whole[-1].rstrip()} {line.strip()}"
        else:
            whole.append(line)
    return whole if len(whole) < len(lines) and devices(whole) else list(lines)


def devices(lines: Sequence[str]) -> list[Content] | None:
    """A device for each row, keys in lower case; None for other columns, or where a row does not fit."""
    headings = lines[0].split()
    has_last = headings[-1] in _LAST
    filled = headings[1 : len(headings) - has_last]
    if not filled or filled[0] != "MAJ:MIN" or not set(filled) <= set(_WORDS) or len(lines) < 2:
        return None
    row = re.compile(
        ROW_NAME + "".join(rf"\s{{1,200}}+({_WORDS[word]})" for word in filled) + r"(?:\s{1,200}+(\S.*))?\s*$"
    )
    keys = [heading.lower() for heading in headings]
    found: list[Content] = []
    for line in lines[1:]:
        match = row.match(line)
        if not match or (match[match.re.groups] and not has_last):
            return None
        _, name, *words, rest = match.groups()
        found.append(dict(zip(keys, [name, *words, *([_mounted(keys[-1], rest)] if has_last else [])], strict=True)))
    return found


def _mounted(key: str, rest: str | None) -> str | list[str] | None:
    place = (rest or "").rstrip()
    place = place if place.startswith(("/", "[")) else ""  # else somebody's own words beside the row
    return ([place] if place else []) if key == "mountpoints" else place or None
