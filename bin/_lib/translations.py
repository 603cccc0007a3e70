"""The words of locale/*/LC_MESSAGES/django.po as django.mo, which Django reads; without GNU gettext.

python -m bin._lib.translations    after a .po file was changed; both files are committed
"""

import ast
import re
import struct
from pathlib import Path

from bin._lib.layout import ROOT

LOCALE = ROOT / "locale"
MAGIC = 0x950412DE
_LINE = re.compile(r'^(?:(?P<key>msgctxt|msgid|msgstr)\s+)?(?P<text>".*")$')
CONTEXT = "\x04"  # between a message's context and the message


class PoError(ValueError):
    """A line that is none of a .po file: file, line, found."""


def messages(text: str, name: str = "django.po") -> dict[str, str]:
    """Message, with its context before it, → translation. Plural forms are not used here, and refused."""
    found: dict[str, str] = {}
    entry: dict[str, str] = {}
    key = ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if not line.strip():
            _keep(entry, found)
            entry = {}
        elif not line.startswith("#"):
            part = _LINE.match(line)
            if part is None:
                raise PoError(f"{name}, line {number}: found {line!r}, expected msgctxt, msgid, msgstr or a string")
            key = part["key"] or key
            entry[key] = entry.get(key, "") + str(ast.literal_eval(part["text"]))
    return found


def _keep(entry: dict[str, str], found: dict[str, str]) -> None:
    if entry.get("msgstr"):
        context = f"{entry['msgctxt']}{CONTEXT}" if "msgctxt" in entry else ""
        found[f"{context}{entry.get('msgid', '')}"] = entry["msgstr"]


def compiled(found: dict[str, str]) -> bytes:
    """As GNU gettext's manual says: two tables of lengths and places, then the strings, each with a NUL behind."""
    pairs = sorted((key.encode(), value.encode()) for key, value in found.items())
    start = 7 * 4 + 16 * len(pairs)
    keys, values = b"".join(key + b"\0" for key, _ in pairs), b"".join(value + b"\0" for _, value in pairs)
    places, at = [], start
    for texts in ([key for key, _ in pairs], [value for _, value in pairs]):
        for one in texts:
            places += [len(one), at]
            at += len(one) + 1
    head = struct.pack("<7I", MAGIC, 0, len(pairs), 7 * 4, 7 * 4 + 8 * len(pairs), 0, 0)
    return head + struct.pack(f"<{len(places)}I", *places) + keys + values


def sources() -> list[Path]:
    return sorted(LOCALE.glob("*/LC_MESSAGES/django.po"))


def main() -> None:
    for path in sources():
        path.with_suffix(".mo").write_bytes(compiled(messages(path.read_text(encoding="utf-8"), str(path))))


if __name__ == "__main__":
    main()
