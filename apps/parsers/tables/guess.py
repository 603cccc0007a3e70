"""The best guess at what a table means, from its headings alone; what they do not say is left empty.

`list_questions` returns what a person must still say before the table can be read.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from apps.parsers.core.models import ParseError
from apps.parsers.tables import cells, units, words
from apps.parsers.tables.grid import CellRow, GridColumn, TableGrid
from apps.parsers.tables.mapping import BESIDE, COUNTS, SIZES, ColumnMapping, ColumnRole

_ROLES = (  # the first that matches is used
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


def guess(grid: TableGrid) -> ColumnMapping:
    """Return the mapping that a table's headings suggest."""
    roles = {column.index: role for column in grid.columns if (role := _guess_role(column, grid))}
    if not any(role.word == "value" for role in roles.values()):
        roles |= _add_unnamed_values(grid, roles)
    values = [role for role in roles.values() if role.word == "value"]
    is_wide = len(values) > 1
    if is_wide:  # a remark in a row with several values can not be assigned, so the user has to decide
        roles = {index: role for index, role in roles.items() if role.word not in BESIDE}
    names_operations = all("operation" in role.fixed for role in values)
    if is_wide and not names_operations and (both := _split_configurations(grid, roles)):
        roles, names_operations = both, True
    decimal, thousands = _find_proven_marks(grid, roles)
    stated_above = {"unit": _get_caption_unit(grid.caption), "operation": _find_operation_above(grid.caption, roles)}
    return ColumnMapping(
        layout="wide" if is_wide else "long",
        columns=roles,
        headings="configuration" if is_wide and not names_operations else "",
        fixed={word: text for word, text in stated_above.items() if text},
        decimal=decimal,
        thousands=thousands,
        pair_separator="/" if any(column.kind == "pair" for column in grid.columns) else "",
    )


def _find_proven_marks(grid: TableGrid, roles: dict[int, ColumnRole]) -> tuple[str, str]:
    """Return the marks that each column with marks proves by itself; which columns are numbers is only a guess here."""
    marked = [grid.columns[index].marks for index, role in roles.items() if role.word in _NUMBERS]
    marked = [column_marks for column_marks in marked if column_marks.is_marked] or [cells.Marks()]
    if (
        len(decimals := {column_marks.candidates() for column_marks in marked}) > 1
        or len(decimal := decimals.pop()) != 1
    ):
        return "", ""
    thousands = {mark for column_marks in marked for mark in column_marks.thousands_candidates() if mark}
    return decimal[0], thousands.pop() if len(thousands) == 1 else ""


def _split_configurations(grid: TableGrid, roles: dict[int, ColumnRole]) -> dict[int, ColumnRole]:
    """Return roles with a configuration, if every value's heading names an operation and something else (`Write ext3`); else {}."""
    result = {}
    for index, role in roles.items():
        if role.word == "value":
            column = grid.columns[index]
            heading = column.heading.replace(column.unit, " ") if column.unit else column.heading
            operation, rest = words.split_operation(
                " ".join(filter(None, (word.strip(_AROUND) for word in heading.split())))
            )
            if not operation or not rest or cells.HAS_DIGIT(rest[:1]) or _STATISTIC.search(rest):
                return {}
            result[index] = replace(role, fixed={"operation": operation, "configuration": rest} | role.fixed)
    return roles | result if len({role.fixed["configuration"] for role in result.values()}) > 1 else {}


def _find_operation_above(caption: str, roles: dict[int, ColumnRole]) -> str:
    """Return the operation in a title that names nothing else, if no column states it; else ""."""
    if any(role.word == "operation" or "operation" in role.fixed for role in roles.values()):
        return ""
    operations = {
        words.find_titled_operation(_get_words(line, units.find_unit(line))) for line in caption.splitlines()
    } - {""}
    return operations.pop() if len(operations) == 1 else ""


@lru_cache(maxsize=1024)
def names_operation(heading: str) -> bool:
    """Return whether a heading may state the operation of its own values or of those in its table."""
    heading_words = _get_words(heading, units.find_unit(heading))
    return bool(words.find_operation(heading_words)) or _OPERATION.fullmatch(heading_words) is not None


def _get_only_unit(printed: str) -> str:
    """Return the name of a printed unit that has one meaning, else ""."""
    meanings = units.get_meanings(printed)
    return meanings[0] if len(meanings) == 1 else ""


def _get_caption_unit(caption: str) -> str:
    """Return the unit of all values in a caption; % and seconds are ignored, as they occur in prose."""
    unit = _get_only_unit(units.find_unit(caption))
    return unit if unit and units.UNITS[unit].base.endswith("/s") else ""


def _get_words(heading: str, unit: str) -> str:
    """Return a heading's words without its unit."""
    return " ".join(_WORD.findall(heading.replace(unit, " ", 1) if unit else heading)).casefold()


def _guess_role(column: GridColumn, grid: TableGrid) -> ColumnRole | None:
    if column.kind == "empty":
        return ColumnRole("ignore")
    heading_words = _get_words(column.heading, column.unit)
    if column.index == 0 and not heading_words and _BARE_SIZE.fullmatch(column.unit):
        return ColumnRole("file_size", _get_only_unit(column.unit))  # first column of a matrix with the heading MB
    if column.kind != "name" and (operation := words.find_operation(heading_words)):
        return ColumnRole("value", _get_only_unit(column.unit), {"operation": operation})
    metric, others = words.split_metric(heading_words)
    if column.kind != "name" and metric and metric != "cpu" and (operation := words.find_operation(others)):
        return ColumnRole("value", _get_only_unit(column.unit), {"operation": operation, "metric": metric})
    metric = words.find_metric(heading_words or column.unit)  # IOPS are both
    if column.kind != "name" and column.unit and metric and heading_words != "cpu":
        return ColumnRole("value", _get_only_unit(column.unit), {"metric": metric})
    for word, pattern in _PATTERNS:
        if pattern.fullmatch(heading_words) and not (word in ("value", "cpu") and column.kind == "name"):
            return ColumnRole(word, _get_role_unit(word, column, heading_words))
    return None


def _get_role_unit(word: str, column: GridColumn, heading_words: str) -> str:
    if word == "cpu":
        return "%" if "%" in column.heading or "percent" in heading_words else ""
    return _get_only_unit(column.unit) if word in (*SIZES, "value") else ""


def _add_unnamed_values(grid: TableGrid, roles: dict[int, ColumnRole]) -> dict[int, ColumnRole]:
    """Return the other columns of numbers as values, where no heading names a value."""
    return {
        column.index: ColumnRole("value", _get_only_unit(column.unit))
        for column in grid.columns
        if column.index not in roles and column.kind in ("number", "pair")
    }


def list_questions(grid: TableGrid, mapping: ColumnMapping) -> list[str]:
    """Return what must still be said, one sentence each."""
    return [
        *mapping.faults(),
        *_ask_about_headings(grid, mapping),
        *_ask_about_columns(grid, mapping),
        *_ask_about_values(grid, mapping),
    ]


def get_marks(grid: TableGrid, mapping: ColumnMapping) -> cells.Marks:
    """Return what the numbers prove about their marks, from columns of numbers only, and not from versions in a kernel's name."""
    marks = cells.Marks()
    for index, role in mapping.columns.items():
        if role.word in _NUMBERS and 0 <= index < len(grid.columns):
            marks.add(grid.columns[index].marks)
    return marks


def add_marks(grid: TableGrid, mapping: ColumnMapping) -> ColumnMapping:
    """Return the mapping with the marks that the numbers prove, where it states none.

    Raises:
        ParseError: if they can be either.
    """
    if mapping.decimal:
        return mapping
    marks = get_marks(grid, mapping)
    decimal, thousands = marks.candidates(), marks.thousands_candidates()
    if len(decimal) == 1:
        between = mapping.thousands or (thousands[0] if len(thousands) == 1 else "")
        return replace(mapping, decimal=decimal[0], thousands=between if between != decimal[0] else "")
    examples = "; ".join(f"line {line}, {heading}: {printed}" for line, heading, printed in grid.unclear[:5])
    why = "can be a decimal or a thousands mark" if decimal else "is used both ways"
    first = grid.unclear[0][0] if grid.unclear else grid.first_line
    raise ParseError(
        f"the comma or point {why}; needs a choice", line=first, found=examples, expected="decimal: ',' or '.'"
    )


def get_name(column: GridColumn) -> str:
    """Return the heading of a column, or its number."""
    return column.heading or f"column {column.index + 1}"


def _ask_about_headings(grid: TableGrid, mapping: ColumnMapping) -> Iterator[str]:
    if grid.is_unsure_of_headings and mapping.heading_rows is None:
        yield f"is line {grid.first_line} ({grid.excerpt}) a row of headings, or of values? Say how many rows of headings there are"


def _ask_about_columns(grid: TableGrid, mapping: ColumnMapping) -> Iterator[str]:
    some = _get_sample(grid, 50)
    first = some[0].cells if some else ()  # rows with a problem are skipped, as they may have fewer cells than columns
    for column in grid.columns:
        role = mapping.columns.get(column.index)
        if role is None:
            example = ", ".join(
                repr(text) for text in (column.heading, first[column.index][:40] if first else "") if text
            )
            yield f"what is column {column.index + 1}{f' ({example})' if example else ''}?"
        elif role.word in SIZES and not role.unit and column.kind != "empty" and _is_bare(some, column.index):
            yield _ask_for_unit(repr(get_name(column)), column.unit, "sizes")
        elif role.word == "cpu" and not role.unit and not _are_percents(some, column.index):
            yield f"is {get_name(column)!r} in % or a fraction?"
    for index in mapping.columns:
        if not 0 <= index < len(grid.columns):
            yield f"the table has no column {index + 1}"


def _get_sample(grid: TableGrid, most: int) -> list[CellRow]:
    """Return the first rows, split once for all columns."""
    return [row for row in grid.rows[:most] if not row.problem]


def _is_bare(rows: Sequence[CellRow], index: int) -> bool:
    return any(row.cells[index].isdigit() for row in rows)


def _are_percents(rows: Sequence[CellRow], index: int) -> bool:
    printed = [row.cells[index] for row in rows if cells.HAS_DIGIT(row.cells[index])]
    return bool(printed) and all(cells.get_printed_unit(cell) == "%" for cell in printed)


def _ask_about_values(grid: TableGrid, mapping: ColumnMapping) -> Iterator[str]:
    values = [
        (grid.columns[index], role)
        for index, role in mapping.columns.items()
        if role.word == "value" and 0 <= index < len(grid.columns)
    ]
    if not values:
        yield "which columns are the values?"
    if mapping.layout == "long" and len(values) > 1:
        yield f"{len(values)} columns are values: one in the long layout, more in the wide one"
    if bare := [column for column, role in values if not _is_stated("operation", role, mapping)]:
        yield f"which operation is {_join_names(bare)}?"
    for printed, columns in _group_without_unit(grid, mapping, values).items():
        yield _ask_for_unit(_join_names(columns), printed, "values")


def _group_without_unit(
    grid: TableGrid, mapping: ColumnMapping, values: list[tuple[GridColumn, ColumnRole]]
) -> dict[str, list[GridColumn]]:
    """Return the columns whose values have no unit yet, by the printed unit."""
    groups: dict[str, list[GridColumn]] = {}
    some = _get_sample(grid, 20)
    if any(role.word == "operation" and _prints_units(some, index) for index, role in mapping.columns.items()):
        return groups  # each row states its own; rows without one are reported
    for column, role in values:
        if not role.unit and not _is_stated("unit", role, mapping) and not _prints_units(some, column.index):
            groups.setdefault(column.unit or units.find_unit(grid.caption), []).append(column)
    return groups


def _join_names(columns: list[GridColumn]) -> str:
    joined = ", ".join(repr(get_name(column)) for column in columns[:3])
    return f"{joined} and {len(columns) - 3} more" if len(columns) > 3 else joined


def _is_stated(word: str, role: ColumnRole, mapping: ColumnMapping) -> bool:
    in_rows = any(other.word == word for other in mapping.columns.values())
    in_pair = all(word in half for half in mapping.pair)
    return in_rows or in_pair or mapping.headings == word or bool(role.fixed.get(word) or mapping.fixed.get(word))


def _prints_units(rows: Sequence[CellRow], index: int) -> bool:
    return any(units.find_unit(row.cells[index]) or cells.get_printed_unit(row.cells[index]) for row in rows)


def _ask_for_unit(column: str, printed: str, what: str) -> str:
    meanings = units.get_meanings(printed) if printed else ()
    choice = f": {printed!r} can be {' or '.join(meanings)}" if meanings else ""
    return f"which unit is that of the {what} in {column}{choice}?"
