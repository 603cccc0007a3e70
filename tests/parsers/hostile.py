"""Ways to bend a text. Each takes what a format calls its own and gives back something that no tool prints."""

import random
import re
from collections.abc import Callable

from tests.sampling import IS_LONG

# A mebibyte in two seconds is the rule; an eighth of both finds the same faults in an eighth of the time.
SIZE = 1 << 20 if IS_LONG else 1 << 17
SLOWEST_S = 2.0 if IS_LONG else 0.4
Bend = Callable[[bytes], bytes]
_NUMBER = re.compile(rb"\d+(?:[.,]\d+)*")


def numbers(replacement: bytes) -> Bend:
    return lambda text: _NUMBER.sub(lambda _: replacement, text)


def repeated(text: bytes) -> bytes:
    return text * (SIZE // max(1, len(text)))


def _each_line_repeated(text: bytes) -> bytes:
    lines = text.split(b"\n")
    share = SIZE // len(lines)
    return b"\n".join((line + b"\n") * (share // (len(line) + 1)) for line in lines)


def _longest_line_repeated(text: bytes) -> bytes:
    line = max(text.split(b"\n"), key=len)
    return text + (line + b"\n") * (SIZE // (len(line) + 1))


def _one_line(text: bytes) -> bytes:
    return repeated(text.replace(b"\n", b" ").replace(b"\r", b" "))


def _shuffled(text: bytes) -> bytes:
    lines = text.split(b"\n")
    random.Random(1).shuffle(lines)
    return b"\n".join(lines)


def _words_shuffled(text: bytes) -> bytes:
    words = re.split(rb"(\s+)", text)
    random.Random(2).shuffle(words)
    return b"".join(words)


def _cut_each_tenth(text: bytes) -> bytes:
    """Beginnings of the text, one behind the other, each longer than the one before."""
    return b"\n".join(text[: len(text) * tenth // 10] for tenth in range(11))


def _first_repeated(text: bytes) -> bytes:
    return (text.split(b"\n")[0] + b"\n") * 2_000 + text


def _after(filler: bytes, count: int) -> Bend:
    """The filler behind the first half of each line: it meets whatever pattern stands open there."""

    def bend(text: bytes) -> bytes:
        lines = [line for line in text.split(b"\n") if line.strip()][:12]
        share = filler * (count // max(1, len(lines)) // len(filler))
        return b"\n".join(line[: len(line) // 2] + share + line[len(line) // 2 :] for line in lines)

    return bend


_BENDS: dict[str, Bend] = {
    "nothing but its words": numbers(b""),
    "nan": numbers(b"nan"), "inf": numbers(b"inf"), "minus infinity": numbers(b"-inf"), "1e999": numbers(b"1e999"),
    "zero": numbers(b"0"), "minus one": numbers(b"-1"), "two to the 63": numbers(b"9223372036854775808"),
    "two to the 31": numbers(b"2147483648"), "30 digits": numbers(b"9" * 30), "5,000 digits": numbers(b"7" * 5000),
    "a comma": numbers(b"1,5"), "both signs": numbers(b"1.234,567"), "hexadecimal": numbers(b"0x1F"),
    "superscripts": numbers("²".encode()), "arabic digits": numbers("٣٤".encode()), "underscores": numbers(b"1_000"),
    "stars": numbers(b"*****"), "crosses": numbers(b"+++++"), "percent signs": numbers(b"%s"),
    "repeated": repeated, "each line repeated": _each_line_repeated, "longest line repeated": _longest_line_repeated,
    "first line repeated": _first_repeated, "one endless line": _one_line, "shuffled lines": _shuffled,
    "shuffled words": _words_shuffled, "cut ten times": _cut_each_tenth,
    "upper case": bytes.upper, "backwards": lambda text: text[::-1],
    "lines backwards": lambda text: b"\n".join(reversed(text.split(b"\n"))),
    "endless blanks": _after(b" ", SIZE), "endless digits": _after(b"1", SIZE), "endless tabs": _after(b"\t", SIZE),
    "endless words": _after(b"a ", SIZE), "endless commas": _after(b"1,", SIZE), "endless dots": _after(b"1.", SIZE),
    "endless colons": _after(b"a:", SIZE), "endless lines": _after(b"\n", SIZE), "endless brackets": _after(b"[(", SIZE),
    "endless quotes": _after(b'"', SIZE), "endless dashes": _after(b"-", SIZE), "endless equals": _after(b"k=", SIZE),
    "zeros for blanks": lambda text: text.replace(b" ", b"\0"), "carriage returns": lambda text: text.replace(b"\n", b"\r"),
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"), "tabs for blanks": lambda text: text.replace(b" ", b"\t"),
    "no blanks": lambda text: text.replace(b" ", b""), "no line feeds": lambda text: text.replace(b"\n", b""),
    "no-break spaces": lambda text: text.replace(b" ", "\u00a0".encode()), "utf-16": lambda text: text.decode("utf-8", "replace").encode("utf-16"),
    "broken bytes": lambda text: text.replace(b"e", b"\xff"), "escapes": lambda text: text.replace(b" ", b" \x1b[1m"),
    "bidi controls": lambda text: text.replace(b" ", " \u202e".encode()), "quoted": lambda text: b"> " + text.replace(b"\n", b"\n> "),
    "form feeds": lambda text: text.replace(b"\n", b"\x0c\n"), "lone surrogates": lambda text: text.replace(b"a", b"\xed\xa0\x80"),
    "line separators": lambda text: text.replace(b"\n", "\u2028".encode()),
}  # fmt: skip


def bent(text: bytes, bend: str) -> bytes:
    return _BENDS[bend](text)[:SIZE]


BENDS = sorted(_BENDS)
