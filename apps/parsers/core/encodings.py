"""Detection of a text file's encoding from its bytes."""

import re

_CYRILLIC = re.compile("[а-яА-ЯёЁ]{3}")
_MARKS = (  # longest first: UTF-32's begins with UTF-16's
    (b"\xff\xfe\x00\x00", "utf-32"), (b"\x00\x00\xfe\xff", "utf-32"), (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
_SAMPLE = 1 << 16
_NOT_ASCII = bytes(range(128, 256))
_NOT_LOW = bytes(range(8, 256))


def detect_encoding(data: bytes) -> str:
    """Return the name of the Python codec for `data`.

    That is UTF-8 unless there is a byte order mark, the zeros of UTF-16 or UTF-32, or bytes that are no UTF-8. The
    latter are read as Cyrillic (cp1251, KOI8-R) where that gives Cyrillic words, else as latin-1, or as cp1252 where
    characters of Windows stand: the tools' own words are ASCII.
    """
    if data.isascii() and b"\0" not in data:
        return "utf-8"
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    if wide := _detect_wide(data[:_SAMPLE]):
        return wide
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 3 and error.reason == "unexpected end of data":
            return "utf-8"  # the file was cut off in the middle of a character
        return "utf-8" if _is_mostly_utf_8(data) else _choose_one_byte(data)
    return "utf-8"


def _detect_wide(head: bytes) -> str:
    """Return the codec of UTF-16 or UTF-32 without a byte order mark, or "".

    The letters of Latin and Cyrillic scripts have a byte below 8 at the same position of each character.
    """
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
    """Return whether the bytes are UTF-8 with a few broken ones.

    In text of another encoding hardly two letters in a row make a character of UTF-8.
    """
    ascii_count = len(data.translate(None, _NOT_ASCII))
    understood = len(data.decode("utf-8", "ignore").encode())
    return understood - ascii_count > 0.8 * (len(data) - ascii_count)


def _choose_one_byte(data: bytes) -> str:
    """Return the codec of a text with one byte a character.

    KOI8-R has the small letters where cp1251 has the capitals, and texts are mostly small letters.
    """
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
