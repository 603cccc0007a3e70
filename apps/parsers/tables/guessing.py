"""The best guess at what a table means, from its headings alone; what they do not say is left empty.

`questions` lists what a person must still say before the table can be read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from apps.parsers.shape import ParseError
from apps.parsers.tables import cells, units, words
from apps.parsers.tables.grid import Column, Grid, Row
from apps.parsers.tables.mapping import BESIDE, COUNTS, SIZES, Mapping, Role

_ROLES = (  # the first that fits
    ("repetition", r"rep|repetition|repeat|iteration|run( no| nr| number)?|#"),
    ("block_size", r"(block|record|request|transfer|i ?o) ?(size|length)|reclen|bs|block|record"),
    ("file_size", r"(test )?file( ?size)?|file ?length|size|dimensione( file)?|taglia|dateigröße|taille( du fichier)?|размер( файла)?"),
    ("threads", r"threads?|jobs?|numjobs|processes|procs|children|streams|clients|(number|no|nr) of (threads|jobs|processes)"),
    ("iodepth", r"io ?depth|queue ?depth|qd|depth"),
    ("operation", r"operation|test|direction|rw|pattern|op"),
    ("metric", r"metric|measure"),
    ("unit", r"units?"),
    ("value", r"values?|result|mean|average|avg|media|mittelwert"),
    ("cpu", r"cpu( (percent|usage|load))?|% ?cpu"),
    ("host", r"host( ?name)?|server|machine|node"),
    ("target", r"target|device|path|mount( ?point)?|directory"),
    ("quality", r"quality|confidence"), ("printed", r"printed( (text|value|as))?|as printed"), ("remark", r"remarks?|notes?|comments?"),
    ("alternatives", r"alternatives|(other|possible) readings"), ("missing", r"(why )?missing|missing reason|reason"),
    ("configuration", r"config(uration)?|configurazione|konfiguration|setup|array"),
)  # fmt: skip
_PATTERNS = tuple((word, re.compile(pattern)) for word, pattern in _ROLES)
_NUMBERS = ("value", "cpu", *SIZES, *COUNTS)
_OPERATION = dict(_PATTERNS)["operation"]
_BARE_SIZE = re.compile(r"[kmgt]i?b(?:ytes?)?", re.IGNORECASE)
_AROUND = "()[],;:–—-/|"
_STATISTIC = re.compile(
    r"\b(?:min|max|avg|mean|median|p\d+|std|stdev|sd|dev|latency|iops|cpu|size|time)\b|%", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+|[#%]")


def guess(grid: Grid) -> Mapping:
    roles = {column.index: role for column in grid.columns if (role := _role(column, grid))}
    if not any(role.word == "value" for role in roles.values()):
        roles |= _unnamed_values(grid, roles)
    values = [role for role in roles.values() if role.word == "value"]
    is_wide = len(values) > 1
    if is_wide:  # a row's remark would be about none of its values in particular: somebody must say what it is
        roles = {index: role for index, role in roles.items() if role.word not in BESIDE}
    names_operations = all("operation" in role.fixed for role in values)
    if is_wide and not names_operations and (both := _with_configurations(grid, roles)):
        roles, names_operations = both, True
    decimal, thousands = _proven_marks(grid, roles)
    said_above = {"unit": _of_caption(grid.caption), "operation": _operation_above(grid.caption, roles)}
    return Mapping(
        layout="wide" if is_wide else "long",
        columns=roles,
        headings="configuration" if is_wide and not names_operations else "",
        fixed={word: said for word, said in said_above.items() if said},
        decimal=decimal,
        thousands=thousands,
        pair_separator="/" if any(column.kind == "pair" for column in grid.columns) else "",
    )


def _proven_marks(grid: Grid, roles: dict[int, Role]) -> tuple[str, str]:
    """Those that each column with marks proves by itself: which of them are numbers is only guessed here."""
    marked = [grid.columns[index].marks for index, role in roles.items() if role.word in _NUMBERS]
    marked = [one for one in marked if one.is_marked] or [cells.Marks()]
    if len(decimals := {one.candidates() for one in marked}) > 1 or len(decimal := decimals.pop()) != 1:
        return "", ""
    thousands = {mark for one in marked for mark in one.thousands_candidates() if mark}
    return decimal[0], thousands.pop() if len(thousands) == 1 else ""


def _with_configurations(grid: Grid, roles: dict[int, Role]) -> dict[int, Role]:
    """Where every value's heading names an operation and something else, `Write ext3`, that is its configuration; else nothing."""
    found = {}
    for index, role in roles.items():
        if role.word == "value":
            column = grid.columns[index]
            heading = column.heading.replace(column.unit, " ") if column.unit else column.heading
            operation, rest = words.operation_within(
                " ".join(filter(None, (one.strip(_AROUND) for one in heading.split())))
            )
            if not operation or not rest or cells.HAS_DIGIT(rest[:1]) or _STATISTIC.search(rest):
                return {}
            found[index] = replace(role, fixed={"operation": operation, "configuration": rest} | role.fixed)
    return roles | found if len({role.fixed["configuration"] for role in found.values()}) > 1 else {}


def _operation_above(caption: str, roles: dict[int, Role]) -> str:
    """Of a title that is nothing else than its name; where no column says it."""
    if any(role.word == "operation" or "operation" in role.fixed for role in roles.values()):
        return ""
    found = {words.titled(_said(line, units.found_in(line))) for line in caption.splitlines()} - {""}
    return found.pop() if len(found) == 1 else ""


@lru_cache(maxsize=1024)
def names_operation(heading: str) -> bool:
    """Whether a column of this heading may say what the values of its table, or its own, are of."""
    said = _said(heading, units.found_in(heading))
    return bool(words.operation(said)) or _OPERATION.fullmatch(said) is not None


def _only(printed: str) -> str:
    """The name of a printed unit that has one meaning, else ''."""
    meanings = units.meanings(printed)
    return meanings[0] if len(meanings) == 1 else ""


def _of_caption(caption: str) -> str:
    """The unit of all values; not the `%` and the seconds that prose has."""
    unit = _only(units.found_in(caption))
    return unit if unit and units.UNITS[unit].base.endswith("/s") else ""


def _said(heading: str, unit: str) -> str:
    """A heading's words without its unit."""
    return " ".join(_WORD.findall(heading.replace(unit, " ", 1) if unit else heading)).casefold()


def _role(column: Column, grid: Grid) -> Role | None:
    if column.kind == "empty":
        return Role("ignore")
    said = _said(column.heading, column.unit)
    if column.index == 0 and not said and _BARE_SIZE.fullmatch(column.unit):
        return Role("file_size", _only(column.unit))  # the first column of a matrix, headed MB
    if column.kind != "name" and (operation := words.operation(said)):
        return Role("value", _only(column.unit), {"operation": operation})
    metric, others = words.metric_within(said)
    if column.kind != "name" and metric and metric != "cpu" and (operation := words.operation(others)):
        return Role("value", _only(column.unit), {"operation": operation, "metric": metric})
    metric = words.metric(said or column.unit)  # IOPS are both
    if column.kind != "name" and column.unit and metric and said != "cpu":
        return Role("value", _only(column.unit), {"metric": metric})
    for word, pattern in _PATTERNS:
        if pattern.fullmatch(said) and not (word in ("value", "cpu") and column.kind == "name"):
            return Role(word, _unit_of(word, column, said))
    return None


def _unit_of(word: str, column: Column, said: str) -> str:
    if word == "cpu":
        return "%" if "%" in column.heading or "percent" in said else ""
    return _only(column.unit) if word in (*SIZES, "value") else ""


def _unnamed_values(grid: Grid, roles: dict[int, Role]) -> dict[int, Role]:
    """Where no heading is known for a value, the other columns of numbers hold them."""
    return {
        column.index: Role("value", _only(column.unit))
        for column in grid.columns
        if column.index not in roles and column.kind in ("number", "pair")
    }


def questions(grid: Grid, mapping: Mapping) -> list[str]:
    """What must still be said, one sentence each."""
    return [
        *mapping.faults(),
        *_about_headings(grid, mapping),
        *_about_columns(grid, mapping),
        *_about_values(grid, mapping),
    ]


def marks_of(grid: Grid, mapping: Mapping) -> cells.Marks:
    """What the numbers prove about their marks: those of the columns that are numbers, and not the versions in a kernel's."""
    found = cells.Marks()
    for index, role in mapping.columns.items():
        if role.word in _NUMBERS and 0 <= index < len(grid.columns):
            found.add(grid.columns[index].marks)
    return found


def with_marks(grid: Grid, mapping: Mapping) -> Mapping:
    """The mapping with the marks that the numbers prove, where it says none. `ParseError` where they can be either."""
    if mapping.decimal:
        return mapping
    marks = marks_of(grid, mapping)
    decimal, thousands = marks.candidates(), marks.thousands_candidates()
    if len(decimal) == 1:
        between = mapping.thousands or (thousands[0] if len(thousands) == 1 else "")
        return replace(mapping, decimal=decimal[0], thousands=between if between != decimal[0] else "")
    said = "; ".join(f"line {line}, {heading}: {printed}" for line, heading, printed in grid.unclear[:5])
    why = "can be a decimal or a thousands mark" if decimal else "is used both ways"
    first = grid.unclear[0][0] if grid.unclear else grid.first_line
    raise ParseError(
        f"the comma or point {why}; needs a choice", line=first, found=said, expected="decimal: ',' or '.'"
    )


def name(column: Column) -> str:
    return column.heading or f"column {column.index + 1}"


def _about_headings(grid: Grid, mapping: Mapping) -> Iterator[str]:
    if grid.is_unsure_of_headings and mapping.heading_rows is None:
        yield f"is line {grid.first_line} ({grid.shown}) a row of headings, or of values? Say how many rows of headings there are"


def _about_columns(grid: Grid, mapping: Mapping) -> Iterator[str]:
    some = _some(grid, 50)
    first = some[0].cells if some else ()  # a row with a problem may have fewer cells than there are columns
    for column in grid.columns:
        role = mapping.columns.get(column.index)
        if role is None:
            shown = ", ".join(repr(one) for one in (column.heading, first[column.index][:40] if first else "") if one)
            yield f"what is column {column.index + 1}{f' ({shown})' if shown else ''}?"
        elif role.word in SIZES and not role.unit and column.kind != "empty" and _is_bare(some, column.index):
            yield _which_unit(repr(name(column)), column.unit, "sizes")
        elif role.word == "cpu" and not role.unit and not _are_percents(some, column.index):
            yield f"is {name(column)!r} in % or a fraction?"
    for index in mapping.columns:
        if not 0 <= index < len(grid.columns):
            yield f"the table has no column {index + 1}"


def _some(grid: Grid, most: int) -> list[Row]:
    """Split once, for all columns."""
    return [row for row in grid.rows[:most] if not row.problem]


def _is_bare(rows: Sequence[Row], index: int) -> bool:
    return any(row.cells[index].isdigit() for row in rows)


def _are_percents(rows: Sequence[Row], index: int) -> bool:
    printed = [row.cells[index] for row in rows if cells.HAS_DIGIT(row.cells[index])]
    return bool(printed) and all(cells.printed_unit(cell) == "%" for cell in printed)


def _about_values(grid: Grid, mapping: Mapping) -> Iterator[str]:
    values = [
        (grid.columns[index], role)
        for index, role in mapping.columns.items()
        if role.word == "value" and 0 <= index < len(grid.columns)
    ]
    if not values:
        yield "which columns are the values?"
    if mapping.layout == "long" and len(values) > 1:
        yield f"{len(values)} columns are values: one in the long layout, more in the wide one"
    if bare := [column for column, role in values if not _is_said("operation", role, mapping)]:
        yield f"which operation is {_names(bare)}?"
    for printed, columns in _without_unit(grid, mapping, values).items():
        yield _which_unit(_names(columns), printed, "values")


def _without_unit(grid: Grid, mapping: Mapping, values: list[tuple[Column, Role]]) -> dict[str, list[Column]]:
    """printed unit → the columns whose values have no unit yet."""
    found: dict[str, list[Column]] = {}
    some = _some(grid, 20)
    if any(role.word == "operation" and _prints_units(some, index) for index, role in mapping.columns.items()):
        return found  # each row its own; one that has none is told
    for column, role in values:
        if not role.unit and not _is_said("unit", role, mapping) and not _prints_units(some, column.index):
            found.setdefault(column.unit or units.found_in(grid.caption), []).append(column)
    return found


def _names(columns: list[Column]) -> str:
    shown = ", ".join(repr(name(column)) for column in columns[:3])
    return f"{shown} and {len(columns) - 3} more" if len(columns) > 3 else shown


def _is_said(word: str, role: Role, mapping: Mapping) -> bool:
    in_rows = any(other.word == word for other in mapping.columns.values())
    in_pair = all(word in half for half in mapping.pair)
    return in_rows or in_pair or mapping.headings == word or bool(role.fixed.get(word) or mapping.fixed.get(word))


def _prints_units(rows: Sequence[Row], index: int) -> bool:
    return any(units.found_in(row.cells[index]) or cells.printed_unit(row.cells[index]) for row in rows)


def _which_unit(column: str, printed: str, what: str) -> str:
    meanings = units.meanings(printed) if printed else ()
    choice = f": {printed!r} can be {' or '.join(meanings)}" if meanings else ""
    return f"which unit is that of the {what} in {column}{choice}?"
