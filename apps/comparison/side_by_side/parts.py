"""What the part of an output that a row is about is called: fio's jobs, streams, disks. Names differ from run to run, so a row has all that
its cells have. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence

from apps.runs.metrics import DISK
from apps.runs.sections import told_apart

MOST = 3
UNNAMED = "unnamed"
Names = Mapping[int, str]  # of one run, by the section's number
OfColumn = Mapping[int, Sequence[str]]  # of all its runs that count


def of_columns(runs: Iterable[tuple[int, Names]]) -> dict[int, OfColumn]:
    """By column; those whose runs have but one part each are left out: it needs no name."""
    found: dict[int, dict[int, dict[str, None]]] = {}
    for column, names in runs:
        for number, name in told_apart(names).items():
            found.setdefault(column, {}).setdefault(number, {})[name] = None
    return {column: {number: list(names) for number, names in one.items()} for column, one in found.items()}


def of_row(section: int, columns: Iterable[int], names: Mapping[int, OfColumn]) -> tuple[str, ...]:
    """Those of the columns that have something in the row; none where none of them has a name for it."""
    told = [names.get(column, {}).get(section, ()) for column in columns]
    found = dict.fromkeys(name for one in told for name in one)
    return (*found, *((UNNAMED,) if found and () in told else ()))


def in_words(operation: str, section: int, names: Sequence[str]) -> str:
    """The one name, or the number with the names behind it: `job 2 (seq, randread)`."""
    if len(names) == 1:
        return names[0]
    kind = "disk" if operation == DISK else "part" if operation.startswith("net_") else "job"
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    behind = f" ({', '.join([*names[:MOST], *more])})" if names else ""
    return f"{kind} {section + 1}{behind}" if section or names else ""
