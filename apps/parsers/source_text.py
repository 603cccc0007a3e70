"""A file as parsers see it: decoded, without what terminals, mails and copies put around the tool's own words.

    text = SourceText(data, name="host3.log")
    text.lines[4], text.number(4)      # a clean line, and its number in the file

Taken away: byte order marks, escape sequences, the `> ` of quoted mail (also a `#` or one blank before every line).
A line that was overwritten with carriage returns becomes several, of one number; in a file that has nothing else at the
end of its lines, as old Macs wrote them, each one counts. Nothing else changes, and columns keep
their places relative to each other. The bytes as they came stay in `data`, but for mail that travels as quoted-printable,
whose lines keep their numbers, or in base64, whose lines are numbered as decoded.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby, pairwise

from apps.parsers import mail_base64, quoted_printable

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-_a-z])")
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
_CYRILLIC = re.compile("[а-яА-ЯёЁ]{3}")
_HOST = re.compile(r"([A-Za-z0-9][\w.-]{0,62}):(?: |$)")
_CONTAINER = re.compile(r"([A-Za-z0-9][\w.-]{0,99}) {2,64}\|(?: |$)")
_MARKS = (  # longest first: UTF-32's begins with UTF-16's
    (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
_SAMPLE = 1 << 16
_MOST_HOSTS = 5000
_MOST_SPREAD = 300_000  # lines of all parts
_FEWEST_OF_ONE = 5  # lines of a container, on average
_NOT_ASCII = bytes(range(128, 256))
_NOT_LOW = bytes(range(8, 256))
_BEGINNING = 2000  # characters
NOT_KEPT = "\ufffd"  # stands for NUL and lone surrogates, which no database text holds


def shown(data: bytes) -> str:
    """Some bytes of a file as a message can hold them, and a database."""
    return data.decode("utf-8", "replace").replace("\x00", NOT_KEPT)


class SourceText:
    """One file. `name` is only for messages; formats are told by content."""

    def __init__(self, data: bytes | str, name: str = "") -> None:
        self.data = _of_lines(data.encode("utf-8", "replace") if isinstance(data, str) else data)
        self.name = name
        self._emptied: frozenset[int] = frozenset()
        if b"ase64" in self.data or b"ASE64" in self.data:
            self.data = mail_base64.decoded(self.data)
        if _may_be_quoted_printable(self.data):
            self.data, self._emptied = quoted_printable.decoded(self.data)

    @cached_property
    def encoding(self) -> str:
        return encoding_of(self.data)

    @cached_property
    def text(self) -> str:
        """All of it, decoded; lines still as they came."""
        return self.data.decode(self.encoding, "replace").replace("\x00", NOT_KEPT)

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
        return other

    @cached_property
    def head(self) -> bytes:
        """The first bytes, for formats that are known by how they begin."""
        return self.data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()

    def by_host(self) -> list[tuple[str, "SourceText"]]:
        """The parts of an output that pdsh or clush put a host before each line of, or docker compose a container where several of
        them take turns; [("", self)] for any other.

        A part's lines keep their numbers.
        """
        # a mark and at most four bytes for each character: nobody decodes all of a large file for a look
        head = self.data[: 4 * _BEGINNING + 8]
        beginning = head.decode(self.encoding, "replace").replace("\x00", NOT_KEPT)[:_BEGINNING].split("\n")
        if any(_HOST.match(line) for line in beginning):
            found = [_HOST.match(line) for line in self.lines]
            names = {match[1] for match in found if match}
            if self._are_marked(found, names) and all(map(_is_host, names)):
                return self._parts(_places(found), names)
            if names := self._in_stretches(found):
                return self._parts(_places(found), names)
        if any("  |" in line for line in beginning):
            found = [_CONTAINER.match(line) for line in self.lines]
            names = {match[1] for match in found if match}
            if self._are_marked(found, names) and _take_turns([match[1] for match in found if match], names):
                return self._parts(_places(found), names)
        return [("", self)]

    def _are_marked(self, found: Sequence[re.Match[str] | None], names: set[str]) -> bool:
        """Whether nearly all lines begin with a name."""
        filled = sum(1 for line in self.lines if line.strip())
        marked = sum(1 for match in found if match)
        return marked >= 3 and marked >= 0.9 * filled and len(names) <= _MOST_HOSTS

    def _in_stretches(self, found: list[re.Match[str] | None]) -> set[str]:
        """The hosts whose lines take turns with nothing between them, in a file that has prose around; "" is that prose. Of
        other lines `found` forgets their marks.
        """
        stretches = []
        for first, behind in _stretches(found, self.lines):
            marks = [match[1] for match in found[first:behind] if match]
            if _are_hosts_in_turn(marks):
                stretches.append((first, behind))
        if not stretches:
            return set()
        kept: list[re.Match[str] | None] = [None] * len(found)
        for first, behind in stretches:
            kept[first:behind] = found[first:behind]
        found[:] = kept
        names = {match[1] for match in found if match} | {""}
        return names if len(names) <= _MOST_HOSTS else set()

    def _parts(self, places: Sequence[tuple[str, int]], names: set[str]) -> list[tuple[str, "SourceText"]]:
        mine: dict[str, tuple[list[str], list[int]]] = {name: ([], []) for name in sorted(names)}
        for index, (name, begin) in enumerate(places):
            if name in mine:
                lines, numbers = mine[name]
                lines.append(self.lines[index][begin:])
                numbers.append(self.number(index))
        parts: dict[str, SourceText] = {}
        for name, cleaned in mine.items():
            part = parts[name] = SourceText(b"", self.name)
            part.__dict__["_cleaned"] = cleaned
            part.__dict__["text"] = "\n".join(cleaned[0])
            part.data = part.text.encode()
            if len(names) * len(self.lines) <= _MOST_SPREAD:
                part._spread(*cleaned)
        return list(parts.items())

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
        numbers: Sequence[int] = ()
        if "\r" in text or self._emptied:
            pairs = [
                (piece, n)
                for n, line in enumerate(lines, 1)
                for piece in line.split("\r")
                if (piece or not line) and n not in self._emptied
            ]
            lines, numbers = [piece for piece, _ in pairs], [n for _, n in pairs]
        return _without_prefix(lines), numbers


def _of_lines(data: bytes) -> bytes:
    """With line feeds, where the file has carriage returns alone: in one byte or, in UTF-16 or UTF-32, beside zeros."""
    return data if b"\n" in data or b"\r" not in data else data.replace(b"\r", b"\n")


def _may_be_quoted_printable(data: bytes) -> bool:
    """Nothing is encoded without a `=`. One byte is found much quicker than three."""
    return b"=" in data and (b"uoted-printable" in data or (b"D" in data and b"=3D" in data))


def encoding_of(data: bytes) -> str:
    """UTF-8 unless the bytes say otherwise: a mark, UTF-16's many zeros, or bytes that UTF-8 has not.

    Those last are Cyrillic (cp1251, KOI8-R) where that gives Cyrillic words, else latin-1, or cp1252 where Windows' own
    characters stand: the tools' own words are ASCII.
    """
    if data.isascii() and b"\0" not in data:
        return "utf-8"
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    if wide := _wide(data[:_SAMPLE]):
        return wide
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 3 and error.reason == "unexpected end of data":
            return "utf-8"  # cut off in the middle of a letter
        return "utf-8" if _is_mostly_utf_8(data) else _of_one_byte(data)
    return "utf-8"


def _wide(head: bytes) -> str:
    """UTF-16 and UTF-32 without a mark: the letters of our scripts have a byte below 8 in the same place of each."""
    quarter = len(head) // 4
    zeros = [head[place::4].count(0) for place in range(4)]
    if quarter > 1 and max(zeros) >= quarter:
        if min(zeros[2:]) >= quarter and zeros[0] < quarter * 0.1:
            return "utf-32-le"
        if min(zeros[:2]) >= quarter and zeros[3] < quarter * 0.1:
            return "utf-32-be"
    if len(head) >= 4 and sum(zeros) > len(head) * 0.02:
        even, odd = (len(head[place::2].translate(None, _NOT_LOW)) for place in (0, 1))
        if max(even, odd) > len(head) * 0.3 and min(even, odd) < len(head) * 0.05:
            return "utf-16-le" if odd > even else "utf-16-be"
    return ""


def _is_mostly_utf_8(data: bytes) -> bool:
    """A few broken bytes in UTF-8 make no other encoding; in those, hardly two letters make one of UTF-8's."""
    ascii_count = len(data.translate(None, _NOT_ASCII))
    understood = len(data.decode("utf-8", "ignore").encode())
    return understood - ascii_count > 0.8 * (len(data) - ascii_count)


def _of_one_byte(data: bytes) -> str:
    """KOI8-R has the small letters where cp1251 has the capital ones, and texts are mostly small letters."""
    head = data[:_SAMPLE]
    if _is_cyrillic(data):
        low = sum(1 for byte in head if 0xC0 <= byte < 0xE0)
        high = sum(1 for byte in head if byte >= 0xE0)
        return "koi8-r" if low > high else "cp1251"
    return "cp1252" if any(0x80 <= byte < 0xA0 for byte in head) else "latin-1"


def _is_cyrillic(data: bytes) -> bool:
    letters = sum(1 for byte in data[:_SAMPLE] if byte >= 0xC0)
    words = _CYRILLIC.findall(data[:_SAMPLE].decode("cp1251", "replace"))
    return bool(words) and len(words) * 3 >= letters * 0.5


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


def _is_host(name: str) -> bool:
    return any(letter.isdigit() for letter in name) or "." in name


def _places(found: Sequence[re.Match[str] | None]) -> list[tuple[str, int]]:
    """Whose each line is, and where it begins behind the mark."""
    return [(match[1], match.end()) if match else ("", 0) for match in found]


def _stretches(found: Sequence[re.Match[str] | None], lines: Sequence[str]) -> list[tuple[int, int]]:
    """(first, behind the last) index of marked lines that have nothing but blank ones between them."""
    stretches, first, last = [], -1, -1
    for index, match in enumerate(found):
        if match and _is_host(match[1]):
            first, last = (index if first < 0 else first), index
        elif first >= 0 and lines[index].strip():
            stretches.append((first, last + 1))
            first = -1
    return [*stretches, (first, last + 1)] if first >= 0 else stretches


def _are_hosts_in_turn(marks: Sequence[str]) -> bool:
    names = set(marks)
    if len(marks) < _FEWEST_OF_ONE * len(names) or len(names) < 2:
        return False
    turns = sum(1 for one, other in pairwise(marks) if one != other)
    return turns >= 2 * len(names) and all(_is_host(name) and name[0].isalpha() for name in names)


def _take_turns(marks: Sequence[str], names: set[str]) -> bool:
    """Whether names come back after others, and often: a table's first column has each but once, or all of one together."""
    turns = sum(1 for one, other in pairwise(marks) if one != other)
    return 1 < len(names) <= turns and len(marks) >= _FEWEST_OF_ONE * len(names) and turns * 2 <= len(marks)


def blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """(first, behind the last) index of each stretch of lines that are not blank."""
    found = []
    for is_blank, group in groupby(range(len(lines)), key=lambda index: not lines[index].strip()):
        if not is_blank:
            indices = list(group)
            found.append((indices[0], indices[-1] + 1))
    return found
