"""The dialog in which a person maps the columns of a table, its form data as a mapping, and the mappings of the past.

Nothing is filled in for the person: what was not answered stays an open question of the dialog.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.core.quantities import parse_size, spell_size
from apps.parsers.core.models import Broken
from apps.parsers.tables.mapping import HEADING_ROWS, LABEL, QUALITIES, SIZES
from apps.parsers.tables.units import UNITS, get_meanings
from apps.parsers.tables.words import METRICS, OPERATIONS
from apps.uploads.file_reader import FileReading
from apps.uploads.models import TableMapping, UploadedFile
from apps.uploads.review.source_lines import head
from apps.uploads.sandbox.parent import SandboxError, alone, reader

TRIED = 4 << 20  # bytes from the beginning, for the dialog; all of it is read when the mapping is used
MOST_ASKED = 12  # words that the cells use and nobody explained
FIXED = ("operation", "metric", "unit", *SIZES, "threads", "iodepth")
OF_COLUMN = ("operation", "metric", "configuration")
ONE_HALF = ("operation", "metric", "unit")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def try_out(file: UploadedFile, mapping: dict[str, object] | None) -> FileReading:
    """Parse the beginning of a table with a mapping, or without one for the questions of the dialog.

    Raises:
        SandboxError: The bytes are not here or could not be parsed.
    """
    if file.artefact is None:
        raise SandboxError("its bytes are not here")
    data = head(file.artefact, TRIED)
    with alone:
        return reader().read(data, file.name, "" if mapping is not None else "table", mapping)


def remember(file: UploadedFile, signature: str, mapping: dict[str, Any], who: str) -> None:
    TableMapping.objects.update_or_create(
        lab_id=file.upload.lab_id, signature=signature, defaults={"mapping": mapping, "used_by": who[:200]}
    )


def last_mapping(file: UploadedFile, signature: str) -> TableMapping | None:
    mapping: TableMapping | None = TableMapping.objects.filter(lab_id=file.upload.lab_id, signature=signature).first()
    return mapping


def from_form(data: Mapping[str, str], columns: Sequence[dict[str, object]]) -> dict[str, object]:
    """Return the mapping that a form describes, as JSON for `Mapping.from_json`, which validates it."""
    roles = {str(column["index"]): role for column in columns if (role := _role(data, column))}
    values = [role for role in roles.values() if role["word"] == "value"]
    text = {
        "layout": "wide" if len(values) > 1 else "long",
        "columns": roles,
        "headings": _text(data, "headings") if len(values) > 1 else "",
        "fixed": _said(data, "fixed", FIXED),
        "fill_down": bool(data.get("fill_down")),
        "units": {word: is_ for kind, word, is_ in _words(data) if kind == "unit"},
        "meanings": {
            kind: {word: is_ for kind_, word, is_ in _words(data) if kind_ == kind} for kind in ("operation", "metric")
        },
        "pair": [_said(data, f"pair-{half}", ONE_HALF) for half in (0, 1)],
        "quality": _text(data, "quality") or QUALITIES[0],
        "heading_rows": _heading_rows(_text(data, "heading_rows")),
    }
    texts = ("heading_unit", "decimal", "thousands", "pair_separator", "tool", "tool_version")
    return {**text, **{name: _text(data, name) for name in texts}}


def _heading_rows(text: str) -> int | str | None:
    return (int(text) if text in map(str, HEADING_ROWS) else text) if text else None


def _text(data: Mapping[str, str], name: str, most: int = 60) -> str:
    return _CONTROL.sub("", data.get(name, ""))[:most]


def _role(data: Mapping[str, str], column: dict[str, Any]) -> dict[str, Any] | None:
    index = column["index"]
    word = _text(data, f"role-{index}")
    if not word:
        return None
    if word == "label":
        word = LABEL + (column["heading"] or f"column {index + 1}")[:60]
    return {
        "word": word,
        "unit": _text(data, f"unit-{index}"),
        "fixed": _said(data, f"column-{index}", OF_COLUMN) if word == "value" else {},
    }


def _said(data: Mapping[str, str], begin: str, words: Sequence[str]) -> dict[str, str]:
    result = {word: _text(data, f"{begin}-{word}").strip() for word in words}
    return {word: _bytes(text) if word in SIZES else text for word, text in result.items() if text}


def _bytes(text: str) -> str:
    try:
        return str(parse_size(text))
    except ValueError:
        return text  # the mapping itself says what is wrong with it


def _words(data: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield (operation, metric or unit; word in the cells; meaning) from the form."""
    for number in range(2 * MOST_ASKED):
        kind, word, is_ = (_text(data, f"{part}-{number}", 120) for part in ("kind", "word", "is"))
        if kind and word and is_:
            yield kind, word, is_


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
class MappingChoice:
    """One select: its name in the form, its label, and what is chosen."""

    name: str
    label: str
    choices: Choices
    chosen: str = ""
    hint: str = ""


@dataclass(frozen=True)
class MappingColumn:
    heading: str
    role: MappingChoice
    more: Sequence[MappingChoice]
    typed: Sequence[tuple[str, str, str]] = ()  # (name, label, text)


@dataclass(frozen=True)
class UnknownWord:
    number: int
    kind: str
    word: str
    choice: MappingChoice


@dataclass(frozen=True)
class MappingDialog:
    """The dialog for one mapping of one table. `open`: what must still be said."""

    columns: Sequence[MappingColumn]
    marks: Sequence[MappingChoice]
    headings: Sequence[MappingChoice]
    everywhere: Sequence[MappingChoice]
    typed: Sequence[tuple[str, str, str, str]]  # (name, label, text, hint)
    halves: Sequence[Sequence[MappingChoice]]
    words: Sequence[UnknownWord]
    quality: MappingChoice
    fill_down: bool
    pair_separator: str
    open: Sequence[str] = field(default=())


def build_dialog(reading: FileReading, mapping: dict[str, Any]) -> MappingDialog:
    table = reading.table
    values = [role for role in mapping["columns"].values() if role["word"] == "value"]
    is_wide, headings = len(values) > 1, mapping["headings"]
    has_pairs = any(item["kind"] == "pair" for item in table["columns"])
    return MappingDialog(
        columns=[_column(item, mapping, each_says=is_wide and not headings) for item in table["columns"]],
        marks=[
            _heading_rows_choice(table, mapping), _decimal(table, mapping), _thousands(table, mapping),
        ],
        headings=_headings(mapping) if is_wide else (),
        everywhere=_everywhere(mapping),
        typed=_typed(mapping),
        halves=[
            [_choice(f"pair-{n}", word, half, f"{'First' if n == 0 else 'Second'} of a pair: ", AS_ALL) for word in ONE_HALF]
            for n, half in enumerate(mapping["pair"])
        ] if has_pairs else (),
        words=list(_unexplained(reading, mapping)),
        quality=MappingChoice("quality", "Quality of the numbers", _pairs(QUALITY_WORDS), mapping["quality"]),
        fill_down=mapping["fill_down"],
        pair_separator=mapping["pair_separator"],
        open=table["questions"],
    )  # fmt: skip


def _column(item: dict[str, Any], mapping: dict[str, Any], *, each_says: bool) -> MappingColumn:
    index, heading = item["index"], item["heading"] or f"column {item['index'] + 1}"
    role = mapping["columns"].get(str(index)) or {"word": "", "unit": "", "fixed": {}}
    word = "label" if role["word"].startswith(LABEL) else role["word"]
    more: list[MappingChoice] = []
    typed = []
    if word in ("value", "cpu", *SIZES):
        printed = f"printed {item['unit']}" if item["unit"] else ""
        blank = AS_ALL if word == "value" and mapping["fixed"].get("unit") else "unit?"
        units = _units(word, item["unit"], blank)
        more.append(MappingChoice(f"unit-{index}", f"Unit of {heading}", units, role["unit"], printed))
    if word == "value" and (each_says or role["fixed"]):
        blank = AS_ALL if mapping["fixed"].get("operation") else "operation?"
        more.append(_choice(f"column-{index}", "operation", role["fixed"], f"{heading}: ", blank))
        more.append(_choice(f"column-{index}", "metric", role["fixed"], f"{heading}: ", BY_UNIT))
        typed.append(
            (f"column-{index}-configuration", f"{heading}: configuration", role["fixed"].get("configuration", ""))
        )
    return MappingColumn(
        item["heading"], MappingChoice(f"role-{index}", f"What {heading} is", _pairs(ROLES), word), more, typed
    )


def _everywhere(mapping: dict[str, Any]) -> list[MappingChoice]:
    """Return the choices that hold for all values unless a column, a heading or a row says otherwise."""
    roles = mapping["columns"].values()
    values = [role for role in roles if role["word"] == "value"]
    text = {role["word"] for role in roles} | {mapping["headings"]}
    has_operation = "operation" in text or (values and all(role["fixed"].get("operation") for role in values))
    has_unit = "unit" in text or (values and all(role["unit"] for role in values))
    blanks = {
        "operation": AS_COLUMNS if has_operation else "operation?",
        "metric": AS_COLUMNS if "metric" in text else BY_UNIT,
        "unit": AS_COLUMNS if has_unit else "unit?",
    }
    return [_choice("fixed", word, mapping["fixed"], "All values: ", blanks[word]) for word in ONE_HALF]


def _units(role: str, printed: str = "", blank: str = "unit?") -> Choices:
    """Return the units for a role, those that the printed unit may stand for first."""
    bases = {"cpu": ("fraction",), **dict.fromkeys(SIZES, ("B",))}.get(role)
    fitting = [name for name, unit in UNITS.items() if bases is None or unit.base in bases]
    likely = [name for name in get_meanings(printed) if name in fitting]
    ordered = [*likely, *(name for name in fitting if name not in likely)]
    return [("", blank), *((name, name) for name in ordered)]


def _choice(begin: str, word: str, text: dict[str, str], label: str, blank: str) -> MappingChoice:
    return MappingChoice(f"{begin}-{word}", f"{label}{ROLES[word]}", [("", blank), *_allowed(word)], text.get(word, ""))


def _allowed(word: str) -> Choices:
    every = {"operation": OPERATIONS, "metric": tuple(METRICS), "unit": tuple(UNITS)}[word]
    return [(name, name.replace("_", " ") if word != "unit" else name) for name in every]


def _headings(mapping: dict[str, Any]) -> list[MappingChoice]:
    result = [MappingChoice("headings", "Headings of values are", _pairs(HEADINGS), mapping["headings"])]
    if mapping["headings"] in SIZES:
        result.append(
            MappingChoice("heading_unit", "Unit of those sizes", _units(mapping["headings"]), mapping["heading_unit"])
        )
    return result


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
    return spell_size(int(text)) if word in SIZES and text.isdecimal() else text


def _heading_rows_choice(table: dict[str, Any], mapping: dict[str, Any]) -> MappingChoice:
    text, looks = mapping.get("heading_rows"), table["heading_rows"]
    counts = [(str(count), str(count) if count else "none") for count in HEADING_ROWS]
    return MappingChoice(
        "heading_rows",
        "Rows of headings",
        [("", f"as it looks: {looks or 'none'}"), *counts],
        "" if text is None else str(text),
    )


def _decimal(table: dict[str, Any], mapping: dict[str, Any]) -> MappingChoice:
    proven = table["decimal"]
    unsaid = f"as the numbers show ({DECIMALS[proven[0]]})" if len(proven) == 1 else "?"
    hint = "" if mapping["decimal"] else _which_mark(table)
    return MappingChoice("decimal", "Decimal mark", [("", unsaid), *_pairs(DECIMALS)], mapping["decimal"], hint)


def _thousands(table: dict[str, Any], mapping: dict[str, Any]) -> MappingChoice:
    proven = table["thousands"]
    shows = not mapping["decimal"] and len(table["decimal"]) == 1 and len(proven) == 1 and proven[0]
    unsaid = f"as the numbers show ({THOUSANDS[proven[0]]})" if shows else "none"
    return MappingChoice("thousands", "Between thousands", [("", unsaid), *_pairs(THOUSANDS)], mapping["thousands"])


def _which_mark(table: dict[str, Any]) -> str:
    """Return examples of numbers whose decimal mark is ambiguous, or an empty string."""
    if len(table["decimal"]) == 1:
        return ""
    text = "; ".join(f"line {line}, {heading}: {printed}" for line, heading, printed in table["unclear"][:3])
    return f"can be either in {text}" if text else "the numbers do not say"


def _unexplained(reading: FileReading, mapping: dict[str, Any]) -> Iterator[UnknownWord]:
    """Yield the words in cells that have no known meaning, and those that the person explained."""
    known = [("unit", word, is_) for word, is_ in mapping["units"].items()]
    known += [(kind, word, is_) for kind, words in mapping["meanings"].items() for word, is_ in words.items()]
    new = dict.fromkeys(pair for item in reading.broken if (pair := _question(item)))
    listed = [*known, *((kind, word, "") for kind, word in list(new)[:MOST_ASKED])]
    for number, (kind, word, is_) in enumerate(listed):
        choices = [(meaning, meaning) for meaning in get_meanings(word)] if kind == "unit" else _allowed(kind)
        yield UnknownWord(number, kind, word, MappingChoice(f"is-{number}", f"“{word}” is", [("", "?"), *choices], is_))


def _question(problem: Broken) -> tuple[str, str] | None:
    if unit := _WHICH_UNIT.search(problem.expected):
        return "unit", unit[1]
    if problem.expected.startswith("a choice between"):
        return "unit", problem.found
    word = _NO_MEANING.match(problem.expected)
    return ((word[1] or word[2]), problem.found) if word else None


def _pairs(words: dict[str, str]) -> Choices:
    return list(words.items())
