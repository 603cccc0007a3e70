"""A cell or heading that says what a value is about: a size in bytes, a count, an operation, a name."""

import re
from decimal import Decimal

from apps.parsers.tables import cells, units, words
from apps.parsers.tables.cells import CellError
from apps.parsers.tables.mapping import COUNTS, SIZES, Mapping

_LARGEST = {**dict.fromkeys(SIZES, 2**63 - 1), **dict.fromkeys(COUNTS, 2**31 - 1)}
_SIZE = re.compile(r"([0-9][0-9.,' ]*?)\s?([A-Za-z]{0,8})")
_LONGEST_NAME = 120


def dimension(word: str, cell: str, unit: str, mapping: Mapping) -> str:
    """What the cell says, as the mapping's words: whole numbers as digits, sizes in bytes. Raises `CellError`."""
    text = cells.clean(cell)
    text = mapping.meanings.get(word, {}).get(text, text)
    if word in _LARGEST:
        return _whole(word, text, unit, mapping)
    if word == "operation":
        alone = text.replace(units.found_in(text), "").strip(" ()[],;:") if units.found_in(text) else text
        return _known(words.operation(text) or words.operation(alone), "an operation")
    if word == "metric":
        return _known(words.metric(text), "a metric")
    if word == "unit":
        return _unit(text, mapping)
    return text[:_LONGEST_NAME]


def _known(found: str, expected: str) -> str:
    if not found:
        raise CellError(f"{expected} that is known, or its meaning in the mapping")
    return found


def _unit(text: str, mapping: Mapping) -> str:
    chosen = mapping.units.get(text, "")
    meanings = (chosen,) if chosen else units.meanings(text)
    if len(meanings) != 1:
        raise CellError(f"a choice between {' and '.join(meanings)}" if meanings else "a unit")
    return meanings[0]


def _whole(word: str, text: str, unit: str, mapping: Mapping) -> str:
    if len(text) < 10 and text.isdigit() and text.isascii():
        factor = _factor("", unit, mapping) if word in SIZES else Decimal(1)
        return _within(word, int(text) * factor)
    match = _SIZE.fullmatch(text) if len(text) < 40 else None
    if match is None or (match[2] and word not in SIZES):
        raise CellError("a whole number" if word not in SIZES else "a size")
    factor = _factor(match[2], unit, mapping) if word in SIZES else Decimal(1)
    return _within(word, cells.number(match[1].rstrip(), mapping.decimal, mapping.thousands) * factor)


def _within(word: str, value: Decimal) -> str:
    if value != value.to_integral_value() or not 0 <= value <= _LARGEST[word]:
        raise CellError("a whole number" + (" of bytes" if word in SIZES else "") + f" up to {_LARGEST[word]}")
    return str(int(value))


def _factor(printed: str, unit: str, mapping: Mapping) -> Decimal:
    """Of the size's own unit, which wins, or of the one that the mapping gives bare numbers."""
    name = unit
    if printed:
        meanings = units.meanings(printed)
        chosen = mapping.units.get(printed, "") or (unit if unit in meanings else "")
        name = chosen or (meanings[0] if len(meanings) == 1 else "")
    if not name or units.UNITS[name].base != "B":
        raise CellError(f"a mapping that says which unit of size {printed or 'bare numbers'!r} is")
    return units.UNITS[name].factor
