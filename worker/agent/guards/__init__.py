"""Guards: what shall hold on this host right before fio starts, and pauses before that. One module for each kind.

The offer names kinds and limits; what is looked at, and how, is in these modules alone. A required guard that fails is looked at again
until its time is up, and with it everything else once more, so that all of them hold at one time. Nothing has been started then.
"""

import itertools
import time
from typing import Any, Callable, Dict, List, NamedTuple

from . import (
    alone,
    arrays,
    filesystem,
    free_space,
    idle,
    old_files,
    page_cache,
    pause,
    queues_off,
    temperature,
    users_out,
)
from .evidence import FAILED, NOT_CHECKED, HostFinding, RunSite, limit

# In this order: a pause first, the longest look last but one, and the page cache right before fio.
MODULES = (
    pause, arrays, temperature, filesystem, free_space, old_files, users_out, queues_off, alone, idle, page_cache,
)  # fmt: skip
GUARDS: Dict[str, Callable[[Dict[str, Any], RunSite], HostFinding]] = {module.KIND: module.check for module in MODULES}
LABELS: Dict[str, str] = {module.KIND: module.LABEL for module in MODULES}
MOST_GUARDS = 20
LONGEST_WAIT_S = 7 * 86400.0
AGAIN_S, LONGEST_AGAIN_S = 5.0, 30.0  # from a look that failed to the next: at first, and after a while
ONCE = (pause.KIND,)
Evidence = Dict[str, Any]


class GuardRefusal(Exception):
    """A guard did not hold within its time: which, and what was found."""


def read_guards(value: Any) -> List[Dict[str, Any]]:
    """Return the guards of an offer, in the order in which they are looked at; older servers send none.

    Raises:
        ValueError: They are not written as docs/reference/agent-protocol.md has them.
    """
    guards = [] if value is None else value
    if type(guards) is not list or len(guards) > MOST_GUARDS:
        raise ValueError(f"guards: expected a list of at most {MOST_GUARDS}.")
    for guard in guards:
        if type(guard) is not dict or type(guard.get("guard")) is not str or len(guard["guard"]) > 40:
            raise ValueError("guards: expected objects with the name of a guard.")
    known = list(GUARDS)
    return sorted(guards, key=lambda guard: known.index(guard["guard"]) if guard["guard"] in known else -1)


class GuardWatch(NamedTuple):
    """One guard as the offer asks for it: how long the run may wait for it, and whether it has to."""

    asked: Dict[str, Any]
    limit_s: float
    is_required: bool


class GuardRound:
    """All guards of one attempt. `tell` is given the whole evidence whenever it has changed."""

    def __init__(self, asked: List[Dict[str, Any]], site: RunSite, tell: Callable[[List[Evidence]], None]) -> None:
        self.watches = [_watch(guard) for guard in asked]
        self.site, self.tell = site, tell
        self.evidence: List[Evidence] = [{} for _ in asked]
        self.since: Dict[int, float] = {}  # place → when it began to fail, by the monotonic clock
        self.waited: Dict[int, float] = {}
        self.tries = [0] * len(asked)

    def hold(self) -> None:
        """Return as soon as all required guards hold at one time.

        Raises:
            GuardRefusal: One of them did not hold within its time.
        """
        for number in itertools.count(1):
            failed: List[int] = []
            for place, watch in enumerate(self.watches):
                if failed and watch.asked["guard"] == page_cache.KIND:
                    continue  # it may drop the whole host's cache: once, when nothing else is waited for
                if self._look(place):
                    failed.append(place)
            self.tell([entry for entry in self.evidence if entry])
            if not failed:
                return
            self.site.sleep(min(number * AGAIN_S, LONGEST_AGAIN_S))

    def _look(self, place: int) -> bool:
        """Look at one guard and return whether the run has to wait for it."""
        watch = self.watches[place]
        kind = watch.asked["guard"]
        if kind in ONCE and self.tries[place]:
            return False
        begun = time.time()
        finding = look(kind, watch.asked, self.site)
        self.tries[place] += 1
        now = time.monotonic()
        has_to_wait = finding.outcome == FAILED and watch.is_required
        if has_to_wait:
            self.since.setdefault(place, now)
        elif place in self.since:
            self.waited[place] = self.waited.get(place, 0.0) + now - self.since.pop(place)
        waited = self.waited.get(place, 0.0) + (now - self.since[place] if has_to_wait else 0.0)
        self.evidence[place] = self._entry(watch, finding, begun, round(waited, 1), self.tries[place])
        if not has_to_wait:
            return False
        if now - self.since[place] >= watch.limit_s:
            self.evidence[place]["is_waiting"] = False
            self.tell([entry for entry in self.evidence if entry])
            raise GuardRefusal(
                f"guard {LABELS.get(kind, kind)} did not hold within {watch.limit_s:g} s: {finding.text}"
            )
        return True

    def _entry(self, watch: GuardWatch, finding: HostFinding, begun: float, waited: float, tries: int) -> Evidence:
        return {
            "guard": watch.asked["guard"],
            "purpose": str(watch.asked.get("purpose") or "")[:40],
            "outcome": finding.outcome,
            "text": finding.text,
            "figures": finding.figures,
            "limits": finding.limits,
            "is_required": watch.is_required,
            "checked_at": begun,
            "waited_s": waited,
            "limit_s": watch.limit_s,
            "tries": tries,
            "is_waiting": finding.outcome == FAILED and watch.is_required,
        }


def look(kind: str, asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Return what a guard finds; what it cannot look at is "not checked", with the reason."""
    check = GUARDS.get(kind)
    if check is None:
        return HostFinding(NOT_CHECKED, "this agent does not know this guard", {}, {})
    try:
        return check(asked, site)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:  # also of limits that make no sense
        return HostFinding(NOT_CHECKED, f"it could not be looked at: {error}", {}, {})


def _watch(guard: Dict[str, Any]) -> GuardWatch:
    return GuardWatch(guard, limit(guard, "wait_s", 0.0, 0.0, LONGEST_WAIT_S), guard.get("is_required") is not False)
