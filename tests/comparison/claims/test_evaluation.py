"""Verdicts follow the data: when they change they are evaluated again, when they do not nothing is written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import DjangoAssertNumQueries

from apps.comparison.claims import marks, readings
from apps.comparison.claims.checks.definition import DefinitionError
from apps.comparison.claims.evaluation import evaluate_study
from apps.comparison.claims.models import Claim, VerdictChange
from apps.comparison.claims.report import import_claims
from apps.comparison.claims.tasks import evaluate_claims, sweep_claims
from apps.core.quantities import written
from apps.dashboard.published.load import load_study
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Lab
from apps.runs.models import Provenance, Run, Sample
from apps.runs.services import announce
from apps.studies.models import Study, StudyRun
from apps.studies.source import DATA
from tests.comparison.claims.conftest import make_claim, make_study
from tests.comparison.claims.test_reports import COUNTED, WRITTEN
from tests.comparison.factories import MIB, run, sample
from tests.conftest import Cast

SLUG = "crs4-sata-scsi"


@pytest.fixture
def report(lab: Lab, tmp_path: Path, settings: Any) -> Study:
    settings.ARTEFACT_DIR = tmp_path
    load_study(SLUG, lab)
    found: Study = Study.objects.get(slug=SLUG)
    return found


def text() -> str:
    return (DATA / SLUG / "claims.yaml").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_loaded_report_has_the_verdicts_and_doubts_that_its_files_have(report: Study) -> None:
    said = import_claims(report, text())
    assert said[0] == "claim C01: made"
    found = {claim.code: claim for claim in Claim.objects.of_study(report)}
    assert {code: claim.verdict for code, claim in found.items()} == {c.code: c.expected for c in WRITTEN[SLUG]}
    assert (
        tuple(Claim.objects.of_study(report).verdicts().values()) == (11, 2, 4) == tuple(n for n in COUNTED[SLUG] if n)
    )
    assert {code: len(claim.overturned_by) for code, claim in found.items() if claim.overturned_by} == {
        "C03": 1, "C04": 2, "C09": 1,
    }  # fmt: skip
    (doubt,) = found["C09"].overturned_by
    turned = Sample.objects.select_related("run", "provenance").get(pk=doubt["sample"])
    assert (turned.run_id, turned.value, turned.provenance.alternatives) == (doubt["run"], 59500 * 1024, [29500 * 1024])


@pytest.mark.slow
def test_putting_claims_again_changes_nothing(report: Study) -> None:
    import_claims(report, text())
    before = list(Claim.objects.order_by("pk").values()), list(VerdictChange.objects.order_by("pk").values())
    assert import_claims(report, text()) == []
    assert (list(Claim.objects.order_by("pk").values()), list(VerdictChange.objects.order_by("pk").values())) == before


def test_what_a_new_file_says_replaces_the_old_and_peoples_claims_stay(lab: Lab) -> None:
    study = make_study(lab)
    make_claim(study, "own")
    import_claims(study, "{study: paper, claims: [{id: P1, statement: a, checks: [{kind: not_checkable, reason: plots}]}, "
                      "{id: P2, statement: b, checks: [{kind: not_checkable, reason: plots}]}]}")  # fmt: skip
    said = import_claims(
        study, "{study: paper, claims: [{id: P2, statement: c, checks: [{kind: not_checkable, reason: lost}]}]}"
    )
    assert said == ["claim P2: changed position, statement, definition", "claim P1: taken away"]
    assert set(Claim.objects.values_list("code", "statement")) == {("own", "the stripe is ahead"), ("P2", "c")}


def test_a_file_that_is_wrong_changes_nothing(lab: Lab) -> None:
    study = make_study(lab)
    with pytest.raises(DefinitionError, match=r"P1: checks\[0\].reason"):
        import_claims(study, "{study: paper, claims: [{id: P1, statement: a, checks: [{kind: not_checkable}]}]}")
    assert not Claim.objects.exists()


def test_unchanged_data_write_nothing(lab: Lab, study: Study, claim: Claim) -> None:
    assert (claim.verdict, claim.history.count()) == ("supported", 1)
    assert evaluate_study(study) == 0
    assert Claim.objects.get(pk=claim.pk).evaluated_at == claim.evaluated_at
    assert claim.history.count() == 1


def test_another_value_turns_the_verdict_and_the_history_says_from_what_to_what(
    lab: Lab, study: Study, claim: Claim
) -> None:
    Sample.objects.filter(value=1.2e8).update(value=5e7)
    assert evaluate_study(study) == 1
    found = Claim.objects.get(pk=claim.pk)
    newest = found.history.first()
    assert (found.verdict, newest.before, newest.after, newest.why) == (
        "partly",
        "supported",
        "partly",
        "the data changed",
    )
    assert newest.computed == found.computed
    Sample.objects.filter(value=2e8).update(value=2.1e8)
    evaluate_study(study)
    newest = found.history.first()
    assert (newest.before, newest.after, found.history.count()) == ("partly", "partly", 3)  # other numbers


def test_samples_read_again_get_new_links_and_no_history(lab: Lab, study: Study, claim: Claim) -> None:
    old = Sample.objects.get(value=2e8)
    Provenance.objects.filter(sample=old).delete()
    kept = {name: getattr(old, name) for name in ("run", "measure", "point", "value", "printed")}
    old.delete()
    new = Sample.objects.create(**kept)
    Provenance.objects.create(sample=new, quality="rounded")
    assert evaluate_study(study) == 1
    found = Claim.objects.get(pk=claim.pk)
    assert new.pk in found.samples
    assert old.pk not in found.samples
    assert found.history.count() == 1


def test_a_definition_that_is_no_longer_understood_says_so(lab: Lab, study: Study, claim: Claim) -> None:
    Claim.objects.filter(pk=claim.pk).update(definition={"checks": [{"kind": "guess"}]})
    evaluate_study(study)
    found = Claim.objects.get(pk=claim.pk)
    assert found.verdict == "not checkable"
    assert found.problem.startswith("checks[0].kind: found")
    assert evaluate_study(study) == 0


def test_more_samples_than_can_be_read_are_an_error_and_not_a_verdict(
    lab: Lab, study: Study, claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readings, "MOST_SAMPLES", 3)
    assert evaluate_study(study) == 1
    found = Claim.objects.get(pk=claim.pk)
    assert (found.verdict, found.problem) == ("not checkable", "found more than 3 samples, expected at most 3")


def test_all_claims_of_a_study_read_its_samples_once(
    lab: Lab, study: Study, claim: Claim, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(4):
        make_claim(study, f"D{number}")
    with django_assert_num_queries(
        4
    ):  # the claims, what they name, the samples, and what the configurations are called
        evaluate_study(study)


def test_a_run_of_another_study_or_one_that_has_not_finished_does_not_count(
    lab: Lab, study: Study, claim: Claim
) -> None:
    place = study.configurations.get(name="c1")
    running = run(lab, state="running", origin="published")
    StudyRun.objects.create(run=running, configuration=place)
    sample(running, 9e9, file_size=1000 * MIB)
    sample(run(lab, origin="uploaded"), 9e9, file_size=1000 * MIB)
    assert evaluate_study(study) == 0


Called = Callable[[], list[int]]


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> Called:
    """Ids of studies that a worker was asked to look at; the broker is left out."""
    asked: list[int] = []
    monkeypatch.setattr(evaluate_claims, "apply_async", lambda args, _named, countdown: asked.append(args[0]))
    return lambda: [asked.pop(0) for _ in list(asked)]


@pytest.fixture(autouse=True)
def no_marks(settings: Any) -> None:
    """Nothing remembered from other tests."""
    from uuid import uuid4

    settings.CACHES = {"default": {**settings.CACHES["default"], "KEY_PREFIX": f"test-{uuid4()}"}}


def test_runs_that_arrive_call_for_the_claims_of_their_study_once(
    lab: Lab, study: Study, claim: Claim, called: Called, django_capture_on_commit_callbacks: Any
) -> None:
    runs = list(Run.objects.values_list("pk", flat=True))
    with django_capture_on_commit_callbacks(execute=True):
        announce(lab.pk, runs)
        announce(lab.pk, runs)
    assert called() == [study.pk]


def test_a_run_that_comes_into_the_study_or_leaves_it_calls_too(
    lab: Lab, study: Study, claim: Claim, called: Called, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        StudyRun.objects.create(run=run(lab, origin="uploaded"), configuration=study.configurations.first())
    assert called() == [study.pk]
    marks.begun(study.pk)
    with django_capture_on_commit_callbacks(execute=True):
        StudyRun.objects.first().delete()
    assert called() == [study.pk]


def test_a_configuration_that_is_renamed_calls_for_the_claims_that_name_it(
    study: Study, claim: Claim, called: Called, django_capture_on_commit_callbacks: Any
) -> None:
    with all_labs(), django_capture_on_commit_callbacks(execute=True):
        one = study.configurations.first()
        one.label = "another name"
        one.save()
    assert called() == [study.pk]


def test_studies_without_claims_call_nobody(
    lab: Lab, study: Study, called: Called, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        announce(lab.pk, list(Run.objects.values_list("pk", flat=True)))
        StudyRun.objects.first().delete()
    assert called() == []


def test_the_task_evaluates_in_the_scope_of_the_studys_lab(study: Study, claim: Claim) -> None:
    with all_labs():
        Sample.objects.filter(value=1e8).update(value=3e8)
    assert evaluate_claims(study.pk) == 1
    assert evaluate_claims(study.pk) == 0
    assert evaluate_claims(10**9) == 0
    with all_labs():
        assert Claim.objects.get().verdict == "partly"


def test_the_sweeper_finds_what_nobody_said(study: Study, claim: Claim, called: Called) -> None:
    assert sweep_claims() == 1
    assert called() == [study.pk]
    evaluate_claims(study.pk)
    assert sweep_claims() == 0
    with all_labs():
        Run.objects.filter(facts__raid_level="1").update(facts={"raid_level": "5"})
    assert sweep_claims() == 1
    evaluate_claims(study.pk)
    with all_labs():
        Sample.objects.filter(value=1e8).delete()
    assert sweep_claims() == 1


@pytest.mark.slow
def test_the_command_loads_what_the_published_lab_has(
    db: None, tmp_path: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.ARTEFACT_DIR = tmp_path
    lab = Lab.objects.create(name="Published reports", slug="published-reports", is_published=True)
    load_study(SLUG, lab)
    call_command("load_claims", skip_checks=True)
    assert "crs4-sata-scsi: claim C17: made" in capsys.readouterr().out
    call_command("load_claims", skip_checks=True)
    assert "nothing changed" in capsys.readouterr().out
    with lab_scope(lab.pk):
        assert Claim.objects.count() == 17


def test_new_rules_are_found_by_the_sweeper(study: Study, claim: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate_claims(study.pk)
    assert sweep_claims() == 0
    monkeypatch.setattr(marks, "RULES", marks.RULES + 1)
    assert sweep_claims() == 1


def test_a_sentence_that_only_keeps_its_numbers_in_another_way_makes_no_history(
    lab: Lab, study: Study, claim: Claim
) -> None:
    """An older program wrote them in base 1000, and called configurations by their names."""

    def older(words: str) -> str:
        return written(words).replace("stripe", "c0").replace("mirror", "c1")

    [check] = claim.computed["checks"]
    lines = [{**line, "words": older(line["words"])} for line in check["lines"]]
    old = {**check, "sentence": older(check["sentence"]), "lines": lines}
    assert old != check
    Claim.objects.filter(pk=claim.pk).update(computed={"checks": [old]}, data_digest="of older rules")
    assert evaluate_study(study) == 1
    found = Claim.objects.get(pk=claim.pk)
    assert found.computed == claim.computed
    assert found.history.count() == 1


def test_another_label_is_another_sentence_and_no_history(lab: Lab, study: Study, claim: Claim) -> None:
    before = marks.marks([study.pk])
    study.configurations.filter(name="c0").update(label="striped pair")
    assert marks.marks([study.pk]) != before  # so that the sweeper looks at it
    assert evaluate_study(study) == 1
    found = Claim.objects.get(pk=claim.pk)
    assert (
        found.computed["checks"][0]["sentence"] == "bandwidth of striped pair > bandwidth of mirror; for each file size"
    )
    assert found.definition == claim.definition
    assert found.history.count() == 1


def test_configurations_with_the_same_label_keep_their_names(lab: Lab, study: Study, claim: Claim) -> None:
    study.configurations.update(label="disks")
    evaluate_study(study)
    sentence = Claim.objects.get(pk=claim.pk).computed["checks"][0]["sentence"]
    assert sentence.startswith("bandwidth of c0 > bandwidth of c1")


@pytest.mark.parametrize("place", [0, 1])
def test_the_task_evaluates_the_study_that_it_names(cast: Cast, study: Study, claim: Claim, place: int) -> None:
    with lab_scope(cast.other_lab.pk):
        other = make_study(cast.other_lab)
        others_claim = make_claim(other)
    with all_labs():
        Sample.objects.filter(value=1.2e8).update(value=5e7)
    studies, claims = [study, other], [claim, others_claim]
    assert evaluate_claims(studies[place].pk) == 1
    with all_labs():
        verdicts = [Claim.objects.get(pk=row.pk).verdict for row in claims]
    assert verdicts == ["partly" if number == place else "supported" for number in range(2)]
