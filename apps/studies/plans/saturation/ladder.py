"""Saturation: from the lightest load on, point after point, until a percentile of latency passes a bound.

The points of one ladder have the same pattern, sizes and engine and differ in depth and jobs; their order in the plan is
the order of the search. Which point is open follows from what the points before it measured, so nothing is stored and a
restart or a changed bound needs no repair. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

SEARCHING, PASSED, CAPPED, STUCK = "searching", "passed", "capped", "stuck"
SAME_IOPS = 0.02  # of the highest: so far two points may be apart, and are the same throughput


@dataclass(frozen=True)
class LadderLoad:
    """One load of a ladder: I/Os in flight of each job × jobs."""

    depth: int
    jobs: int

    @property
    def words(self) -> str:
        return f"depth {self.depth} × {self.jobs} job{'' if self.jobs == 1 else 's'}"


@dataclass(frozen=True)
class LoadResult:
    """What one point of a ladder measured: medians of its rounds that count.

    `iops` of all operations together in 1/s, `latency` of the slowest operation in ns; None where nothing was measured.
    `is_done`: all rounds are there. `is_failed`: rounds failed for good, until somebody retries them. `is_left_out`:
    somebody skipped the cell, or it cannot be run.
    """

    load: LadderLoad
    iops: float | None = None
    latency: float | None = None
    rounds: int = 0
    is_done: bool = False
    is_failed: bool = False
    is_left_out: bool = False

    @property
    def is_measured(self) -> bool:
        return self.is_done and self.iops is not None and self.latency is not None


@dataclass(frozen=True)
class Ladder:
    """A search with its state; places are positions in `results`.

    Args:
        results: The points in their order.
        bound: Of the latency, in ns.
        state: searching, passed (the bound), capped (the last point is still within it) or stuck (a point failed or has
            no latency).
        best: The point with the highest IOPS within the bound, None where none is.
        passed: The first point beyond the bound.
        open: The point that is measured now or next.
        problem: The point at which a stuck search ended.
    """

    results: tuple[LoadResult, ...]
    bound: float
    state: str
    best: int | None = None
    passed: int | None = None
    open: int | None = None
    problem: int | None = None

    @property
    def lightest(self) -> int | None:
        """Return the first point within the bound that gives as many IOPS as the best one, which may be that itself."""
        if self.best is None:
            return None
        least = (1 - SAME_IOPS) * (self.results[self.best].iops or 0.0)
        return next(
            place
            for place, result in enumerate(self.results)
            if result.is_measured and (result.latency or 0.0) <= self.bound and (result.iops or 0.0) >= least
        )

    @property
    def closed(self) -> list[int]:
        """Return the points that are not measured, because the search ended before them."""
        if self.state != PASSED:
            return []
        last = max(place for place, result in enumerate(self.results) if result.is_measured)
        return [place for place, result in enumerate(self.results) if place > last and not result.is_left_out]

    @property
    def held_back(self) -> list[int]:
        """Return the points whose turn has not come: all behind the open one, or behind the one that is stuck."""
        here = self.open if self.open is not None else self.problem
        return [] if here is None else list(range(here + 1, len(self.results)))


def search(results: Sequence[LoadResult], bound: float, least_points: int = 1) -> Ladder:
    """Return the state of a search.

    Args:
        results: The points in their order, with what they have measured.
        bound: Of the latency, in ns.
        least_points: So many points are measured in any case.
    """
    measured = [place for place, result in enumerate(results) if result.is_measured]
    within = [place for place in measured if (results[place].latency or 0.0) <= bound]
    best = max(within, key=lambda place: results[place].iops or 0.0, default=None)
    passed = next((place for place in measured if place not in within), None)
    known = {"best": best, "passed": passed}
    count = 0
    for place, result in enumerate(results):
        if result.is_left_out:
            continue
        if passed is not None and place > passed and count >= least_points:
            return Ladder(tuple(results), bound, PASSED, **known)
        if result.is_failed or (result.is_done and not result.is_measured):
            return Ladder(tuple(results), bound, STUCK, problem=place, **known)
        if not result.is_done:
            return Ladder(tuple(results), bound, SEARCHING, open=place, **known)
        count += 1
    return Ladder(tuple(results), bound, CAPPED if passed is None else PASSED, **known)


def double_in_turn(depths: Sequence[int], jobs: Sequence[int]) -> list[LadderLoad]:
    """Return the loads of a search: the next depth, then the next number of jobs, in turn.

    Where one list has ended the other goes on alone, so `[1]` as depths, as a synchronous engine has them, raises the
    jobs alone.
    """
    loads = [LadderLoad(depths[0], jobs[0])]
    for depth, number in zip_longest(depths[1:], jobs[1:]):
        if depth is not None:
            loads.append(LadderLoad(depth, loads[-1].jobs))
        if number is not None:
            loads.append(LadderLoad(loads[-1].depth, number))
    return loads
