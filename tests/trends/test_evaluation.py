"""Looking at a watch: change points as rows, told once, only for the worse, only news; and when it is looked at."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.inventory.models import Snapshot, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.notifications.messages import subject, text
from apps.notifications.models import Delivery
from apps.runs.models import Run
from apps.runs.services import announce
from apps.trends.evaluation import against, evaluate, trend_of
from apps.trends.models import DEBOUNCE, ChangePoint, TrendMark, Watch
from apps.trends.queries import MOST_RUNS, measured
from apps.trends.services import NoTargetError, mark, unmark
from apps.trends.signals import call_watches
from apps.trends.tasks import evaluate_watch, look_at_all, sweep_trends
from tests.comparison.factories import MIB, run, sample
from tests.conftest import Cast
from tests.trends.nights import QUERY, destination, measured_nights, noise, watch

Asserting = Callable[..., Any]
LEVEL = 4e8
CONTENT: dict[str, Any] = {"format": 1, "target": {}, "filesystem": None, "storage": None}
NOW_ON = timedelta(minutes=1)


def worse(lab: Lab, nights: int = 5, size: float = -0.12, **facts: Any) -> list[Run]:
    return measured_nights(lab, LEVEL * (1 + size) * noise(nights, seed=8), **facts)


def before(lab: Lab, nights: int = 60, ago: int = 5, **facts: Any) -> list[Run]:
    until = timezone.now() - timedelta(days=ago, minutes=1)
    return measured_nights(lab, LEVEL * noise(nights, seed=7), until=until, **facts)


def caveats_of(lab: Lab) -> list[str]:
    trend = trend_of(watch(lab))
    [change] = trend.changes
    return against(change, trend)


def test_a_change_says_what_the_runs_behind_it_have_that_those_before_it_have_not(lab: Lab) -> None:
    before(lab)
    worse(lab, load_before=3.5)
    [sentence] = [text for text in caveats_of(lab) if text.startswith("Since the change, ")]
    assert "load average 3.50 before the run > 0.5" in sentence
    assert not any(text.startswith("Before the change") for text in caveats_of(lab))


def test_what_only_the_runs_before_a_change_have_is_said_too_and_what_both_have_is_not(lab: Lab) -> None:
    before(lab, load_before=3.5, network_before=5e6)
    worse(lab)
    [sentence] = [text for text in caveats_of(lab) if text.startswith("Before the change, ")]
    assert "load average 3.50 before the run > 0.5" in sentence
    Run.objects.update(facts={"ram": 1024**3, "sync": "direct", "load_before": 3.5})
    assert not any(text.startswith(("Before the change", "Since the change")) for text in caveats_of(lab))


def test_few_runs_since_a_change_and_a_gap_before_it_are_said(lab: Lab) -> None:
    before(lab, ago=30)
    worse(lab, nights=4, size=-0.3)
    sentences = caveats_of(lab)
    assert "Only 4 runs since the change." in sentences
    [gap] = [text for text in sentences if text.startswith("No runs for ")]
    assert gap == "No runs for 27 days before it, so it may have happened at any time in between."


def test_runs_are_loaded_in_the_order_of_time_with_the_median_of_each(
    lab: Lab, django_assert_num_queries: Asserting
) -> None:
    later = measured_nights(lab, [3e8, 4e8], section_values=3)
    earlier = measured_nights(lab, [1e8], until=timezone.now() - timedelta(days=9))
    measured_nights(lab, [9e9], host="beta")
    sample(run(lab), 7e8, file_size=MIB)
    made = watch(lab)
    with django_assert_num_queries(6):  # one of them: what its watch names is called now
        found = measured(made.question, lab.pk)
    assert [(one.run, one.value) for one in found][:3] == [(earlier[0].pk, 1e8), (later[0].pk, 3e8), (later[1].pk, 4e8)]
    assert found[0].facts["sync"] == "direct"


def test_a_narrower_question_leaves_its_point_and_facts_only(lab: Lab) -> None:
    measured_nights(lab, [1e8, 2e8])
    kept = measured_nights(lab, [3e8], kernel="6.12")
    sample(kept[0], 9e8, file_size=MIB, block_size=MIB, threads=1, iodepth=16)
    question = watch(lab, query=f"{QUERY}&kernel=6.12&file_size={4 * 1024**3}").question
    assert [one.value for one in measured(question, lab.pk)] == [3e8]


def test_only_the_newest_500_runs_are_looked_at(lab: Lab) -> None:
    runs = measured_nights(lab, [1e8] * (MOST_RUNS + 20))
    found = measured(watch(lab).question, lab.pk)
    assert [found[0].run, found[-1].run, len(found)] == [runs[20].pk, runs[-1].pk, MOST_RUNS]


def test_a_change_in_the_data_when_the_watch_is_made_tells_nobody(lab: Lab) -> None:
    before(lab)
    worse(lab)
    made = watch(lab, destination(lab))
    evaluate(made)
    (change,) = made.change_points.all()
    assert change.is_backfill
    assert not Delivery.objects.exists()


def test_a_new_change_for_the_worse_is_told_once_to_each_recipient(lab: Lab, published: list[Any]) -> None:
    snapshots = [
        Snapshot.objects.create(lab=lab, sha256=str(n) * 64, content={**CONTENT, "host": {"bios": bios}}, facts={})
        for n, bios in enumerate(["F1", "F2"])
    ]
    before(lab, kernel="6.1", snapshot=snapshots[0])
    made = watch(lab, destination(lab), destination(lab, "webhook", "https://hooks.example.org/", secret="s"))
    destination(lab, address="other@example.org")
    evaluate(made)
    runs = worse(lab, kernel="6.12", snapshot=snapshots[1])
    evaluate(made)
    (change,) = made.change_points.all()
    assert (change.run_id, change.direction, change.is_backfill) == (runs[0].pk, "worse", False)
    assert change.size == pytest.approx(-0.15, abs=0.01), "five nights that happen to be slow beside that"
    assert [(one["label"], one["before"], one["after"]) for one in change.facts] == [
        ("kernel", "6.1", "6.12"),
        ("host bios", "F1", "F2"),
    ]
    assert change.notified_at is not None
    told = list(Delivery.objects.order_by("id"))
    assert {one.destination.kind for one in told} == {"email", "webhook"}
    assert told[0].payload["change_point"]["ratio"] == pytest.approx(change.ratio)
    assert told[0].payload["text"].startswith("nightly: bandwidth of write became worse: −1")
    for _ in range(3):
        evaluate(made)
    measured_nights(lab, [LEVEL * 0.88], until=timezone.now())
    evaluate(made)
    assert Delivery.objects.count() == 2
    assert ChangePoint.objects.count() == 1


def test_what_speaks_against_a_change_is_told_with_it(lab: Lab) -> None:
    before(lab, ago=12)
    made = watch(lab, destination(lab))
    evaluate(made)
    worse(lab, nights=3)
    evaluate(made)
    said = made.change_points.get().caveats
    assert "Only 3 runs since the change." in said
    assert "No runs for 10 days before it, so it may have happened at any time in between." in said
    assert Delivery.objects.get().payload["change_point"]["caveats"] == said


@pytest.mark.parametrize(
    ("size", "fields"), [(0.12, {}), (-0.12, {"threshold": 0.3}), (-0.12, {"is_active": False})],
    ids=["for the better", "smaller than wanted", "of a paused watch"],
)  # fmt: skip
def test_nobody_is_told_of_a_change(lab: Lab, size: float, fields: dict[str, Any]) -> None:
    before(lab)
    made = watch(lab, destination(lab), **fields)
    evaluate(made)
    worse(lab, size=size)
    evaluate(made)
    assert made.change_points.count() == 1
    assert not Delivery.objects.exists()


def test_loading_years_of_old_results_tells_nobody(lab: Lab) -> None:
    before(lab, ago=0)
    made = watch(lab, destination(lab))
    evaluate(made)
    for number in range(6):
        until = timezone.now() - timedelta(days=100 + 40 * number)
        measured_nights(lab, LEVEL * (0.5 + 0.4 * (number % 2)) * noise(40, number), until=until)
    evaluate(made)
    assert made.change_points.filter(is_backfill=True).count() >= 5
    assert not Delivery.objects.exists()


def test_old_results_that_say_no_date_tell_nobody_either(lab: Lab) -> None:
    measured_nights(lab, LEVEL * noise(30, 1), is_dated=False)
    made = watch(lab, destination(lab))
    evaluate(made)
    measured_nights(lab, LEVEL * 0.8 * noise(40, 2), is_dated=False)
    evaluate(made)
    assert made.change_points.get().is_backfill
    measured_nights(lab, LEVEL * 0.6 * noise(4, 3), is_dated=False)
    evaluate(made)
    assert made.change_points.first().is_backfill is False
    assert Delivery.objects.count() == 1


def test_more_runs_may_move_a_change_and_it_stays_the_same_row(lab: Lab) -> None:
    before(lab)
    made = watch(lab, destination(lab))
    evaluate(made)
    runs = worse(lab)
    evaluate(made)
    row = made.change_points.get()
    ChangePoint.objects.filter(pk=row.pk).update(run=runs[2], acknowledged_by="somebody")
    evaluate(made)
    again = made.change_points.get()
    assert (again.pk, again.run_id, again.acknowledged_by) == (row.pk, runs[0].pk, "somebody")


def test_what_the_data_no_longer_show_is_withdrawn(lab: Lab) -> None:
    before(lab)
    made = watch(lab)
    evaluate(made)
    runs = worse(lab)
    evaluate(made)
    assert made.change_points.standing().count() == 1
    Run.objects.filter(pk__in=[one.pk for one in runs[1:]]).update(state="failed")
    evaluate(made)
    assert made.change_points.standing().count() == 0
    assert made.change_points.get().withdrawn_at is not None


def test_a_mark_on_purpose_ends_the_alarm_and_its_removal_brings_it_back_untold(lab: Lab) -> None:
    before(lab)
    made = watch(lab, destination(lab))
    evaluate(made)
    runs = worse(lab)
    evaluate(made)
    put = mark(made, runs[0].finished_at, "new kernel", "who", run=runs[0])
    assert made.change_points.standing().count() == 0
    unmark(put, "who")
    assert made.change_points.standing().count() == 1
    assert Delivery.objects.count() == 1


def test_a_mark_before_the_news_keeps_it_from_being_told(lab: Lab) -> None:
    before(lab)
    made = watch(lab, destination(lab))
    evaluate(made)
    mark(made, timezone.now() - timedelta(days=4, hours=12), "new disks", "who")
    worse(lab)
    evaluate(made)
    assert not made.change_points.exists()


def test_a_mark_on_the_target_counts_for_all_its_watches(lab: Lab) -> None:
    before(lab)
    runs = worse(lab)
    made, other = watch(lab), watch(lab, name="the same again")
    for one in (made, other):
        evaluate(one)
    put = mark(made, runs[0].finished_at, "new disks", "who", run=runs[0], everywhere=True)
    assert put.target == Target.objects.get()
    assert Watch.objects.get(pk=other.pk).due_at is not None
    evaluate(other)
    assert not ChangePoint.objects.standing().exists()


def test_a_mark_for_a_target_needs_one(lab: Lab) -> None:
    runs = before(lab)
    Run.objects.update(target=None)
    with pytest.raises(NoTargetError, match="on no target"):
        mark(watch(lab), runs[0].finished_at, "x", "who", everywhere=True)
    assert not TrendMark.objects.exists()


def test_looking_costs_a_constant_number_of_statements(lab: Lab, django_assert_max_num_queries: Asserting) -> None:
    before(lab, nights=30)
    made = watch(lab)
    with django_assert_max_num_queries(8):
        trend_of(made)
    evaluate(made)
    with django_assert_max_num_queries(17):
        evaluate(made)
    before(lab, nights=200)
    with django_assert_max_num_queries(8):
        trend_of(made)
    with django_assert_max_num_queries(17):
        evaluate(made)


def test_arriving_runs_call_the_watches_that_they_answer_once(lab: Lab, published: list[Any]) -> None:
    runs = before(lab, nights=2)
    made, other = watch(lab), watch(lab, query=QUERY.replace("alpha", "beta"))
    paused = watch(lab, is_active=False)
    for _ in range(3):
        call_watches(None, lab.pk, [one.pk for one in runs])
    assert published == [("trends.evaluate_watch", made.pk)]
    assert Watch.objects.get(pk=made.pk).due_at is not None
    assert {Watch.objects.get(pk=one.pk).due_at for one in (other, paused)} == {None}


def test_runs_are_announced_when_their_transaction_is_on_disk(
    lab: Lab, published: list[Any], django_capture_on_commit_callbacks: Asserting
) -> None:
    runs = before(lab, nights=2)
    made = watch(lab)
    with django_capture_on_commit_callbacks(execute=True):
        announce(lab.pk, [one.pk for one in runs])
        assert not published
    assert published == [("trends.evaluate_watch", made.pk)]


def test_a_due_watch_is_looked_at_by_one_worker_and_then_waits(lab: Lab) -> None:
    before(lab)
    made = watch(lab, due_at=timezone.now() - NOW_ON)
    assert evaluate_watch(made.pk) == "done"
    assert evaluate_watch(made.pk) == "nothing to do"
    again = Watch.objects.get()
    assert (again.due_at, again.summary["runs"], again.summary["missing"]) == (None, 60, 0)
    assert again.evaluated_at is not None
    assert evaluate_watch(999_999) == "nothing to do"


def test_runs_that_arrive_while_it_is_looked_at_make_it_due_again(lab: Lab) -> None:
    made = watch(lab, due_at=timezone.now() - NOW_ON)
    lease = made.claim()
    assert lease is not None
    assert made.claim() is None
    assert Watch.objects.call(timezone.now()) == 1
    made.done(lease)
    due = Watch.objects.get().due_at
    assert due is not None
    assert due <= timezone.now() + DEBOUNCE


def test_the_sweeper_publishes_what_is_due_and_every_night_all_are(lab: Lab, published: list[Any]) -> None:
    made = watch(lab, due_at=timezone.now() - NOW_ON)
    idle = watch(lab, name="idle")
    assert sweep_trends() == 1
    assert published == [("trends.evaluate_watch", made.pk)]
    assert look_at_all() == 1  # the other one is due already
    assert Watch.objects.get(pk=idle.pk).due_at is not None


def test_a_question_that_can_not_be_asked_any_more_is_said_and_not_repeated(lab: Lab) -> None:
    made = watch(lab, query="metric=gone", due_at=timezone.now() - NOW_ON)
    assert evaluate_watch(made.pk).startswith("cannot be asked: metric: found 'gone'")
    assert Watch.objects.get().due_at is None


def test_another_labs_runs_are_none_of_its_own(cast: Cast) -> None:
    with lab_scope(cast.other_lab.pk):
        measured_nights(cast.other_lab, [1e8] * 3)
    with lab_scope(cast.lab.pk, cast.other_lab.pk):
        ours = measured_nights(cast.lab, [2e8])
        assert [one.run for one in measured(watch(cast.lab).question, cast.lab.pk)] == [ours[0].pk]


def slower(lab: Lab, per_night: float = 0.998, nights: int = 60, ago: int = 0) -> list[Run]:
    until = timezone.now() - timedelta(days=ago, minutes=1)
    return measured_nights(
        lab, [LEVEL * per_night**night for night in range(nights)] * noise(nights, 9, 0.005), until=until
    )


def test_a_drift_for_the_worse_is_told_once_and_again_when_it_begins_anew(lab: Lab) -> None:
    measured_nights(lab, LEVEL * noise(15, 3, 0.005), until=timezone.now() - timedelta(days=61))
    made = watch(lab, destination(lab), destination(lab, "webhook", "https://hooks.example.org/", secret="s"))
    evaluate(made)
    slower(lab)
    for _ in range(3):
        drift = evaluate(made).drift
    assert drift is not None
    told = [one for one in Delivery.objects.all() if one.payload["event"] == "drift"]
    assert {one.destination.kind for one in told} == {"email", "webhook"}
    said = told[0].payload
    assert said["drift"]["total"] == pytest.approx(drift.total)
    assert said["drift"]["runs"] == 75
    assert said["text"].startswith("nightly: bandwidth of write becomes steadily worse: −1")
    assert subject(said).startswith("Spindle: nightly drifts (−1")
    assert "No single run began it" in text(said)
    mark(made, timezone.now(), "new disks", "who")
    measured_nights(lab, LEVEL * noise(12, 4, 0.005), until=timezone.now() + timedelta(days=12))
    evaluate(made)
    made.refresh_from_db()
    assert made.drift_told_at is None


def test_a_drift_that_was_there_before_the_watch_or_is_for_the_better_tells_nobody(lab: Lab) -> None:
    slower(lab)
    made = watch(lab, destination(lab))
    assert evaluate(made).drift is not None
    evaluate(made)
    made.refresh_from_db()
    assert made.drift_told_at is not None
    assert not Delivery.objects.exists()


def test_a_drift_of_last_year_and_one_for_the_better_tell_nobody(lab: Lab) -> None:
    old = watch(lab, destination(lab))
    evaluate(old)
    slower(lab, ago=300)
    assert evaluate(old).drift is not None
    better = watch(lab, destination(lab, address="other@example.org"), query=QUERY.replace("alpha", "beta"))
    evaluate(better)
    values = [LEVEL * 1.002**night for night in range(60)] * noise(60, 9, 0.005)
    measured_nights(lab, values, host="beta")
    found = evaluate(better)
    assert found.drift is not None
    assert found.drift.direction == "better"
    assert not Delivery.objects.exists()
