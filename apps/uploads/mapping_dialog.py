"""What the mapping dialog asks about a table, and what was answered until now."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.parsers.shape import Broken
from apps.parsers.tables.mapping import HEADING_ROWS, LABEL, QUALITIES, SIZES
from apps.parsers.tables.units import UNITS, meanings
from apps.parsers.tables.words import METRICS, OPERATIONS
from apps.runs.sizes import spelled
from apps.uploads.mapped import MOST_ASKED, ONE_HALF
from apps.uploads.reading import FileReading

ROLES = {
    "": "?", "value": "value", "configuration": "configuration", "file_size": "file size", "block_size": "block size",
    "threads": "threads", "iodepth": "I/O depth", "operation": "operation", "metric": "metric", "unit": "unit",
    "repetition": "repetition", "host": "host", "target": "target", "cpu": "CPU", "label": "label", "ignore": "leave out",
    "quality": "quality of the value", "printed": "what was printed", "remark": "remark on the value",
    "alternatives": "other readings of it", "missing": "why there is none",
}  # fmt: skip
HEADINGS = {"": "each says it above", **{word: ROLES[word] for word in (
    "configuration", "host", "target", "operation", "metric", "file_size", "block_size", "threads", "iodepth",
    "repetition",
)}}  # fmt: skip
DECIMALS = {".": "point: 1.5", ",": "comma: 1,5"}
THOUSANDS = {".": "point: 1.000", ",": "comma: 1,000", "'": "apostrophe: 1'000", " ": "blank: 1 000"}
QUALITY_WORDS = dict(
    zip(QUALITIES, ("exact", "rounded", "approximate", "repaired after OCR", "read from text"), strict=True)
)
AS_ALL, AS_COLUMNS, BY_UNIT = "as all values", "as the columns say", "by the unit"
_NO_MEANING = re.compile(r"(?:an (operation)|a (metric)) that is known")
_WHICH_UNIT = re.compile(r"which unit (?:of size )?'(.{1,40}?)' is")
Choices = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Choice:
    """One select: its name in the form, its label, and what is chosen."""

    name: str
    label: str
    choices: Choices
    chosen: str = ""
    hint: str = ""


@dataclass(frozen=True)
class AskedColumn:
    heading: str
    role: Choice
    more: Sequence[Choice]
    typed: Sequence[tuple[str, str, str]] = ()  # (name, label, text)


@dataclass(frozen=True)
class Word:
    number: int
    kind: str
    word: str
    choice: Choice


@dataclass(frozen=True)
class Asked:
    """The dialog for one mapping of one table. `open`: what must still be said."""

    columns: Sequence[AskedColumn]
    marks: Sequence[Choice]
    headings: Sequence[Choice]
    everywhere: Sequence[Choice]
    typed: Sequence[tuple[str, str, str, str]]  # (name, label, text, hint)
    halves: Sequence[Sequence[Choice]]
    words: Sequence[Word]
    quality: Choice
    fill_down: bool
    pair_separator: str
    open: Sequence[str] = field(default=())


def asked(found: FileReading, mapping: dict[str, Any]) -> Asked:
    table = found.table
    values = [role for role in mapping["columns"].values() if role["word"] == "value"]
    is_wide, headings = len(values) > 1, mapping["headings"]
    has_pairs = any(one["kind"] == "pair" for one in table["columns"])
    return Asked(
        columns=[_column(one, mapping, each_says=is_wide and not headings) for one in table["columns"]],
        marks=[
            _heading_rows(table, mapping), _decimal(table, mapping), _thousands(table, mapping),
        ],
        headings=_headings(mapping) if is_wide else (),
        everywhere=_everywhere(mapping),
        typed=_typed(mapping),
        halves=[
            [_choice(f"pair-{n}", word, half, f"{'First' if n == 0 else 'Second'} of a pair: ", AS_ALL) for word in ONE_HALF]
            for n, half in enumerate(mapping["pair"])
        ] if has_pairs else (),
        words=list(_unexplained(found, mapping)),
        quality=Choice("quality", "How the numbers were taken down", _pairs(QUALITY_WORDS), mapping["quality"]),
        fill_down=mapping["fill_down"],
        pair_separator=mapping["pair_separator"],
        open=table["questions"],
    )  # fmt: skip


def _column(one: dict[str, Any], mapping: dict[str, Any], *, each_says: bool) -> AskedColumn:
    index, heading = one["index"], one["heading"] or f"column {one['index'] + 1}"
    role = mapping["columns"].get(str(index)) or {"word": "", "unit": "", "fixed": {}}
    word = "label" if role["word"].startswith(LABEL) else role["word"]
    more: list[Choice] = []
    typed = []
    if word in ("value", "cpu", *SIZES):
        printed = f"printed {one['unit']}" if one["unit"] else ""
        blank = AS_ALL if word == "value" and mapping["fixed"].get("unit") else "unit?"
        units = _units(word, one["unit"], blank)
        more.append(Choice(f"unit-{index}", f"Unit of {heading}", units, role["unit"], printed))
    if word == "value" and (each_says or role["fixed"]):
        blank = AS_ALL if mapping["fixed"].get("operation") else "operation?"
        more.append(_choice(f"column-{index}", "operation", role["fixed"], f"{heading}: ", blank))
        more.append(_choice(f"column-{index}", "metric", role["fixed"], f"{heading}: ", BY_UNIT))
        typed.append(
            (f"column-{index}-configuration", f"{heading}: configuration", role["fixed"].get("configuration", ""))
        )
    return AskedColumn(one["heading"], Choice(f"role-{index}", f"What {heading} is", _pairs(ROLES), word), more, typed)


def _everywhere(mapping: dict[str, Any]) -> list[Choice]:
    """What holds for all values, unless a column, a heading or a row says it."""
    roles = mapping["columns"].values()
    values = [role for role in roles if role["word"] == "value"]
    said = {role["word"] for role in roles} | {mapping["headings"]}
    has_operation = "operation" in said or (values and all(role["fixed"].get("operation") for role in values))
    has_unit = "unit" in said or (values and all(role["unit"] for role in values))
    blanks = {
        "operation": AS_COLUMNS if has_operation else "operation?",
        "metric": AS_COLUMNS if "metric" in said else BY_UNIT,
        "unit": AS_COLUMNS if has_unit else "unit?",
    }
    return [_choice("fixed", word, mapping["fixed"], "All values: ", blanks[word]) for word in ONE_HALF]


def _units(role: str, printed: str = "", blank: str = "unit?") -> Choices:
    """Those that the printed unit can stand for come first."""
    bases = {"cpu": ("fraction",), **dict.fromkeys(SIZES, ("B",))}.get(role)
    fitting = [name for name, unit in UNITS.items() if bases is None or unit.base in bases]
    likely = [name for name in meanings(printed) if name in fitting]
    ordered = [*likely, *(name for name in fitting if name not in likely)]
    return [("", blank), *((name, name) for name in ordered)]


def _choice(begin: str, word: str, said: dict[str, str], label: str, blank: str) -> Choice:
    return Choice(f"{begin}-{word}", f"{label}{ROLES[word]}", [("", blank), *_allowed(word)], said.get(word, ""))


def _allowed(word: str) -> Choices:
    every = {"operation": OPERATIONS, "metric": tuple(METRICS), "unit": tuple(UNITS)}[word]
    return [(name, name.replace("_", " ") if word != "unit" else name) for name in every]


def _headings(mapping: dict[str, Any]) -> list[Choice]:
    found = [Choice("headings", "Headings of values are", _pairs(HEADINGS), mapping["headings"])]
    if mapping["headings"] in SIZES:
        found.append(
            Choice("heading_unit", "Unit of those sizes", _units(mapping["headings"]), mapping["heading_unit"])
        )
    return found


def _typed(mapping: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    fixed = mapping["fixed"]
    rows = [(f"fixed-{word}", f"All values: {ROLES[word]}", _spelled(word, fixed.get(word, "")), "as 4k, 100m, 2g"
             if word in SIZES else "") for word in (*SIZES, "threads", "iodepth")]  # fmt: skip
    rows += [
        ("tool", "Tool", mapping["tool"], "that measured"),
        ("tool_version", "Its version", mapping["tool_version"], ""),
    ]
    return rows


def _spelled(word: str, text: str) -> str:
    return spelled(int(text)) if word in SIZES and text.isdecimal() else text


def _heading_rows(table: dict[str, Any], mapping: dict[str, Any]) -> Choice:
    said, looks = mapping.get("heading_rows"), table["heading_rows"]
    counts = [(str(count), str(count) if count else "none") for count in HEADING_ROWS]
    return Choice(
        "heading_rows",
        "Rows of headings",
        [("", f"as it looks: {looks or 'none'}"), *counts],
        "" if said is None else str(said),
    )


def _decimal(table: dict[str, Any], mapping: dict[str, Any]) -> Choice:
    proven = table["decimal"]
    unsaid = f"as the numbers show ({DECIMALS[proven[0]]})" if len(proven) == 1 else "?"
    hint = "" if mapping["decimal"] else _which_mark(table)
    return Choice("decimal", "Decimal mark", [("", unsaid), *_pairs(DECIMALS)], mapping["decimal"], hint)


def _thousands(table: dict[str, Any], mapping: dict[str, Any]) -> Choice:
    proven = table["thousands"]
    shows = not mapping["decimal"] and len(table["decimal"]) == 1 and len(proven) == 1 and proven[0]
    unsaid = f"as the numbers show ({THOUSANDS[proven[0]]})" if shows else "none"
    return Choice("thousands", "Between thousands", [("", unsaid), *_pairs(THOUSANDS)], mapping["thousands"])


def _which_mark(table: dict[str, Any]) -> str:
    """The numbers that can be either, for a person to decide."""
    if len(table["decimal"]) == 1:
        return ""
    shown = "; ".join(f"line {line}, {heading}: {printed}" for line, heading, printed in table["unclear"][:3])
    return f"can be either in {shown}" if shown else "the numbers do not say"


def _unexplained(found: FileReading, mapping: dict[str, Any]) -> Iterator[Word]:
    """Words in cells that mean nothing known, and those that somebody explained."""
    known = [("unit", word, is_) for word, is_ in mapping["units"].items()]
    known += [(kind, word, is_) for kind, words in mapping["meanings"].items() for word, is_ in words.items()]
    new = dict.fromkeys(pair for one in found.broken if (pair := _question(one)))
    listed = [*known, *((kind, word, "") for kind, word in list(new)[:MOST_ASKED])]
    for number, (kind, word, is_) in enumerate(listed):
        choices = [(one, one) for one in meanings(word)] if kind == "unit" else _allowed(kind)
        yield Word(number, kind, word, Choice(f"is-{number}", f"“{word}” is", [("", "?"), *choices], is_))


def _question(one: Broken) -> tuple[str, str] | None:
    if unit := _WHICH_UNIT.search(one.expected):
        return "unit", unit[1]
    if one.expected.startswith("a choice between"):
        return "unit", one.found
    word = _NO_MEANING.match(one.expected)
    return ((word[1] or word[2]), one.found) if word else None


def _pairs(words: dict[str, str]) -> Choices:
    return list(words.items())
