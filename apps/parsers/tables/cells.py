"""One cell of a table: a number, a range, an approximate or bounded number, or a missing one; with its unit if it has one.

    "177456,5"  "~ 300"  "> 32768"  "2.0 – 2.6"  "12.5 ± 0.3"  "1'234.5 MB/s"  "N.A."  "+++++"  "223 [204–234]"  "123 (±4)"  "123*"

Words in brackets behind a number, and the mark of a footnote, are a remark about it and become its note. A raised digit
behind a bare 10 or 2 may also be a power, and is refused. In India digits are grouped by two before the last three:
`12,34,567`.

The caller states which mark stands before the decimals and which between thousands; a number that does not fit is
refused, and never read some other way. `Marks` collects what a table's numbers prove about the two.
"""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import product

from apps.parsers.tables.units import get_meanings

MISSING = {
    "": "blank in the table", "-": "printed as a dash", "–": "printed as a dash", "—": "printed as a dash",
    "n.a.": "printed N.A.", "n.a": "printed N.A.", "n/a": "printed N.A.", "na": "printed N.A.", "#n/a": "printed N.A.",
    "n.d.": "printed n.d.", "n.d": "printed n.d.", "n/d": "printed n.d.", "n.v.": "printed n.v.",
    "k.a.": "printed k.A.", "k. a.": "printed k.A.", "н/д": "printed н/д",
    "nan": "printed nan", "?": "printed ?", "x": "printed x", "failed": "failed", "not run": "not run", "--": "printed as a dash",
    "---": "printed as a dash", "…": "printed …", "...": "printed ...", "none": "printed none", "null": "printed null", "n.m.": "printed n.m.",
    "nc": "printed n.c.", "n.c.": "printed n.c.", "s/d": "printed s/d", "n.b.": "printed n.b.", "нет данных": "printed нет данных",
    "tbd": "to be done", "error": "failed", "crashed": "failed", "timeout": "failed (a timeout)", "#div/0!": "printed #DIV/0!",
    "#value!": "printed #VALUE!", "#ref!": "printed #REF!", "#num!": "printed #NUM!", "#div/0": "printed #DIV/0", "#wert!": "printed #WERT!",
}  # fmt: skip
THOUSANDS = ("", ".", ",", "'", " ")
_BLANKS = "\u00a0\u202f\u2009\u2007\u2008\u200a"
_UNSEEN = dict.fromkeys(
    map(ord, "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u00ad")
)  # zero-width characters in copies from web pages
_RAISED = "¹²³⁰⁴⁵⁶⁷⁸⁹"
_FOOTNOTES = "*†‡§¶" + _RAISED
_BEHIND = frozenset(_FOOTNOTES + ")]")
_MOST_NOTES = 4
_APOSTROPHES = "’´`ʼ"
_AS_ASCII = str.maketrans(dict.fromkeys(_BLANKS, " ") | dict.fromkeys(_APOSTROPHES, "'") | {"−": "-"})
_DIGITS = str.maketrans("12345678", "99999999")
_LONGEST = 200
_MOST_SHAPES = 1 << 14  # cached, of some tens of bytes each
_MARKUP = ("*", "'", "`")
_PRAISE = set("✓✔✅☑★⭐🏆🥇\ufe0f")  # marks of the best value of a column, or of one that meets a target
_NUMBER = r"[-+]?[.,]?[0-9](?:[0-9.,']| (?=[0-9]))*(?:[eE][-+]?[0-9]{1,3}(?![0-9]))?"
_CELL = re.compile(
    rf"(?P<about>~|≈|ca\.?|circa|about|approx\.?)?\s*(?P<bound>>=|<=|[<>≥≤])?\s*(?P<low>{_NUMBER})"
    rf"(?:\s*(?:-|–|—|\.\.\.?|…|to)\s*(?P<high>{_NUMBER}))?(?:\s*(?:±|\+/-)\s*(?P<spread>{_NUMBER}))?"
    r"\s*(?P<unit>[km] iops|[^\W\d]{1,12}(?:\s?/\s?[^\W\d]{1,8})?|/s(?:ec)?|%)?",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,3})?|[-+]?\.[0-9]+(?:[eE][-+]?[0-9]{1,3})?")
HAS_DIGIT = re.compile(r"[0-9]").search  # words for a missing value have no digit
_SIMPLE = re.compile(r"[0-9]+(?:[.,][0-9]+)?")  # a number whatever its mark
_GROUPED = re.compile(r"[-+]?[0-9]{1,3}(?:@[0-9]{3})+(?![0-9])")
_GROUPED_BY_TWO = re.compile(r"[-+]?[0-9]{1,2}(?:@[0-9]{2})+@[0-9]{3}(?![0-9])")
_OVERFLOW = re.compile(r"\*+")
_TOO_FAST = re.compile(r"\+{2,}")


class CellError(ValueError):
    """Raised where a cell does not hold what its column requires; its text is what was expected."""


@dataclass(frozen=True, slots=True)
class CellReading:
    """A cell as it stands, not yet in base units. `quality` is set only if the cell itself states it."""

    value: Decimal | None = None
    low: Decimal | None = None
    high: Decimal | None = None
    quality: str = ""
    missing_reason: str = ""
    unit: str = ""
    note: str = ""


def get_shape(text: str) -> str:
    """Return the text with all digits but 0 alike: texts of one shape are split and classified in the same way."""
    return text.translate(_DIGITS)


def clean(cell: str) -> str:
    """Return a cell's words without the markup of wikis and Markdown."""
    text = (cell if cell.isascii() else cell.translate(_UNSEEN)).strip()
    if text[-1:] in _PRAISE and HAS_DIGIT(text):
        text = text.rstrip("".join(_PRAISE) + " ")
    if text[:1] not in _MARKUP:
        return text
    for mark in ("**", "'''", "`"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text.removeprefix(mark).removesuffix(mark).strip()
    return text


def _split_cell(cell: str) -> tuple[re.Match[str] | None, str]:
    """Return the match of a cell's number with all that belongs to it, and the remark behind it: `12.5 MB/s`, `(±4)`."""
    text, notes = clean(cell), list[str]()
    if len(text) > _LONGEST:
        return None, ""
    while text[-1:] in _BEHIND and len(notes) < _MOST_NOTES and (at := _find_note(text)):
        notes.insert(0, text[at:])
        text = clean(text[:at])
    match = _CELL.fullmatch(text.translate(_AS_ASCII))
    if match is None or (match["low"] == text in ("10", "2") and notes and notes[0][0] in _RAISED):
        return None, ""
    if match["unit"] is None and notes and (unit := notes[0].strip("()[]").strip()) and get_meanings(unit):
        return _CELL.fullmatch(f"{text} {unit}".translate(_AS_ASCII)), " ".join(notes[1:])
    return match, " ".join(notes)


def _find_note(text: str) -> int:
    """Return where the last remark behind a number begins; 0 where there is none."""
    if text.endswith("))") and "((" in text:  # DokuWiki's footnotes
        return text.rfind("((")
    if text[-1] in ")]":
        return max(text.rfind("(" if text[-1] == ")" else "["), 0)
    return len(text.rstrip(_FOOTNOTES))


def explain_missing(cell: str, words: dict[str, str]) -> str:
    """Return why there is no number, "" where there may be one."""
    text = cell.strip()
    if (word := text.lower()) in words:
        return words[word]
    if text[:1] not in ("+", "*"):
        return ""
    if _TOO_FAST.fullmatch(text):
        return "too fast to be measured (printed as plus signs)"
    return "did not fit its column (printed as asterisks)" if _OVERFLOW.fullmatch(text) else ""


def is_value(cell: str) -> bool:
    """Return whether a cell can be a value: a number of any kind, a pair of them, or a word for a missing one."""
    if _SIMPLE.fullmatch(cell):
        return len(cell) <= _LONGEST
    text = clean(cell)
    if len(text) > _LONGEST or not text:
        return False
    return _is_value_shape(get_shape(text))


@lru_cache(maxsize=_MOST_SHAPES)
def _is_value_shape(text: str) -> bool:
    """Return whether a shape is that of a value; a million cells have far fewer shapes."""
    if HAS_DIGIT(text) is None:
        return bool(explain_missing(text, MISSING))
    return _is_number(text) or ("/" in text and all(map(_is_number, split_pair(text))))


def _is_number(text: str) -> bool:
    match, _ = _split_cell(text)
    return match is not None and all(_has_a_reading(part) for part in (match["low"], match["high"]) if part)


def _has_a_reading(text: str) -> bool:
    """Return whether any choice of marks makes it a number, which is not so for dates and addresses such as 10.0.0.7."""
    if sum(map(text.count, "., '")) < 2:
        return True
    for decimal, thousands in product(".,", THOUSANDS):
        try:
            parse_number(text, decimal, thousands if thousands != decimal else "")
        except CellError:
            continue
        return True
    return False


def split_pair(cell: str, separator: str = "/") -> list[str]:
    """Return the two halves of a pair `270 / 20`, [""] for what is none."""
    parts = [part.strip() for part in cell.split(separator)]
    return parts if len(parts) == 2 and all(parts) else [""]


def is_pair(value: str) -> bool:
    """Return whether a cell with a value has two of them: `270 / 20`, and not `260 MB/s`."""
    text = clean(value)
    return split_pair(text) != [""] and not _is_number(text)


def read(cell: str, decimal: str, thousands: str, words: dict[str, str] | None = None) -> CellReading:
    """Read a cell with these marks; `words` are those for missing values.

    Raises:
        CellError: with what was expected.
    """
    known = MISSING if words is None else words
    if cell.isascii() and cell.isdigit() and len(cell) <= _LONGEST and cell not in known:
        return CellReading(Decimal(cell))
    text = clean(cell)
    if why := explain_missing(text, known):
        return CellReading(missing_reason=why)
    match, noted = _split_cell(text)
    if match is None:
        raise CellError("a number, a range, or a word for a missing value")
    low = parse_number(match["low"], decimal, thousands)
    high = parse_number(match["high"], decimal, thousands) if match["high"] else None
    if high is not None and (high < low or match["bound"] or match["spread"]):
        raise CellError("a range from the smaller to the larger number")
    about, unit = "approximate" if match["about"] else "", match["unit"] or ""
    spread = f"± {match['spread']}" if match["spread"] else ""
    remarks = " ".join(filter(None, [spread, noted]))
    note = f"{remarks} as printed" if remarks else ""
    if high is not None:
        return CellReading(low=low, high=high, quality=about, unit=unit, note=note)
    if match["bound"]:
        is_lower = match["bound"] in (">", ">=", "≥")
        return (
            CellReading(low=low, quality="lower_bound", unit=unit, note=note)
            if is_lower
            else CellReading(high=low, quality=about, unit=unit, note=note)
        )
    return CellReading(value=low, quality=about, unit=unit, note=note)


def get_printed_unit(cell: str) -> str:
    """Return the unit in a cell, "" where there is none."""
    match, _ = _split_cell(cell)
    return (match["unit"] or "") if match else ""


def parse_number(text: str, decimal: str, thousands: str) -> Decimal:
    """Parse a number with these marks.

    Raises:
        CellError: if it is none.
    """
    if thousands and thousands in text:
        whole = text.partition(decimal)[0]
        if thousands in text[len(whole) :] or not _is_grouped(whole.replace(thousands, "@"), thousands):
            raise CellError(f"groups of three digits between {thousands!r}")
        text = text.replace(thousands, "")
    if decimal == ",":
        text = text.replace(".", "@").replace(",", ".")
    if not _PLAIN.fullmatch(text):
        marks = f"{decimal!r} before decimals" + (f" and {thousands!r} between thousands" if thousands else "")
        raise CellError(f"a number with {marks}")
    return Decimal(text)


def _is_grouped(whole: str, thousands: str) -> bool:
    return bool(_GROUPED.fullmatch(whole) or (thousands == "," and _GROUPED_BY_TWO.fullmatch(whole)))


@dataclass
class Marks:
    """What numbers prove about their marks. `unclear`: marks in numbers that are valid either way, like `1,234`."""

    decimal: set[str] = field(default_factory=set)
    thousands: set[str] = field(default_factory=set)
    unclear: set[str] = field(default_factory=set)

    @property
    def is_marked(self) -> bool:
        """Return whether any number had a mark."""
        return bool(self.decimal or self.thousands or self.unclear)

    def add(self, other: "Marks") -> None:
        """Add what other numbers prove."""
        self.decimal |= other.decimal
        self.thousands |= other.thousands
        self.unclear |= other.unclear

    def add_cell(self, cell: str) -> None:
        """Add what this cell proves."""
        match, _ = _split_cell(cell)
        for part in (match["low"], match["high"]) if match else _get_pair_numbers(clean(cell)[:_LONGEST]):
            if part:
                self._look_at_number(part)

    def _look_at_number(self, text: str) -> None:
        text = text.lower().partition("e")[0].strip("+-")
        self.thousands |= {mark for mark in "' " if mark in text}
        marks = [letter for letter in text if letter in ".,"]
        if not marks:
            return
        last = marks[-1]
        before, _, after = text.rpartition(last)
        if len(set(marks)) == 2:
            self.decimal.add(last)
            self.thousands.add(marks[0])
        elif len(marks) > 1:
            self.thousands.add(last)
        elif len(after) != 3 or len(before) > 3 or before in ("", "0"):
            self.decimal.add(last)
        else:
            self.unclear.add(last)

    def candidates(self) -> tuple[str, ...]:
        """Return what the decimal mark can be: one if it is proven, both if it is open, none if cells contradict each other."""
        if len(self.decimal) > 1 or self.decimal & self.thousands or len(self.thousands) > 1:
            return ()
        if self.decimal:
            return tuple(self.decimal)
        if self.thousands & {".", ","}:
            return ("," if "." in self.thousands else ".",)
        return (".", ",") if self.unclear else (".",)

    def thousands_candidates(self) -> tuple[str, ...]:
        """Return what the mark between thousands can be."""
        if self.thousands:
            return tuple(sorted(self.thousands))
        decimal = self.candidates()
        return tuple(mark for mark in (".", ",") if mark in self.unclear and decimal != (mark,)) or ("",)


def _get_pair_numbers(text: str) -> list[str]:
    matches = [_split_cell(half)[0] for half in split_pair(text)]
    return [match["low"] for match in matches if match]
