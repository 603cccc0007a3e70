"""A person's mapping of a table: from the dialog's form to a `Mapping`'s JSON, tried out in the confined child, remembered.

What nobody said stays open, and the dialog asks for it; nothing is filled in here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from apps.parsers.tables.mapping import HEADING_ROWS, LABEL, QUALITIES, SIZES
from apps.runs.sizes import parse_size
from apps.uploads.models import TableMapping, UploadedFile
from apps.uploads.reading import FileReading
from apps.uploads.sandbox.parent import SandboxError, alone, reader
from apps.uploads.source_lines import head

TRIED = 4 << 20  # bytes from the beginning, for the dialog; all of it is read when the mapping is used
MOST_ASKED = 12  # words that the cells use and nobody explained
FIXED = ("operation", "metric", "unit", *SIZES, "threads", "iodepth")
OF_COLUMN = ("operation", "metric", "configuration")
ONE_HALF = ("operation", "metric", "unit")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def try_out(file: UploadedFile, mapping: dict[str, Any] | None) -> FileReading:
    """The beginning of the table as this mapping reads it; without one, what the dialog must ask. Raises `SandboxError`."""
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
    found: TableMapping | None = TableMapping.objects.filter(lab_id=file.upload.lab_id, signature=signature).first()
    return found


def from_form(data: Mapping[str, str], columns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The JSON of what the form says; `Mapping.from_json` judges it."""
    roles = {str(one["index"]): role for one in columns if (role := _role(data, one))}
    values = [role for role in roles.values() if role["word"] == "value"]
    said = {
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
    return {**said, **{name: _text(data, name) for name in texts}}


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
    found = {word: _text(data, f"{begin}-{word}").strip() for word in words}
    return {word: _bytes(text) if word in SIZES else text for word, text in found.items() if text}


def _bytes(text: str) -> str:
    try:
        return str(parse_size(text))
    except ValueError:
        return text  # the mapping itself says what is wrong with it


def _words(data: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """(operation, metric or unit; the cells' word; what it means)."""
    for number in range(2 * MOST_ASKED):
        kind, word, is_ = (_text(data, f"{part}-{number}", 120) for part in ("kind", "word", "is"))
        if kind and word and is_:
            yield kind, word, is_
