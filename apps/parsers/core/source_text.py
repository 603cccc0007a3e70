"""A file as parsers see it: decoded, and without what terminals, mails and copies put around the tool's own words.

    text = SourceText(data, name="host3.log")
    text.lines[4], text.number(4)      # a clean line, and its number in the file

Removed are byte order marks, escape sequences, the `> ` of quoted mail, a `#` or one blank before every line, and
no-break spaces.

- A line that was overwritten with carriage returns becomes several lines with one number. In a file whose lines end
  with carriage returns alone, as on old Macs, each one counts.
- Nothing else changes, and columns keep their positions relative to each other.
- `data` keeps the bytes as they came, except for mail: the lines of quoted-printable mail keep their numbers, those of
  base64 are numbered as decoded, and the HTML of a mail that repeats its text becomes blank lines.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby, pairwise

from apps.parsers.cleanup import host_marks, mail_base64, mail_twins, quoted_printable
from apps.parsers.core.encodings import detect_encoding

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-_a-z])")
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
_MOST_SPREAD = 300_000  # lines of all parts
BLANK = re.compile(
    r"(?<!\d)\xa0|\xa0(?!\d)"
)  # web pages use no-break spaces for blanks; between digits it separates thousands
_MANY_LINES, _MOST_BLANK = 50_000, 1000
_LOOK = 2000  # characters
REPLACEMENT = "\ufffd"  # replaces NUL and lone surrogates, which PostgreSQL's text type does not hold


def decode_for_message(data: bytes) -> str:
    """Decode some bytes of a file so that a message and a database column can hold them."""
    return data.decode("utf-8", "replace").replace("\x00", REPLACEMENT)


class SourceText:
    """The text of one file.

    `name` is only used in messages; formats are detected by content. `beside` is the version of fio that wrote the
    files in the same folder and the name of the report that states it; fio's logs do not name their version.
    """

    def __init__(self, data: bytes | str, name: str = "", beside: tuple[str, str] = ("", "")) -> None:
        self.data = _restore_line_feeds(data.encode("utf-8", "replace") if isinstance(data, str) else data)
        self.name, self.beside = name, beside
        self._emptied: frozenset[int] = frozenset()
        self._rows: Sequence[int] | None = None  # only for one host's part: the file's numbers of the lines of `text`
        if b"ase64" in self.data or b"ASE64" in self.data:
            self.data = mail_base64.decode_bodies(self.data)
        if _may_be_quoted_printable(self.data):
            self.data, self._emptied = quoted_printable.decode_bodies(self.data)
        if mail_twins.may_be_in(self.data):
            self.data = mail_twins.without_html_twins(self.data)

    @cached_property
    def encoding(self) -> str:
        """Return the name of the file's codec."""
        return detect_encoding(self.data)

    @cached_property
    def text(self) -> str:
        """Return the decoded file, its lines as they came."""
        return self.data.decode(self.encoding, "replace").replace("\x00", REPLACEMENT)

    @cached_property
    def by_lines(self) -> str:
        """Return `text` with a line feed at the end of each of `lines`, for patterns that look for whole lines."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in self.text else self.text

    @cached_property
    def lines(self) -> list[str]:
        """Return the cleaned lines; see the module's description."""
        return self._cleaned[0]

    def number(self, index: int) -> int:
        """Return the number in the file, from 1, of `lines[index]`."""
        numbers = self._cleaned[1]
        return numbers[index] if numbers else index + 1

    def numbers(self, first: int, behind: int) -> Sequence[int]:
        """Return the numbers in the file of `lines[first:behind]`."""
        numbers = self._cleaned[1]
        return numbers[first:behind] if numbers else range(first + 1, behind + 1)

    def with_data(self, data: bytes) -> "SourceText":
        """Return a text with the same lines but other bytes; what was decoded in this one is not decoded again."""
        other = SourceText(b"", self.name)
        other.data, other._emptied = data, self._emptied
        # `data` was made from the `text` of one host's part, in which the lines of other hosts are missing
        if self._rows is not None and data.count(b"\n") + 1 == len(self._rows):
            other._emptied = frozenset()
            lines, rows = other.lines, self._rows
            other._become_part(lines, [rows[other.number(index) - 1] for index in range(len(lines))], rows)
        return other

    def without_lines(self, numbers: Iterable[int]) -> "SourceText":
        """Return the same text without the lines of these numbers."""
        other = SourceText(b"", self.name)
        other.data, other._emptied = self.data, self._emptied.union(numbers)
        return other

    def with_lines(self, lines: Sequence[str], numbers: Sequence[int]) -> "SourceText":
        """Return a text that has these lines, with these numbers in the file, and no `data`."""
        other = SourceText(b"", self.name)
        other.__dict__["_cleaned"] = (list(lines), numbers)
        return other

    @cached_property
    def head(self) -> bytes:
        """Return the first bytes, for formats that are recognised by how they begin."""
        return self.data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()

    def by_host(self) -> list[tuple[str, "SourceText"]]:
        """Return the parts of an output whose lines name a host, as (host, part); [("", self)] for any other output.

        The lines of a part keep their numbers. What marks a host is described in `host_marks.py`.
        """
        is_json = (
            self.head[:1] == b"{"
        )  # comes from one machine; there are thousands of such files, so it is not searched
        marked = (
            host_marks.mark_lines(self.lines) if not is_json and host_marks.may_be_in(self._sample_lines()) else None
        )
        return self.parts(*marked) if marked else [("", self)]

    def _sample_lines(self) -> list[str]:
        """Return lines of the beginning, the middle and the end, so that a large file is not decoded as a whole for a first look."""
        step = _LOOK * {"utf-16": 2, "utf-32": 4}.get(self.encoding[:6], 1)  # bytes
        last = max(0, len(self.data) - step)
        places = sorted({0, last // 2 & ~3, last & ~3})  # multiples of 4 cut no character of UTF-16 or UTF-32
        pieces = [self.data[place : place + step].decode(self.encoding, "replace")[:_LOOK] for place in places]
        return [line for piece in pieces for line in piece.replace("\x00", REPLACEMENT).split("\n")]

    def parts(self, places: Sequence[tuple[str, int]], names: set[str]) -> list[tuple[str, "SourceText"]]:
        """Return (name, part) for each of these names.

        `places` has an entry for each line: the name it belongs to, and the index at which it begins behind the mark.
        Lines keep their numbers.
        """
        mine: dict[str, tuple[list[str], list[int]]] = {name: ([], []) for name in sorted(names)}
        for index, (name, begin) in enumerate(places):
            if name in mine:
                lines, numbers = mine[name]
                lines.append(self.lines[index][begin:])
                numbers.append(self.number(index))
        parts: dict[str, SourceText] = {}
        for name, cleaned in mine.items():
            part = parts[name] = SourceText(b"", self.name)
            part.__dict__["text"] = "\n".join(cleaned[0])
            part.data = part.text.encode()
            part._become_part(*cleaned, cleaned[1], is_spread=len(names) * len(self.lines) <= _MOST_SPREAD)
        return list(parts.items())

    def _become_part(
        self, lines: Sequence[str], numbers: Sequence[int], rows: Sequence[int], *, is_spread: bool = True
    ) -> None:
        """Set the clean lines and their numbers; `rows` are the numbers of the lines of `text`."""
        self.__dict__["_cleaned"] = (lines, numbers)
        self._rows = rows
        if is_spread:
            self._spread(lines, numbers)

    def _spread(self, lines: Sequence[str], numbers: Sequence[int]) -> None:
        """Put the lines into `data` where they stand in the file, for parsers that count line feeds in the bytes."""
        rows = [""] * (numbers[-1] if numbers else 0)
        for line, number in zip(lines, numbers, strict=True):
            rows[number - 1] += f"\r{line}" if rows[number - 1] else line
        self.data = "\n".join(rows).encode()
        self._emptied = frozenset(range(1, len(rows) + 1)).difference(numbers)

    @cached_property
    def _cleaned(self) -> tuple[list[str], Sequence[int]]:
        text = self.text
        if "\x1b" in text:
            text = _ESCAPES.sub("", text)
        if ">" in text and (
            text.startswith(">") or "\n>" in text
        ):  # to find one character is sixty times faster than two
            text = _QUOTE.sub("", text)
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        if "\xa0" in text:  # except in HTML, where the no-break spaces are left to `web_pages`
            lines = [line if "<" in line or "&" in line else BLANK.sub(" ", line) for line in lines]
        numbers: Sequence[int] = ()
        if "\r" in text or self._emptied:
            pairs = [
                (piece, n)
                for n, line in enumerate(lines, 1)
                for piece in line.split("\r")
                if (piece or not line) and n not in self._emptied
            ]
            lines, numbers = [piece for piece, _ in pairs], [n for _, n in pairs]
        lines = _strip_prefix(lines)
        return (lines, numbers) if len(lines) < _MANY_LINES else _shorten_blanks(lines, numbers)


def get_ascii_bytes(text: SourceText) -> bytes:
    """Return the file's bytes in an encoding that contains ASCII, so that byte patterns can be searched in any file."""
    two_bytes = text.data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in text.data[:64]
    return text.text.encode("utf-8", "replace") if two_bytes else text.data


def _restore_line_feeds(data: bytes) -> bytes:
    """Replace carriage returns by line feeds where the file has no line feed at all.

    In UTF-16 and UTF-32 the zeros beside each byte stay.
    """
    return data if b"\n" in data or b"\r" not in data else data.replace(b"\r", b"\n")


def _may_be_quoted_printable(data: bytes) -> bool:
    """Return whether the bytes may hold quoted-printable text.

    Without a `=` nothing is encoded, and one byte is found much faster than three.
    """
    named = b"rintable" in data or b"RINTABLE" in data  # "Printable" and "printable" are both written
    return b"=" in data and (named or (b"D" in data and b"=3D" in data))


def _strip_prefix(lines: list[str]) -> list[str]:
    """Remove a `#` or one blank that stands before every line that is not empty."""
    first = next((line for line in lines if line.strip()), "")
    if not first.startswith(("# ", " ")) and first != "#":
        return lines
    filled = [line for line in lines if line.strip()]
    for prefix in ("# ", " "):
        bare = prefix.strip()
        if len(filled) > 2 and all(line.startswith(prefix) or line == bare for line in filled):
            if prefix == " " and all(line.startswith("  ") for line in filled):
                continue  # indented as a whole: that is somebody's layout
            return [line.removeprefix(prefix) if line != bare else "" for line in lines]
    return lines


def _shorten_blanks(lines: list[str], numbers: Sequence[int]) -> tuple[list[str], Sequence[int]]:
    """Shorten each stretch of blank lines, or of lines of one character, to `_MOST_BLANK` lines.

    A million of them mean nothing to any format, and each parser would look at all. Files that are mostly filled stay
    as they are.
    """
    filled = [index for index, line in enumerate(lines) if len(line) > 1 and not line.isspace()]
    if len(filled) * 2 > len(lines):
        return lines, numbers
    indices: list[int] = []
    for before, index in pairwise([-1, *filled, len(lines)]):
        indices += range(before + 1, min(index, before + 1 + _MOST_BLANK))
        indices.append(index)
    indices.pop()
    return [lines[index] for index in indices], [numbers[index] if numbers else index + 1 for index in indices]


def find_blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return (first, behind the last) index of each stretch of lines that are not blank."""
    stretches = []
    for is_blank, group in groupby(range(len(lines)), key=lambda index: not lines[index].strip()):
        if not is_blank:
            indices = list(group)
            stretches.append((indices[0], indices[-1] + 1))
    return stretches
