"""A sum and the streams that it sums are no readings of one thing: where a run says both, the sum alone counts.

iperf prints `SUM` beside its streams, Vdbench a `Total` beside its hosts, storage and workload definitions. Their mean
would be no rate that anything had. What only the streams have (the jitter of iperf 2) counts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.runs.sections import is_sum, name_in

Row = Mapping[str, Any]
_PLACE = (
    "run_id", "measure__operation", "measure__metric",
    "point__file_size", "point__block_size", "point__threads", "point__iodepth",
)  # fmt: skip


def without_parts(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of samples (with `section`, `run__tool`, `run__sections` and what is known of their place) that count."""
    wholes = {_place(row) for row in rows if _is_whole(row)}
    return [row for row in rows if _is_whole(row) or _place(row) not in wholes] if wholes else list(rows)


def _is_whole(row: Row) -> bool:
    return is_sum(row["run__tool"], name_in(row["run__sections"], row["section"]))


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in _PLACE)
