"""How long the rest of a plan takes, from the runs that were made. Said to be a lower bound where cells are unknown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Waiting:
    """A cell's rounds that are still to be made. `past`: seconds of its own runs; `asked`: what the workload says it takes at most."""

    row: str
    host: str
    file_size: int | None
    rounds: int
    past: Sequence[float] = ()
    asked: float | None = None


@dataclass(frozen=True)
class Estimate:
    """Seconds. Hosts work side by side, so the whole takes as long as the slowest. `unknown`: rounds that nothing is known of."""

    seconds: float
    by_host: Mapping[str, float]
    known: int
    unknown: int


def estimate(cells: Sequence[Waiting]) -> Estimate:
    """From a cell's own past runs, else what its workload says, else its row's bytes per second, else unknown."""
    rates = _rates(cells)
    by_host: dict[str, float] = {}
    known = unknown = 0
    for cell in cells:
        seconds = _seconds(cell, rates)
        if seconds is None:
            unknown += cell.rounds
        else:
            known += cell.rounds
            by_host[cell.host] = by_host.get(cell.host, 0.0) + cell.rounds * seconds
    return Estimate(max(by_host.values(), default=0.0), by_host, known, unknown)


def _seconds(cell: Waiting, rates: Mapping[str, float]) -> float | None:
    if cell.past:
        return median(cell.past)
    if cell.asked is not None:
        return cell.asked
    rate = rates.get(cell.row)
    return cell.file_size * rate if rate and cell.file_size else None


def _rates(cells: Sequence[Waiting]) -> dict[str, float]:
    """Row → seconds per byte of test file, the middle one of its cells that were run."""
    found: dict[str, list[float]] = {}
    for cell in cells:
        if cell.past and cell.file_size:
            found.setdefault(cell.row, []).append(median(cell.past) / cell.file_size)
    return {row: median(rates) for row, rates in found.items()}
