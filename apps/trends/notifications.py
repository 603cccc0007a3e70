"""Notifications of changes and drifts: who gets one, and its payload and text."""

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.comparison.labels import operation_of
from apps.core import units
from apps.core.quantities import all_written
from apps.notifications.messages import Payload
from apps.notifications.models import Delivery, Destination
from apps.notifications.services import send, send_test
from apps.trends.models import ChangePoint, Recipient, Watch
from apps.trends.types import Drift, Trend
from apps.trends.words import interval, signed


def notify(watch: Watch) -> list[Delivery]:
    """Create deliveries for the changes of this watch that have not been notified.

    This happens in the caller's transaction; the tasks start when it is committed.
    """
    deliveries = []
    for change in _untold(watch):
        if ChangePoint.objects.filter(pk=change.pk, notified_at=None).update(notified_at=timezone.now()):
            deliveries += [
                send(recipient, change_payload(change, watch), watch, change) for recipient in _recipients(watch)
            ]
    return deliveries


def tell_drift(watch: Watch, drift: Drift, trend: Trend) -> list[Delivery]:
    """Send a drift to all recipients of the watch; `evaluation.untold_drift` decides when."""
    return [send(recipient, drift_payload(watch, drift, trend), watch) for recipient in _recipients(watch)]


def send_test_of(watch: Watch, destination: Destination, actor: str) -> Delivery:
    """Send a test message about a watch. Raises `TooManyMessagesError`."""
    return send_test(destination, actor, f" of the watch “{watch}”", watch, _watch(watch))


def _untold(watch: Watch) -> list[ChangePoint]:
    if not watch.is_active:
        return []
    worse = ChangePoint.objects.filter(watch=watch, is_backfill=False, notified_at=None).to_acknowledge()
    return [change for change in worse.select_related("run") if abs(change.size) >= watch.threshold]


def _recipients(watch: Watch) -> list[Destination]:
    chosen = Recipient.objects.filter(watch=watch, destination=OuterRef("pk"))
    return list(Destination.objects.filter(Exists(chosen), is_active=True))


def change_payload(change: ChangePoint, watch: Watch) -> dict[str, object]:
    """Return the payload of a change in base units and fractions; `text` is the same for people."""
    return {
        "event": "change-point",
        "text": sentence(change, watch),
        "watch": _watch(watch),
        "change_point": {
            "id": change.pk,
            "direction": change.direction,
            "run": change.run_id,
            "run_url": f"{settings.SITE_URL}/runs/{change.run_id}/",
            "run_before": change.run_before_id,
            "at": change.at.isoformat(),
            "ratio": change.ratio,
            "ratio_low": change.low,
            "ratio_high": change.high,
            "before": change.before,
            "after": change.after,
            "unit": watch.metric.unit,
            "runs_before": change.n_before,
            "runs_after": change.n_after,
            "facts": change.facts,
            "caveats": list(all_written(change.caveats)),
        },
    }


def drift_payload(watch: Watch, drift: Drift, trend: Trend) -> dict[str, object]:
    """Return the payload of a drift over the newest stretch of runs, in fractions and base units."""
    runs, level = trend.newest_stretch, trend.segments[-1].last
    newest = runs[-1]
    what = f"{watch.metric.label.lower()} of {operation_of(watch.asked.operation)}"
    text = f"{signed(drift.total)} over {len(runs)} runs, now at {units.human(level, watch.metric.unit)}"
    return {
        "event": "drift",
        "text": f"{watch.name}: {what} becomes steadily {drift.direction}: {text}",
        "watch": _watch(watch),
        "drift": {
            "direction": drift.direction,
            "per_run": drift.per_run,
            "total": drift.total,
            "runs": len(runs),
            "level": level,
            "unit": watch.metric.unit,
            "first_run": runs[0].run,
            "last_run": newest.run,
            "last_run_url": f"{settings.SITE_URL}/runs/{newest.run}/",
        },
    }


def _watch(watch: Watch) -> dict[str, object]:
    question = watch.asked
    return {
        "id": watch.pk,
        "name": watch.name,
        "url": f"{settings.SITE_URL}{watch.get_absolute_url()}",
        "metric": question.metric,
        "operation": question.operation,
    }


def sentence(change: ChangePoint, watch: Watch) -> str:
    """Return a change as a sentence.

    For example `nightly: bandwidth of write became worse by −11.5 % (−12.6 % to −10.4 %), from 99.4 MB/s to 88.6
    MB/s`.
    """
    unit, question = watch.metric.unit, watch.asked
    what = f"{watch.metric.label.lower()} of {operation_of(question.operation)}"
    values = f"from {units.human(change.before, unit)} to {units.human(change.after, unit)}"
    size = f"{signed(change.size)} ({interval(change.size_low, change.size_high)})"
    return f"{watch.name}: {what} became {change.direction}: {size}, {values}"


def change_subject(payload: Payload) -> str:
    """Return the subject of an e-mail about a change."""
    size = signed(payload["change_point"]["ratio"] - 1)
    return f"Spindle: {payload['watch']['name']} became {payload['change_point']['direction']} ({size})"


def change_text(payload: Payload) -> str:
    """Return the text of an e-mail about a change."""
    change = payload["change_point"]
    facts = [f"  {fact['label']}: {fact['before']} → {fact['after']}" for fact in change["facts"]]
    caveats = [f"  {caveat}" for caveat in change["caveats"]]
    lines = [
        f"{payload['text']}.",
        "",
        f"First run after: {change['run_url']} ({change['at'][:16].replace('T', ' ')} UTC)",
        f"Runs: {change['runs_before']} before, {change['runs_after']} after.",
        "",
        "Changed facts:",
        *(facts or ["  No known fact."]),
        "",
        "Caveats:",
        *(caveats or ["  None."]),
        "",
        f"Planned? Mark it, or acknowledge it: {payload['watch']['url']}",
        "",
    ]
    return "\n".join(lines)


def drift_subject(payload: Payload) -> str:
    """Return the subject of an e-mail about a drift."""
    return f"Spindle: {payload['watch']['name']} drifts ({signed(payload['drift']['total'])})"


def drift_text(payload: Payload) -> str:
    """Return the text of an e-mail about a drift."""
    drift = payload["drift"]
    lines = [
        f"{payload['text']}.",
        "",
        f"From one run to the next: {signed(drift['per_run'])}. Newest run: {drift['last_run_url']}",
        "No single run began it: the values change by a little each time.",
        "",
        f"The chart: {payload['watch']['url']}",
        "",
    ]
    return "\n".join(lines)
