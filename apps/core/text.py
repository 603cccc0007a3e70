"""Whole numbers in texts that somebody typed, quotations of what tools printed, texts cut short, and free names."""

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


def make_printable(text: str) -> str:
    """Return a text on one line without what steers a terminal or turns a line around; each such letter becomes `�`."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def shorten(text: str, most: int) -> str:
    """Return a text of at most `most` characters; what is longer ends after a whole word, with an ellipsis."""
    if len(text) <= most:
        return text
    words = text[: most - 1].rpartition(" ")[0] if text[most - 1] != " " else text[: most - 1]
    return f"{(words or text[: most - 1]).rstrip(' ,;:.')}…"


def find_free_name(base: str, taken: Collection[str]) -> str:
    """Return `base`, or with the lowest number behind it from 2 on (`base-2`) that is not among the taken names."""
    return next(name for name in (base, *(f"{base}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)


def join_sentences(*texts: str) -> str:
    """Return texts as sentences behind one another, each once: those that a host or a tool sent may lack their full stop."""
    told = dict.fromkeys(text.strip() for text in texts if text.strip())
    last = len(told) - 1
    return " ".join(text if at == last or text[-1] in ".!?:" else f"{text}." for at, text in enumerate(told))
