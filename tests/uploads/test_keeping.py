"""What was found becomes runs."""

from typing import Any

import pytest

from apps.inventory.models import Host, Target
from apps.labs.models import Lab
from apps.runs.models import Run, RunArtefact, Sample
from apps.studies.models import Study, StudyRun
from apps.uploads.models import UploadedFile, UploadedRun
from apps.uploads.save_runs import discard, keep
from tests.comparison.factories import target as make_target
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file, variant, zipped

pytestmark = pytest.mark.services


def test_keeping_makes_runs_that_lead_back_to_their_bytes_and_lines(bring: Bring) -> None:
    upload = bring({"host3/run.json": REPORT})
    assert not Run.objects.exists(), "nothing is a run before somebody keeps it"
    assert keep(upload) == 1
    run = Run.objects.get()
    assert (run.origin, run.state, run.tool, run.created_by) == ("uploaded", "finished", "fio", "engineer@example.org")
    assert RunArtefact.objects.get(run=run).artefact == only_file(upload).artefact
    samples = Sample.objects.filter(run=run)
    assert samples.count() == only_file(upload).sample_count
    lines = REPORT.decode().splitlines()
    read_from = list(samples.filter(source_line__isnull=False))
    assert len(read_from) > 40
    for sample in read_from:
        assert sample.printed.split()[0 if sample.printed[0].isdigit() else 1] in lines[sample.source_line - 1]
    assert {sample.artefact_id for sample in samples} == {only_file(upload).artefact_id}


def test_keeping_twice_keeps_nothing_twice(bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    assert (keep(upload), keep(upload)) == (1, 0)
    assert Run.objects.count() == 1
    assert only_file(upload).packed is None


def test_kept_at_once_needs_no_preview(bring: Bring) -> None:
    upload = bring({"x.zip": zipped({"a.json": REPORT, "b.json": OTHER})}, keep_at_once=True)
    assert UploadedRun.objects.filter(file__upload=upload).count() == 2
    assert not UploadedFile.objects.filter(upload=upload, packed__isnull=False).exists()


def test_only_the_named_files_are_kept(bring: Bring) -> None:
    upload = bring({"a.json": REPORT, "b.json": OTHER})
    keep(upload, [UploadedFile.objects.get(name="b.json").pk])
    assert UploadedRun.objects.get().file.name == "b.json"
    assert keep(upload) == 1


def test_discarding_forgets_what_was_found_and_keeps_the_bytes(bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    discard(upload)
    assert keep(upload) == 0
    assert only_file(upload).artefact is not None


def test_a_target_gives_the_facts_that_comparisons_group_by(bring: Bring, lab: Lab) -> None:
    place: Any = make_target(lab, "alpha")
    keep(bring({"run.json": REPORT}, target=place))
    run = Run.objects.select_related("snapshot").get()
    assert run.host == place.host
    assert run.target == place
    assert run.facts["host"] == "alpha"
    assert run.snapshot.content["basis"].startswith("described in the inventory")


def test_a_host_alone_gives_its_own_facts(bring: Bring, lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="beta", ram_bytes=2 << 30)
    keep(bring({"run.json": REPORT}, host=host))
    run = Run.objects.get()
    assert (run.facts["host"], run.facts["ram"]) == ("beta", 2 << 30)
    assert run.target is None


def test_a_persons_labels_win_over_what_the_text_says(bring: Bring) -> None:
    keep(bring({"run.json": REPORT}, labels={"cable": "old", "path": "mine"}))
    assert Run.objects.get().labels["cable"] == "old"
    assert Run.objects.get().facts["path"] == "mine"


def test_a_study_gets_a_configuration_for_each_label(bring: Bring, lab: Lab) -> None:
    study = Study.objects.create(lab=lab, slug="cables", title="Cables")
    keep(bring({"a.json": REPORT}, study=study, labels={"configuration": "Old cable"}))
    keep(bring({"b.json": OTHER}, study=study, labels={"configuration": "Old cable"}))
    assert [one.label for one in study.configurations.all()] == ["Old cable"]
    assert StudyRun.objects.filter(configuration__study=study).count() == 2


def test_labels_that_differ_in_anything_are_configurations_of_their_own(bring: Bring, lab: Lab) -> None:
    study = Study.objects.create(lab=lab, slug="cables", title="Cables")
    labels = ["RAID 5 (sw)", "RAID 5, sw", "диск 1", "система 1", "система", "файл", "C", "C++", "raid 5 (SW)"]
    for number, label in enumerate(labels):
        keep(bring({f"{number}.json": variant(number)}, study=study, labels={"configuration": label}))
    assert [one.label for one in study.configurations.all()] == labels[:-1]
    assert StudyRun.objects.filter(configuration__label=labels[0]).count() == 2
    keep(bring({"by-name.json": OTHER}, study=study, labels={"configuration": "raid-5-sw"}))
    assert StudyRun.objects.filter(configuration__name="raid-5-sw").count() == 3


def test_targets_of_one_name_on_two_hosts_are_two_configurations(bring: Bring, lab: Lab) -> None:
    study = Study.objects.create(lab=lab, slug="nodes", title="Nodes")
    hosts = [Host.objects.create(lab=lab, name=name) for name in ("n1", "n2")]
    targets = [Target.objects.create(lab=lab, host=host, name="md0") for host in hosts]
    for number, target in enumerate([*targets, *targets]):
        keep(bring({f"{number}.json": variant(number)}, study=study, target=target))
    assert [(one.label, one.host) for one in study.configurations.all()] == [("md0", hosts[0]), ("n2 md0", hosts[1])]
    assert [one.study_runs.count() for one in study.configurations.all()] == [2, 2]


def test_labels_on_one_target_are_configurations_of_their_own(bring: Bring, lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="db1")
    target = Target.objects.create(lab=lab, host=host, name="md0")
    study = Study.objects.create(lab=lab, slug="mounts", title="Mounts")
    for number, label in enumerate(("ext3 atime", "ext3 noatime", "")):
        labels = {"configuration": label} if label else {}
        keep(bring({f"{number}.json": variant(number)}, study=study, target=target, labels=labels))
    assert [one.label for one in study.configurations.all()] == ["ext3 atime", "ext3 noatime", "md0"]


def test_equal_runs_of_one_file_are_numbered_as_repetitions(bring: Bring) -> None:
    later = REPORT.replace(b'"timestamp_ms" : 1', b'"timestamp_ms" : 2')
    assert later != REPORT
    keep(bring({"two.json": REPORT + b"\n" + later}))
    assert sorted(Run.objects.values_list("repetition", flat=True)) == [1, 2]
