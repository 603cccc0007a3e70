"""What a kind of preparation is: a wait that the host looks after, or writes that are runs of their own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.studies.plans.problems import PlanError, read_size

Parameters = Mapping[str, Any]


@dataclass(frozen=True)
class PreparationParameter:
    """A number that a preparation takes, in base units. `usual`: None where it has to be given, or follows from the plan."""

    name: str
    label: str
    low: float
    high: float
    usual: float | None = None
    is_whole: bool = True
    is_needed: bool = False
    is_size: bool = False  # of bytes, which people write as 4g

    @property
    def is_yes_or_no(self) -> bool:
        return self.is_whole and (self.low, self.high) == (0, 1)

    @property
    def range_words(self) -> str:
        """Return the range as both would be written in JSON: sizes have every digit."""
        return " to ".join(f"{bound:.0f}" if bound == int(bound) else f"{bound}" for bound in (self.low, self.high))

    def read(self, field: str, value: Any) -> float | None:
        """Return the checked value, or the usual one where none is given. Raises `PlanError`."""
        if value in (None, ""):
            if self.is_needed:
                raise PlanError(f"{field}.{self.name}", value, f"a number from {self.range_words}")
            return self.usual
        if self.is_size:
            return read_size(f"{field}.{self.name}", value, int(self.low), int(self.high))
        is_number = type(value) is int or (type(value) is float and not self.is_whole)
        if not is_number or not self.low <= value <= self.high:
            words = "a whole number" if self.is_whole else "a number"
            raise PlanError(f"{field}.{self.name}", value, f"{words} from {self.range_words}")
        return float(value) if type(value) is float else int(value)


@dataclass(frozen=True)
class PreparationKind:
    """A kind of preparation.

    Args:
        kind: Its name in the database, in REST and in forms.
        label: What people call it.
        sentence: What is done, for these parameters.
        times: When it may be done: `start`, `round`, `step`.
        parameters: The numbers that it takes.
        guard: The guard by which a host waits, for these parameters; None for writes.
        workload: The workload of one run of the writes: parameters and the bytes of the target's largest file; None
            for waits.
        is_done: Whether the writes are enough: parameters, and the mean bandwidth in bytes/s of each finished run.
        verdict: What the writes came to in a few words, for the same arguments.
        least_runs: How many runs there will be at least.
        seconds: How long it takes each time, where that follows from the parameters; None where it does not.
    """

    kind: str
    label: str
    sentence: Callable[[Parameters], str]
    times: tuple[str, ...]
    parameters: tuple[PreparationParameter, ...] = ()
    guard: Callable[[Parameters], dict[str, Any]] | None = None
    workload: Callable[[Parameters, int], dict[str, Any]] | None = None
    is_done: Callable[[Parameters, Sequence[float]], bool] | None = None
    verdict: Callable[[Parameters, Sequence[float]], str] | None = None
    least_runs: Callable[[Parameters], int] = lambda _parameters: 0
    seconds: Callable[[Parameters], float | None] = lambda _parameters: None


KIB, MIB, GIB, TIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40
LONGEST_WAIT = 86_400
WAIT = PreparationParameter("wait_s", "At most so many seconds", 0, LONGEST_WAIT, 3600)
FILE_SIZE = PreparationParameter("file_size", "File size", 1 * MIB, 64 * TIB, is_size=True)
