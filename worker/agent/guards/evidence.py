"""What a guard is given to look at, and what it found: an outcome, a sentence, and the figures as they were read."""

import math
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

PASSED, FAILED, NOT_CHECKED = "passed", "failed", "not checked"
Figures = Dict[str, Any]


class HostFinding(NamedTuple):
    """The outcome of one look. `figures` are what was read, `limits` what they are compared with, by name."""

    outcome: str
    text: str
    figures: Figures
    limits: Figures


class RunSite(NamedTuple):
    """Where a run is about to start.

    `folder` is a handle on its own folder, `files` names and sizes of what was filled in it, `wanted_bytes` what fio's
    files need beside those. `place` is where the folder lies (mount.place_of). `sleep` waits so many seconds and raises
    if the run is cancelled meanwhile. `state` is the agent's own folder, `probe_folder` that of the host's root probe.
    `is_shared`: other hosts' agents use the directory too, so that folders in it may be of their runs.
    """

    folder: int
    files: List[Tuple[str, int]]
    wanted_bytes: int
    place: Dict[str, Any]
    sleep: Callable[[float], None]
    state: str = ""
    probe_folder: str = ""
    is_shared: bool = False

    @property
    def path(self) -> str:
        return f"/proc/self/fd/{self.folder}"


def number(asked: Dict[str, Any], name: str, low: float, high: float) -> Optional[float]:
    """Return a number that the server asked for, kept within what makes sense here; None where it named none.

    Not a number is none: it compares with nothing, so that a wait of that length would never end, and no reading would
    exceed a limit of it.
    """
    value = asked.get(name)  # type: Any
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(min(value, high)):
        return None
    return float(min(max(value, low), high))


def limit(asked: Dict[str, Any], name: str, usual: float, low: float, high: float) -> float:
    """Return a limit that the server asked for, kept within what makes sense here; the usual one where it named none."""
    value = number(asked, name, low, high)
    return usual if value is None else value


def wait(seconds: float, sleep: Callable[[float], None]) -> float:
    """Sleep, and return how long that took by the monotonic clock."""
    begun = time.monotonic()
    sleep(seconds)
    return time.monotonic() - begun
