"""A file as parsers see it: decoded, without what terminals, mails and copies put around the tool's own words.

    text = SourceText(data, name="host3.log")
    text.lines[4], text.number(4)      # a clean line, and its number in the file

Taken away: byte order marks, escape sequences, the `> ` of quoted mail (also a `#` or one blank before every line),
web pages' way of writing blanks.
A line that was overwritten with carriage returns becomes several, of one number; in a file that has nothing else at the
end of its lines, as old Macs wrote them, each one counts. Nothing else changes, and columns keep
their places relative to each other. The bytes as they came stay in `data`, but for mail that travels as quoted-printable,
whose lines keep their numbers, or in base64, whose lines are numbered as decoded; a mail's HTML that says its text again is
blank lines.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby, pairwise

from apps.parsers import host_marks, mail_base64, mail_twins, quoted_printable
from apps.parsers.encodings import encoding_of

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-_a-z])")
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
_MOST_SPREAD = 300_000  # lines of all parts
BLANK = re.compile(r"(?<!\d)\xa0|\xa0(?!\d)")  # as web pages write blanks; between digits it marks thousands
_MANY_LINES, _MOST_BLANK = 50_000, 1000
_LOOK = 2000  # characters
NOT_KEPT = "\ufffd"  # stands for NUL and lone surrogates, which no database text holds


def shown(data: bytes) -> str:
    """Some bytes of a file as a message can hold them, and a database."""
    return data.decode("utf-8", "replace").replace("\x00", NOT_KEPT)


class SourceText:
    """One file. `name` is only for messages; formats are told by content. `beside`: the version of fio that wrote what lies
    beside the file, and the name of the report that says so; for fio's logs, which do not.
    """

    def __init__(self, data: bytes | str, name: str = "", beside: tuple[str, str] = ("", "")) -> None:
        self.data = _of_lines(data.encode("utf-8", "replace") if isinstance(data, str) else data)
        self.name, self.beside = name, beside
        self._emptied: frozenset[int] = frozenset()
        self._rows: Sequence[int] | None = None  # of one host's part: the numbers of the lines of `text`
        if b"ase64" in self.data or b"ASE64" in self.data:
            self.data = mail_base64.decoded(self.data)
        if _may_be_quoted_printable(self.data):
            self.data, self._emptied = quoted_printable.decoded(self.data)
        if mail_twins.may_be_in(self.data):
            self.data = mail_twins.told_once(self.data)

    @cached_property
    def encoding(self) -> str:
        return encoding_of(self.data)

    @cached_property
    def text(self) -> str:
        """All of it, decoded; lines still as they came."""
        return self.data.decode(self.encoding, "replace").replace("\x00", NOT_KEPT)

    @cached_property
    def by_lines(self) -> str:
        """`text` with a line feed wherever one of `lines` ends: for patterns that look for whole lines."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in self.text else self.text

    @cached_property
    def lines(self) -> list[str]:
        return self._cleaned[0]

    def number(self, index: int) -> int:
        """The number in the file, from 1, of `lines[index]`."""
        numbers = self._cleaned[1]
        return numbers[index] if numbers else index + 1

    def numbers(self, first: int, behind: int) -> Sequence[int]:
        """The numbers in the file of `lines[first:behind]`."""
        numbers = self._cleaned[1]
        return numbers[first:behind] if numbers else range(first + 1, behind + 1)

    def with_data(self, data: bytes) -> "SourceText":
        """Another text of the same lines: what was decoded in this one is not decoded again."""
        other = SourceText(b"", self.name)
        other.data, other._emptied = data, self._emptied
        # made of `text`, in which others' lines are missing
        if self._rows is not None and data.count(b"\n") + 1 == len(self._rows):
            other._emptied = frozenset()
            lines, rows = other.lines, self._rows
            other._become_part(lines, [rows[other.number(index) - 1] for index in range(len(lines))], rows)
        return other

    def without_lines(self, numbers: Iterable[int]) -> "SourceText":
        """The same text, without the lines of these numbers."""
        other = SourceText(b"", self.name)
        other.data, other._emptied = self.data, self._emptied.union(numbers)
        return other

    def with_lines(self, lines: Sequence[str], numbers: Sequence[int]) -> "SourceText":
        """For who reads `lines` alone: these, with these numbers in the file."""
        other = SourceText(b"", self.name)
        other.__dict__["_cleaned"] = (list(lines), numbers)
        return other

    @cached_property
    def head(self) -> bytes:
        """The first bytes, for formats that are known by how they begin."""
        return self.data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()

    def by_host(self) -> list[tuple[str, "SourceText"]]:
        """The parts of an output whose lines say whose they are (`host_marks.py`); [("", self)] for any other.

        A part's lines keep their numbers.
        """
        is_json = self.head[:1] == b"{"  # of one machine, and there are thousands of them
        marked = host_marks.marked(self.lines) if not is_json and host_marks.may_be_in(self._looks()) else None
        return self.parts(*marked) if marked else [("", self)]

    def _looks(self) -> list[str]:
        """Lines of the beginning, the middle and the end: nobody decodes all of a large file for a look."""
        step = _LOOK * {"utf-16": 2, "utf-32": 4}.get(self.encoding[:6], 1)  # bytes
        last = max(0, len(self.data) - step)
        places = sorted({0, last // 2 & ~3, last & ~3})  # where no letter of UTF-16 or UTF-32 is cut
        pieces = [self.data[place : place + step].decode(self.encoding, "replace")[:_LOOK] for place in places]
        return [line for one in pieces for line in one.replace("\x00", NOT_KEPT).split("\n")]

    def parts(self, places: Sequence[tuple[str, int]], names: set[str]) -> list[tuple[str, "SourceText"]]:
        """The lines of each of these names, with their numbers: `places` has each line's name, and where it begins behind that."""
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
        """These are the clean lines and their numbers, and `rows` the numbers of the lines of `text`."""
        self.__dict__["_cleaned"] = (lines, numbers)
        self._rows = rows
        if is_spread:
            self._spread(lines, numbers)

    def _spread(self, lines: Sequence[str], numbers: Sequence[int]) -> None:
        """Have the lines in `data` where they stand in the file, for who counts them there."""
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
        if ">" in text and (text.startswith(">") or "\n>" in text):  # one letter is found sixty times as fast as two
            text = _QUOTE.sub("", text)
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        lines = text.split("\n")
        if lines and not lines[-1]:
            lines.pop()
        if "\xa0" in text:  # not in HTML, which says again what a mail says
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
        lines = _without_prefix(lines)
        return (lines, numbers) if len(lines) < _MANY_LINES else _without_endless_blanks(lines, numbers)


def plain_bytes(text: SourceText) -> bytes:
    """The file's bytes, in an encoding that has ASCII's letters: for needles that are looked for everywhere."""
    two_bytes = text.data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in text.data[:64]
    return text.text.encode("utf-8", "replace") if two_bytes else text.data


def _of_lines(data: bytes) -> bytes:
    """With line feeds, where the file has carriage returns alone: in one byte or, in UTF-16 or UTF-32, beside zeros."""
    return data if b"\n" in data or b"\r" not in data else data.replace(b"\r", b"\n")


def _may_be_quoted_printable(data: bytes) -> bool:
    """Nothing is encoded without a `=`. One byte is found much quicker than three."""
    named = b"rintable" in data or b"RINTABLE" in data  # whatever letters of it are large
    return b"=" in data and (named or (b"D" in data and b"=3D" in data))


def _without_prefix(lines: list[str]) -> list[str]:
    """Without a `#` or one blank that stands before every line that is not empty."""
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


def _without_endless_blanks(lines: list[str], numbers: Sequence[int]) -> tuple[list[str], Sequence[int]]:
    """A million blank lines, or lines of one letter, are one stretch of them to every format, and each would look at all."""
    filled = [index for index, line in enumerate(lines) if len(line) > 1 and not line.isspace()]
    if len(filled) * 2 > len(lines):
        return lines, numbers
    kept: list[int] = []
    for before, index in pairwise([-1, *filled, len(lines)]):
        kept += range(before + 1, min(index, before + 1 + _MOST_BLANK))
        kept.append(index)
    kept.pop()
    return [lines[index] for index in kept], [numbers[index] if numbers else index + 1 for index in kept]


def blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """(first, behind the last) index of each stretch of lines that are not blank."""
    found = []
    for is_blank, group in groupby(range(len(lines)), key=lambda index: not lines[index].strip()):
        if not is_blank:
            indices = list(group)
            found.append((indices[0], indices[-1] + 1))
    return found
