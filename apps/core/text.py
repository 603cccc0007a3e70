"""Whole numbers in texts that somebody typed, the quotation of a value as a tool printed it, and free names."""

from collections.abc import Collection

LARGEST = 2**63 - 1  # of a bigint column
_LONGEST = 19  # its digits


def whole_number(text: object, least: int = 0, most: int = LARGEST) -> int | None:
    """Return the number that a text spells in the digits 0 to 9, or None where it is none or not from `least` to `most`.

    Python's own `int` takes digits of every script, underscores and blanks, and raises for what `str.isdigit` calls a
    digit (`²`) and for more than 4,300 digits.
    """
    word = str(text)
    digits = word.removeprefix("-") if least < 0 else word
    if not (0 < len(digits) <= _LONGEST and digits.isascii() and digits.isdecimal()):
        return None
    number = int(word)
    return number if least <= number <= most else None


def printed_as(printed: str, source_line: int | None = None) -> str:
    """Return `printed “24018 K/sec”, line 21 of the result`, or an empty string where nothing was printed."""
    if not printed:
        return ""
    return f"printed “{printed}”" + (f", line {source_line} of the result" if source_line else "")


def find_free_name(base: str, taken: Collection[str]) -> str:
    """Return `base`, or with the lowest number behind it from 2 on (`base-2`) that is not among the taken names."""
    return next(name for name in (base, *(f"{base}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)
