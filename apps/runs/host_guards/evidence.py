"""What the guards of a run found on its host, as pages, REST and plans show it: what was asked for, with the answer.

A host whose agent is too old sends no answer. Then nothing was checked there, and the entry says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from apps.runs.host_guards import BY_KIND
from apps.runs.host_guards.labels import label_guard
from apps.runs.models import Attempt, Run
from apps.runs.states import ENDED, State

PASSED, FAILED, NOT_CHECKED = "passed", "failed", "not checked"
TOO_OLD = "not checked on the host: its agent{} is too old for it"
NOT_REACHED = "not checked: the run ended before"
BEFORE = "before"  # the phase of evidence that was measured right before fio's start
Evidence = dict[str, Any]


def evidence_of(run: Run, attempts: Sequence[Attempt]) -> list[Evidence]:
    """Return one entry for each guard that the run asks for and that the host answered, or that it will not answer.

    Args:
        attempts: Those of the run, oldest first; the newest with an answer counts.
    """
    answered: list[Mapping[str, Any]] = next((attempt.guards for attempt in reversed(attempts) if attempt.guards), [])
    entries = [entry_of(answer) for answer in answered]
    if run.state not in ENDED:
        return entries
    known = {(entry["guard"], entry["purpose"]) for entry in entries}
    started = any(attempt.started_at for attempt in attempts)
    reason = _too_old(run) if started and not answered else NOT_REACHED
    for asked in run.guards:
        if (asked["guard"], asked.get("purpose", "")) not in known:
            entries.append(_unanswered(asked, reason))
    return entries


def entry_of(answer: Mapping[str, Any]) -> Evidence:
    """Return the evidence of one guard from what its host sent (`apps.agents.fields.evidence_of`)."""
    guard = BY_KIND.get(answer["guard"])
    described = guard.describe(answer["figures"], answer["limits"]) if guard and guard.describe else ""
    at = datetime.fromtimestamp(answer["checked_at"], UTC).isoformat(timespec="seconds")
    return {
        **answer, "text": described or answer["text"], "label": label_guard(answer["guard"]),
        "source": "host", "phase": BEFORE, "checked_at": at,
    }  # fmt: skip


def _unanswered(asked: Mapping[str, Any], reason: str) -> Evidence:
    return {
        "guard": asked["guard"], "purpose": asked.get("purpose", ""), "label": label_guard(asked["guard"]),
        "outcome": NOT_CHECKED, "text": reason, "figures": {}, "limits": {}, "source": "host", "phase": BEFORE,
        "is_required": asked.get("is_required", True), "checked_at": "", "waited_s": 0.0,
        "limit_s": asked.get("wait_s", 0), "tries": 0, "is_waiting": False,
    }  # fmt: skip


def _too_old(run: Run) -> str:
    agent = getattr(run.host, "agent", None)
    return TOO_OLD.format(f", version {agent.version}," if agent and agent.version else "")


def waiting_entry(evidence: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the first guard for which a run waits now, or None."""
    return next((entry for entry in evidence if entry.get("is_waiting")), None)


def refusing_entry(attempts: Iterable[Attempt]) -> Evidence | None:
    """Return the guard because of which the newest attempt was refused before anything was started, or None."""
    newest = max(attempts, key=lambda attempt: attempt.number, default=None)
    if newest is None or newest.state != State.FAILED or newest.started_at:
        return None
    failed = (answer for answer in newest.guards if answer["outcome"] == FAILED and answer["is_required"])
    return next(map(entry_of, failed), None)


def describe_wait(entry: Mapping[str, Any]) -> str:
    """Return for which guard a run waits and what was found, in one sentence with quantities."""
    return (
        f"guard {label_guard(entry['guard'])}: {entry['text']}. "
        f"It has waited for {entry['waited_s']:.0f} s, at most {entry['limit_s']:.0f} s"
    )
