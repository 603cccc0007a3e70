"""How often nominal 95 % intervals of a ratio hold the true one, by simulation: the table in `docs/reference/statistics.md`.

    .venv/bin/python -m tests.comparison.coverage

Both sides are drawn from one distribution, so the true ratio is 1 whether it is one of geometric means or of medians.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from apps.comparison.statistics.ratios import Ratio, _bootstrap, _welch, ratios

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[Any]

SIZES = (3, 4, 5, 6, 8)
REPETITIONS = 2000
SEED = 20_041_105
METHODS = ("welch", "bootstrap", "spindle")
Draw = Callable[[np.random.Generator, tuple[int, int]], "Rows"]


def normal(draws: np.random.Generator, shape: tuple[int, int]) -> "Rows":
    """Runs that scatter by 5 %."""
    return draws.normal(100, 5, shape)


def lognormal(draws: np.random.Generator, shape: tuple[int, int]) -> "Rows":
    return draws.lognormal(4.6, 0.3, shape)


def bimodal(draws: np.random.Generator, shape: tuple[int, int]) -> "Rows":
    """Three runs of ten at half the speed, each mode with 3 %."""
    return draws.normal(100, 3, shape) * np.where(draws.random(shape) < 0.3, 0.5, 1.0)


SHAPES: dict[str, Draw] = {"normal": normal, "lognormal": lognormal, "bimodal": bimodal}


@dataclass(frozen=True)
class Coverage:
    """Fractions of the repetitions whose interval holds 1; `width`: median of high ÷ low. By method."""

    shape: str
    n: int
    covered: dict[str, float]
    width: dict[str, float]


def coverage(shape: str, n: int, repetitions: int = REPETITIONS) -> Coverage:
    """Of `n` runs on each side. The same numbers every time."""
    draws = np.random.default_rng([SEED, list(SHAPES).index(shape), n])
    ours, theirs = (np.sort(SHAPES[shape](draws, (repetitions, n)), axis=1) for _ in range(2))
    found = {
        "welch": _bounds(_welch(np.log(ours), np.log(theirs))),
        "bootstrap": _bounds(_bootstrap(np.log(ours), np.log(theirs))),
        "spindle": _bounds(ratios(list(zip(ours.tolist(), theirs.tolist(), strict=True)))),
    }
    covered = {name: float(np.mean((low <= 1) & (high >= 1))) for name, (low, high) in found.items()}
    return Coverage(shape, n, covered, {name: float(np.median(high / low)) for name, (low, high) in found.items()})


def _bounds(found: Any) -> tuple["Rows", "Rows"]:
    intervals: list[Ratio] = list(found)
    return np.array([one.low for one in intervals]), np.array([one.high for one in intervals])


def table() -> Iterator[str]:
    yield "| values | n | Welch | bootstrap of medians | as Spindle chooses |"
    yield "|---|---|---|---|---|"
    for shape in SHAPES:
        for n in SIZES:
            one = coverage(shape, n)
            figures = (f"{100 * one.covered[name]:.1f} % ({one.width[name]:.2f})" for name in METHODS)
            yield f"| {shape} | {n} | {' | '.join(figures)} |"


if __name__ == "__main__":
    for line in table():
        print(line, flush=True)
