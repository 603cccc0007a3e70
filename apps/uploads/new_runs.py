"""The row of a run that was uploaded, before it is in the database: a model's instance would cost ten times as much to make, and an
archive has thousands.
"""

from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any

from apps.inventory.models import Host, Snapshot, Target
from apps.lib.copying import insert_tuples
from apps.runs.models import Run, Workload
from apps.runs.states import State

_EARLIEST, _LATEST = 0.0, 4102444800.0  # 1970 to 2100: other times are a broken clock's, and are not kept


@dataclass(slots=True)
class NewRun:
    """The columns of `Run` under their names, and the rows that some of them refer to."""

    id: int
    lab_id: int
    tool: str
    tool_version: str
    labels: dict[str, str]
    problem: str
    created_by: str
    created_at: datetime
    host: Host | None = None
    target: Target | None = None
    snapshot: Snapshot | None = None
    workload: Workload | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    facts: dict[str, Any] | None = None
    sections: dict[str, dict[str, Any]] = field(default_factory=dict)
    state: str = State.FINISHED.value
    origin: str = Run.Origin.UPLOADED.value
    repetition: int = 1
    progress: float = 1.0


_REFERENCES = ("host", "target", "snapshot", "workload")
COLUMNS = tuple(f"{one.name}_id" if one.name in _REFERENCES else one.name for one in fields(NewRun))
_PLACES = [place for place, one in enumerate(fields(NewRun)) if one.name in _REFERENCES]
_columns_of = attrgetter(*(one.name for one in fields(NewRun)))


def insert_runs(new: list[NewRun]) -> None:
    """Their references are saved already."""
    insert_tuples(Run, COLUMNS, [_values(one) for one in new])


def _values(row: NewRun) -> list[Any]:
    values = list(_columns_of(row))
    for place in _PLACES:
        if values[place] is not None:
            values[place] = values[place].pk
    return values


def time_of(seconds: float | None) -> datetime | None:
    """Of what a tool printed; None for the time of a broken clock."""
    if seconds is None or not _EARLIEST < seconds < _LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)
