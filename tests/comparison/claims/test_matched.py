"""Claims about questions: the verdict follows from the answer with everything else held equal, and from nothing else."""

import math
from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest

from apps.comparison.claims.checks.definition import DefinitionError
from apps.comparison.claims.evaluation import evaluate, evaluate_study
from apps.comparison.claims.marks import marks
from apps.comparison.claims.matched.claimed_question import ClaimedQuestion, claimed_question_of
from apps.comparison.claims.matched.evaluation import confounders_of
from apps.comparison.claims.matched.stored_answer import answer_of, contrast_of, stored_of
from apps.comparison.claims.matched.verdict import verdict_of_contrast
from apps.comparison.claims.models import Claim
from apps.comparison.like_for_like.answers import answer_factor, judge
from apps.comparison.like_for_like.report import answer_pair
from apps.comparison.like_for_like.sentences import labels_of_strata, missing_words, reason
from apps.comparison.questions import BY_NAME
from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.runs.services import announce
from apps.runs.states import State
from apps.studies.models import Study
from tests.comparison.like_for_like.simulated_labs import SimulatedLab, factorial, interacting, old_machine
from tests.comparison.like_for_like.stored_labs import store

MEASURE = ("write", "bandwidth")
ASKED = {
    "factor": "raid_level", "level": "5", "against": "single", "operation": "write", "metric": "bandwidth",
    "direction": "higher",
}  # fmt: skip


def claimed(**fields: Any) -> ClaimedQuestion:
    return claimed_question_of({**ASKED, **fields})


def verdict_in(lab: SimulatedLab, **fields: Any) -> str:
    question = claimed(**fields)
    (answer,) = judge([answer_factor(question.rules, lab.groups(), MEASURE, against=question.against)])
    contrast = next((one for one in answer.contrasts if one.level == question.level), None)
    return verdict_of_contrast(question, contrast)


@pytest.fixture
def study(lab: Lab) -> Study:
    made: Study = Study.objects.create(lab=lab, slug="disks", title="Disks")
    return made


def write(study: Study, code: str = "Q1", **fields: Any) -> Claim:
    question = {**ASKED, **fields}
    claim = Claim.objects.create(
        study=study, code=code, statement="RAID 5 writes faster", kind="question", definition={"checks": []},
        question=question,
    )  # fmt: skip
    evaluate(claim)
    return claim


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({}, "supported"),  # truth: 2.2
        ({"direction": "lower"}, "contradicted"),
        ({"size": 1.8}, "supported"),
        ({"size": 3}, "contradicted"),
        ({"size": 2.2}, "not shown"),  # the interval has it inside
        ({"direction": "same"}, "contradicted"),
        ({"direction": "not_lower"}, "supported"),
        ({"direction": "not_higher"}, "contradicted"),
    ],
)
def test_the_interval_is_held_against_the_ratios_that_are_claimed(fields: dict[str, Any], verdict: str) -> None:
    assert verdict_in(old_machine(7), **fields) == verdict


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"direction": "higher"}, "not shown"),
        ({"direction": "lower"}, "not shown"),
        ({"direction": "higher", "size": 1.5}, "contradicted"),
        ({"direction": "same", "size": 0.2}, "supported"),
        ({"direction": "not_higher", "size": 0.2}, "supported"),
        ({"direction": "same", "size": 0.001}, "not shown"),
    ],
)
def test_no_difference_shown_is_no_equality(fields: dict[str, Any], verdict: str) -> None:
    """Truth: hardware RAID is as fast as software RAID; the pooled runs say 2.26 times."""
    asked = {"factor": "raid_implementation", "level": "software", "against": "hardware"}
    assert verdict_in(old_machine(7), **asked, **fields) == verdict


def test_without_matched_sets_there_is_no_verdict() -> None:
    lab = SimulatedLab(1)
    lab.add(5, host="old", raid_level="5", raid_implementation="hardware", filesystem="ext4")
    lab.add(5, host="new", raid_level="single", filesystem="ext4")
    assert verdict_in(lab) == "not checkable"


def test_sets_that_disagree_support_what_each_of_them_shows() -> None:
    asked = {"factor": "raid_implementation", "level": "hardware", "against": "software"}
    assert verdict_in(interacting(3), **asked) == "supported"  # 1.1, 2 and 4 times, by the cache
    assert verdict_in(interacting(3), **asked, size=1.5) == "partly"
    assert verdict_in(interacting(3), **asked, direction="lower") == "contradicted"
    mixed = interacting(3, {str(256 << 20): 0.5, str(1 << 30): 2.0})
    assert verdict_in(mixed, **asked) == "partly"


@pytest.mark.slow
def test_claims_of_no_effect_are_rarely_called_supported() -> None:
    """100 labs without an effect of the RAID implementation: a claim of either side is supported in at most 5 + 3 errors."""
    wrong = 0
    for seed in range(100):
        for direction in ("higher", "lower"):
            asked = {"factor": "raid_implementation", "level": "hardware", "against": "software"}
            wrong += verdict_in(factorial(seed, 5), **asked, direction=direction) == "supported"
    assert wrong <= 100 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 100))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"factor": "colour"}, "factor"), ({"operation": "fly"}, "operation"), ({"metric": "joy"}, "metric"),
        ({"against": "5"}, "against"), ({"level": ""}, "level"), ({"direction": "sideways"}, "question"),
        ({"size": 0.5}, "size"), ({"direction": "same", "size": 2}, "size"), ({"size": math.nan}, "size"),
        ({"hold": ["ram"], "ignore": ["ram"]}, "ignore"), ({"where": [{"name": "a b", "equals": ["x"]}]}, "where[0]"),
        ({"colour": "red"}, "question"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        claimed(**changed)
    assert caught.value.field == field


def test_the_answer_is_kept_whole(lab: Lab) -> None:
    """What is shown from the stored answer is what the question's page would show."""
    store(lab, old_machine(7))
    for name, level, against in (("raid_level", "5", "single"), ("filesystem", "btrfs", "ext4")):
        selection = claimed(factor=name, level=level, against=against).selection
        answer, contrast = answer_pair([lab.pk], name, selection, level)
        assert contrast is not None
        kept = contrast_of(stored_of(answer, contrast))
        assert kept is not None
        for field in ("ratio", "interval", "tau", "finding", "p_adjusted", "prediction", "dependence", "range"):
            assert getattr(kept, field) == getattr(contrast, field), field
        assert [one.interval for one in kept.effects] == [one.interval for one in contrast.effects]
        assert [one.n for one in kept.effects] == [one.n for one in contrast.effects]
        assert labels_of_strata(kept.effects) == labels_of_strata(contrast.effects)
        runs = [[one.stratum.sides[side].runs for side in (level, against)] for one in contrast.effects]
        assert [[one.stratum.sides[side].runs for side in (level, against)] for one in kept.effects] == runs


def test_a_claim_has_the_verdict_of_its_matched_sets(lab: Lab, study: Study) -> None:
    store(lab, old_machine(7))
    claim = write(study)
    assert claim.verdict == "supported"
    contrast = contrast_of(claim.computed["answer"])
    assert contrast is not None
    assert contrast.interval is not None
    assert contrast.interval[0] < 2.2 < contrast.interval[1]
    assert [change.after for change in claim.history.all()] == ["supported"]
    named = {(one["kind"], one["fact"]) for one in claim.confounders}
    assert {("implied", "disk_count"), ("implied", "raid_implementation"), ("not_recorded", "controller")} <= named
    assert "disks (4 / 1): implied by the factor" in claim.reservations


def test_confounders_are_told_in_units_and_what_no_side_knows_is_no_difference() -> None:
    claim = claimed(factor="raid_level", level="5", against="single")
    differs = {"chunk_size": [["65536"], ["none"]], "write_policy": [[], []], "controller": [["LSI"], []]}
    stored = {"contrast": None, "nowhere": []}
    with_sets = {**stored, "contrast": {"sets": [{"differs": differs, "unknown": []}]}}
    with mock.patch("apps.comparison.claims.matched.evaluation.contrast_of", return_value=None):
        found = {one["fact"]: (one["kind"], one["text"]) for one in confounders_of(claim, with_sets)}
    assert found == {
        "chunk_size": ("implied", "64\xa0KiB / none"), "controller": ("implied", "LSI / ?"), "write_policy": ("unknown", ""),
    }  # fmt: skip


def test_what_is_missing_is_kept_where_it_cannot_be_answered(lab: Lab, study: Study) -> None:
    store(lab, old_machine(7))
    claim = write(study, factor="kernel", level="6.1", against="2.6")
    assert claim.verdict == "not checkable"
    answer = answer_of(claim.computed["answer"])
    assert "differ in host" in reason(answer, BY_NAME["kernel"])
    assert missing_words(answer.missing[0], BY_NAME["kernel"]).startswith("3 runs of kernel")
    assert write(study, "Q2", level="6").problem.startswith("No run counts: level: found '6'")


def test_an_unchanged_answer_writes_nothing_and_a_new_run_does(lab: Lab, study: Study) -> None:
    runs = store(lab, old_machine(7))
    claim = write(study)
    assert evaluate_study(study) == 0
    for run in runs:
        if run.facts["raid_level"] == "5":
            run.samples.update(value=1e7)
    assert evaluate_study(study) == 1
    claim.refresh_from_db()
    assert claim.verdict == "contradicted"
    assert [(change.before, change.after) for change in claim.history.all()] == [
        ("supported", "contradicted"), ("", "supported"),
    ]  # fmt: skip
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(state=State.FAILED)
    evaluate_study(study)
    claim.refresh_from_db()
    assert claim.verdict == "not checkable"


@pytest.fixture
def requested(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    studies: list[int] = []
    monkeypatch.setattr("apps.comparison.claims.signals.request_evaluation", studies.append)
    return studies


def test_runs_outside_of_the_study_have_its_claims_evaluated_again(
    lab: Lab, study: Study, requested: list[int], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    runs = store(lab, old_machine(7))
    write(study)
    before = marks([study.pk])
    with django_capture_on_commit_callbacks(execute=True):
        announce(lab.pk, [runs[0].pk])
    assert requested == [study.pk]
    runs[0].facts |= {"cable": "new"}
    runs[0].save()
    assert marks([study.pk]) != before


def test_published_runs_count_where_the_claim_adds_them(
    lab: Lab, study: Study, requested: list[int], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    paper = Lab.objects.create(name="Published", slug="published", is_published=True)
    with lab_scope(paper.pk):
        runs = store(paper, old_machine(7))
    assert write(study).verdict == "not checkable"
    assert write(study, "Q2", published=True).verdict == "supported"
    with django_capture_on_commit_callbacks(execute=True):
        announce(paper.pk, [runs[0].pk])
    assert requested == [study.pk]


def test_another_labs_runs_never_count(cast: Any, lab: Lab, study: Study) -> None:
    with lab_scope(cast.other_lab.pk):
        store(cast.other_lab, old_machine(7))
    assert write(study, published=True).verdict == "not checkable"


def test_a_renamed_host_takes_its_claims_along(lab: Lab, study: Study) -> None:
    store(lab, old_machine(7))
    claim = write(study, where=[{"name": "host", "equals": ["new"]}])
    hosts = write(study, "Q2", factor="host", level="new", against="old")
    before = claim.computed
    Host.objects.filter(name="new").update(name="bench")
    assert claim.claimed.where[0].equals == ["bench"]
    assert hosts.claimed.level == "bench"
    evaluate_study(study)
    claim.refresh_from_db()
    assert claim.verdict == "supported"
    assert contrast_of(claim.computed["answer"]).ratio == pytest.approx(contrast_of(before["answer"]).ratio)  # type: ignore[union-attr]


def test_the_history_keeps_the_numbers_without_the_runs(lab: Lab, study: Study) -> None:
    store(lab, old_machine(7))
    claim = write(study)
    kept = claim.history.get().computed["answer"]["contrast"]
    assert kept["sets"] == []
    assert kept["combination"] == claim.computed["answer"]["contrast"]["combination"]
