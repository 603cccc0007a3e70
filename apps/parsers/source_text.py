"""A file as parsers see it: decoded, without what terminals, mails and copies put around the tool's own words.

    text = SourceText(data, name="host3.log")
    text.lines[4], text.number(4)      # a clean line, and its number in the file

Taken away: byte order marks, escape sequences, the `> ` of quoted mail (also a `#` or one blank before every line).
A line that was overwritten with carriage returns becomes several, of one number. Nothing else changes, and columns keep
their places relative to each other. The bytes as they came stay in `data`, but for mail that is quoted-printable.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby

from apps.parsers import quoted_printable

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-B]|[@-_a-z])")
_QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)
_CYRILLIC = re.compile("[а-яА-ЯёЁ]{3}")
_HOST = re.compile(r"([A-Za-z0-9][\w.-]{0,62}):(?: |$)")
_MARKS = (  # longest first: UTF-32's begins with UTF-16's
    (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
_SAMPLE = 1 << 16
_MOST_HOSTS = 5000
_NOT_ASCII = bytes(range(128, 256))
_NOT_LOW = bytes(range(8, 256))
_BEGINNING = 2000  # characters
NOT_KEPT = "\ufffd"  # stands for NUL and lone surrogates, which no database text holds


class SourceText:
    """One file. `name` is only for messages; formats are told by content."""

    def __init__(self, data: bytes | str, name: str = "") -> None:
        self.data = data.encode("utf-8", "replace") if isinstance(data, str) else data
        self.name = name
        self._emptied: frozenset[int] = frozenset()
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

    @cached_property
    def head(self) -> bytes:
        """The first bytes, for formats that are known by how they begin."""
        return self.data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()

    def by_host(self) -> list[tuple[str, "SourceText"]]:
        """The parts of an output that pdsh or clush put a host before each line of; [("", self)] for any other.

        A part's lines keep their numbers.
        """
        if not any(_HOST.match(line) for line in self.text[:_BEGINNING].split("\n")):
            return [("", self)]
        found = [_HOST.match(line) for line in self.lines]
        filled = sum(1 for line in self.lines if line.strip())
        names = {match[1] for match in found if match}
        marked = sum(1 for match in found if match)
        if marked < 3 or marked < 0.9 * filled or len(names) > _MOST_HOSTS or not all(map(_is_host, names)):
            return [("", self)]
        mine: dict[str, tuple[list[str], list[int]]] = {name: ([], []) for name in sorted(names)}
        for index, match in enumerate(found):
            if match:
                lines, numbers = mine[match[1]]
                lines.append(self.lines[index][match.end() :])
                numbers.append(self.number(index))
        parts: dict[str, SourceText] = {}
        for name, cleaned in mine.items():
            part = parts[name] = SourceText(b"", self.name)
            part.__dict__["_cleaned"] = cleaned
            part.__dict__["text"] = "\n".join(cleaned[0])
            part.data = part.text.encode()
        return list(parts.items())

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


def blocks(lines: Sequence[str]) -> list[tuple[int, int]]:
    """(first, behind the last) index of each stretch of lines that are not blank."""
    found = []
    for is_blank, group in groupby(range(len(lines)), key=lambda index: not lines[index].strip()):
        if not is_blank:
            indices = list(group)
            found.append((indices[0], indices[-1] + 1))
    return found
