"""Who is told of a change, and in what words: once for each change, only for the worse, only for news."""

from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.comparison.trends.destinations import Delivery, Destination, Recipient
from apps.comparison.trends.models import ChangePoint, Watch
from apps.comparison.trends.shape import Drift, Trend
from apps.comparison.trends.words import interval, signed
from apps.comparison.words import operation_of
from apps.lib import units
from apps.lib.quantities import all_written


def notify(watch: Watch) -> list[Delivery]:
    """Deliveries for the changes of this watch that nobody has been told of. In the caller's transaction; the tasks
    start when it is on disk.
    """
    told = []
    for change in _untold(watch):
        if ChangePoint.objects.filter(pk=change.pk, notified_at=None).update(notified_at=timezone.now()):
            told += [_send(one, change_payload(change, watch), watch, change) for one in _recipients(watch)]
    return told


def tell_drift(watch: Watch, drift: Drift, found: Trend) -> list[Delivery]:
    """To everybody whom the watch tells; `drifting.py` says when."""
    return [_send(one, drift_payload(watch, drift, found), watch) for one in _recipients(watch)]


def send_test(destination: Destination, who: str, watch: Watch | None = None) -> Delivery:
    """Says that it is a test, and goes the same way as the others."""
    return _send(destination, test_payload(destination, who, watch), watch)


def _untold(watch: Watch) -> list[ChangePoint]:
    if not watch.is_active:
        return []
    worse = ChangePoint.objects.filter(watch=watch, is_backfill=False, notified_at=None).to_acknowledge()
    return [one for one in worse.select_related("run") if abs(one.size) >= watch.threshold]


def _recipients(watch: Watch) -> list[Destination]:
    chosen = Recipient.objects.filter(watch=watch, destination=OuterRef("pk"))
    return list(Destination.objects.filter(Exists(chosen), is_active=True))


def _send(
    destination: Destination, payload: dict[str, Any], watch: Watch | None, change: ChangePoint | None = None
) -> Delivery:
    from apps.comparison.trends.tasks import send_delivery

    made: Delivery = Delivery.objects.create(
        lab_id=destination.lab_id, destination=destination, watch=watch, change_point=change, payload=payload
    )
    send_delivery.delay_on_commit(made.pk)
    return made


def change_payload(change: ChangePoint, watch: Watch) -> dict[str, Any]:
    """Base units and fractions; `text` says the same for people."""
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


def drift_payload(watch: Watch, drift: Drift, found: Trend) -> dict[str, Any]:
    """Of the newest stretch, from its first run to its last: fractions and base units."""
    runs, level = found.newest_stretch, found.segments[-1].last
    newest = runs[-1]
    what = f"{watch.metric.label.lower()} of {operation_of(watch.question.operation)}"
    said = f"{signed(drift.total)} over {len(runs)} runs, now at {units.human(level, watch.metric.unit)}"
    return {
        "event": "drift",
        "text": f"{watch.name}: {what} becomes steadily {drift.direction}: {said}",
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


def test_payload(destination: Destination, who: str, watch: Watch | None) -> dict[str, Any]:
    of_what = f" of the watch “{watch}”" if watch else ""
    return {
        "event": "test",
        "text": f"A test{of_what}: {who} asked Spindle to write to “{destination}”. Nothing has changed.",
        "watch": _watch(watch) if watch else None,
    }


test_payload.__test__ = False  # type: ignore[attr-defined]  # it is no test of pytest's


def _watch(watch: Watch) -> dict[str, Any]:
    question = watch.question
    return {
        "id": watch.pk,
        "name": watch.name,
        "url": f"{settings.SITE_URL}{watch.get_absolute_url()}",
        "metric": question.metric,
        "operation": question.operation,
    }


def sentence(change: ChangePoint, watch: Watch) -> str:
    """`nightly: bandwidth of write became worse by −11.5 % (−12.6 % to −10.4 %), from 99.4 MB/s to 88.6 MB/s`."""
    unit, question = watch.metric.unit, watch.question
    what = f"{watch.metric.label.lower()} of {operation_of(question.operation)}"
    values = f"from {units.human(change.before, unit)} to {units.human(change.after, unit)}"
    size = f"{signed(change.size)} ({interval(change.size_low, change.size_high)})"
    return f"{watch.name}: {what} became {change.direction}: {size}, {values}"


def subject(payload: dict[str, Any]) -> str:
    """One line, whatever a watch is called."""
    name = (payload["watch"] or {}).get("name", "")
    if payload["event"] == "test":
        return "Spindle: test"
    if payload["event"] == "drift":
        return " ".join(f"Spindle: {name} drifts ({signed(payload['drift']['total'])})".split())
    size = signed(payload["change_point"]["ratio"] - 1)
    return " ".join(f"Spindle: {name} became {payload['change_point']['direction']} ({size})".split())


def letter(payload: dict[str, Any]) -> str:
    """The e-mail's text."""
    if payload["event"] == "test":
        return f"{payload['text']}\n"
    if payload["event"] == "drift":
        return _drift_letter(payload)
    found = payload["change_point"]
    facts = [f"  {one['label']}: {one['before']} → {one['after']}" for one in found["facts"]]
    caveats = [f"  {one}" for one in found["caveats"]]
    lines = [
        f"{payload['text']}.",
        "",
        f"First run after: {found['run_url']} ({found['at'][:16].replace('T', ' ')} UTC)",
        f"Runs: {found['runs_before']} before, {found['runs_after']} after.",
        "",
        "What changed with it:",
        *(facts or ["  No fact that Spindle knows of."]),
        "",
        "What speaks against it:",
        *(caveats or ["  Nothing that the rules found."]),
        "",
        f"Was it on purpose? Mark it, or acknowledge it: {payload['watch']['url']}",
        "",
    ]
    return "\n".join(lines)


def _drift_letter(payload: dict[str, Any]) -> str:
    found = payload["drift"]
    lines = [
        f"{payload['text']}.",
        "",
        f"From one run to the next: {signed(found['per_run'])}. Newest run: {found['last_run_url']}",
        "No single run began it: the values change by a little each time.",
        "",
        f"The chart: {payload['watch']['url']}",
        "",
    ]
    return "\n".join(lines)
