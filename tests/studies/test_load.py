"""The published studies: what loading makes, says and puts right."""

import csv
from typing import Any

import pytest
from django.core.management import call_command

from apps.dashboard.published.load import load_study
from apps.inventory.models import Array, Change, Controller, Disk, Host, Target
from apps.labs.models import Lab
from apps.runs.artefacts.store import read
from apps.runs.models import Artefact, Provenance, Run, RunArtefact, Sample
from apps.studies.models import Configuration, Study, StudyRun, study_of
from apps.studies.source import DATA, StudyDataError, StudySource, slugs
from apps.uploads.models import FoundInventory, Upload, UploadedFile, UploadedRun

CRS4 = "crs4-sata-scsi"
STUDIES = (CRS4, "thumper-x4500", "infn-10ge-chain", "dtn-ucsc", "tristan-sas-sata")
MODELS = (
    Study, Configuration, Host, Controller, Disk, Array, Target, Run, StudyRun, RunArtefact, Artefact, Sample,
    Upload, UploadedFile, UploadedRun, Change,
)  # fmt: skip


def runs_of(slug: str) -> Any:
    return Run.objects.filter(study_run__configuration__study__slug=slug)


def facts_of(slug: str) -> dict[str, dict[str, Any]]:
    return {run.study_run.configuration.name: run.facts for run in runs_of(slug).select_related("study_run")}


@pytest.mark.slow
def test_all_five_reports_are_loaded_in_the_order_of_their_seeds(published: Lab) -> None:
    assert tuple(slugs()) == STUDIES
    assert {study.slug: study.configurations.count() for study in Study.objects.all()} == {
        CRS4: 7, "thumper-x4500": 9, "infn-10ge-chain": 25, "dtn-ucsc": 6, "tristan-sas-sata": 7,
    }  # fmt: skip
    assert {slug: runs_of(slug).count() for slug in STUDIES} == {
        CRS4: 38, "thumper-x4500": 9, "infn-10ge-chain": 25, "dtn-ucsc": 6, "tristan-sas-sata": 12,
    }  # fmt: skip
    assert set(Run.objects.values_list("origin", "state", "repetition")) == {("published", "finished", 1)}


@pytest.mark.slow
def test_loading_again_changes_nothing(published: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    before = [sorted(model.objects.values_list("pk", flat=True)) for model in MODELS]
    call_command("load_studies", skip_checks=True)
    assert "nothing changed" in capsys.readouterr().out
    assert [sorted(model.objects.values_list("pk", flat=True)) for model in MODELS] == before


@pytest.mark.slow
def test_what_was_altered_is_put_right_and_said(published: Lab) -> None:
    Host.objects.filter(name="agumu02").update(ram_bytes=1)
    assert load_study(CRS4, published) == ["host agumu02: changed ram_bytes"]
    assert Host.objects.get(name="agumu02").ram_bytes == 2**31


@pytest.mark.slow
def test_altered_values_labels_and_notes_are_put_right_and_said(published: Lab) -> None:
    sample = Sample.objects.get(printed="495 MB/s")
    Sample.objects.filter(pk=sample.pk).update(value=1.0)
    Provenance.objects.filter(sample=sample).update(quality="approximate")
    Run.objects.filter(study_run__configuration__name="iozone-auto-8g").update(labels={})
    assert load_study("dtn-ucsc", published) == [
        "run iozone-auto-8g, 8192 MiB file: changed, 169 samples",
        "value of row 3, dd-dsync-1m: changed value, quality",
    ]
    Provenance.objects.filter(sample=sample).update(note="")  # as after reading its file again
    assert load_study("dtn-ucsc", published) == ["value of row 3, dd-dsync-1m: changed note"]
    sample.refresh_from_db()
    assert sample.value == pytest.approx(10737418240 / 21.6774)


@pytest.mark.slow
def test_runs_that_somebody_took_away_come_back(published: Lab) -> None:
    runs_of("dtn-ucsc").filter(study_run__configuration__name="dd-plain").delete()
    said = load_study("dtn-ucsc", published)
    assert said[0] == "file dtn-ucsc/dd_session.txt: brought as runs"
    assert "run dd-plain: made, 2 samples" in said
    assert "run dd-fdatasync: changed, 2 samples" in said
    assert runs_of("dtn-ucsc").count() == 6
    assert load_study("dtn-ucsc", published) == []


@pytest.mark.slow
def test_runs_keep_their_numbers_when_their_file_changes(published: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    pks = dict(runs_of("dtn-ucsc").values_list("study_run__configuration__name", "pk"))
    found = StudySource("dtn-ucsc").legacy()
    longer = found["dd_session.txt"] + b"\n"
    monkeypatch.setattr(StudySource, "legacy", lambda self: {**found, "dd_session.txt": longer})
    assert load_study("dtn-ucsc", published)[0] == "file dtn-ucsc/dd_session.txt: brought as runs"
    assert dict(runs_of("dtn-ucsc").values_list("study_run__configuration__name", "pk")) == pks
    kept = UploadedRun.objects.select_related("file__artefact").get(run=pks["dd-plain"]).file.artefact
    assert kept is not None
    assert read(kept) == longer


@pytest.mark.slow
def test_runs_of_an_earlier_version_keep_their_numbers(published: Lab) -> None:
    """They were written without an upload."""
    pks = set(runs_of(CRS4).values_list("pk", flat=True))
    UploadedRun.objects.filter(run__in=pks).delete()
    UploadedFile.objects.filter(upload__name__startswith=CRS4).delete()
    load_study(CRS4, published)
    assert set(runs_of(CRS4).values_list("pk", flat=True)) == pks
    assert set(UploadedRun.objects.filter(run__in=pks).values_list("file__name", flat=True)) == {
        "figures-by-file-size.csv"
    }
    assert load_study(CRS4, published) == []


@pytest.mark.slow
def test_a_study_may_be_loaded_into_any_lab(lab: Lab, tmp_path: Any, settings: Any) -> None:
    settings.ARTEFACT_DIR = tmp_path
    load_study("tristan-sas-sata", lab)
    assert Run.objects.count() == 12
    assert load_study("tristan-sas-sata", lab) == []


def test_loading_says_what_it_made(published: Lab, all_loaded: list[str]) -> None:
    assert all_loaded[0] == "lab Published reports: made"
    for sentence in (
        "run scsi-raid0-sw, 8000 MiB file: made, 3 samples",
        "file dtn-ucsc/bonnie_table.txt: brought as runs",
        "file thumper-x4500/mdadm_xfs_round.txt: brought, no runs of their own",
        "array md4: made",
        "tristan-sas-sata: claim R01: made",
    ):
        assert sentence in all_loaded


def test_everybody_may_read_the_lab_that_holds_them(published: Lab) -> None:
    assert published.is_published
    assert Lab.objects.published_ids() == [published.pk]


def test_every_file_of_a_report_is_an_upload_with_its_bytes(published: Lab) -> None:
    for slug in STUDIES:
        source = StudySource(slug)
        files = UploadedFile.objects.filter(upload__study__slug=slug).select_related("artefact")
        kept = {file.name: read(file.artefact) for file in files if file.artefact}
        assert kept == {**source.legacy(), **source.figures()}
        assert {file.name for file in files if file.kept_at} == {*source.bringing["files"], *source.figures()}
    output = FoundInventory.objects.get(tool="lspci")
    assert (output.state, str(output.host)) == ("taken", "dtn")


def test_the_data_themselves_are_kept_with_every_run(published: Lab) -> None:
    for run in Run.objects.select_related("study_run__configuration__study"):
        uses = {use.name: use.artefact for use in RunArtefact.objects.filter(run=run, kind="published")}
        slug = run.study_run.configuration.study.slug
        assert read(uses["results.csv"]) == (DATA / slug / "results.csv").read_bytes()


@pytest.mark.parametrize("slug", STUDIES)
def test_the_tables_of_figures_hold_each_row_that_no_legacy_file_holds(published: Lab, slug: str) -> None:
    source = StudySource(slug)
    listed: list[int] = []
    for data in source.figures().values():
        listed += [int(row) for line in csv.DictReader(data.decode().splitlines()) for row in line["rows"].split()]
    of_tables = UploadedRun.objects.filter(run__in=runs_of(slug), file__name__in=source.figures())
    samples = Sample.objects.filter(run__in=of_tables.values("run"))
    ranges = sum(len(one.rows) - 1 for one in source.reported)
    assert len(listed) == len(set(listed)) == samples.count() + ranges


def test_crs4_has_one_run_per_configuration_and_file_size(published: Lab) -> None:
    assert {run.samples.count() for run in runs_of(CRS4)} == {3}
    assert set(runs_of(CRS4).values_list("tool", flat=True)) == {"bonnie"}
    assert str(study_of(runs_of(CRS4).first())).startswith("Performance of SCSI and Serial ATA")


def test_facts_say_what_differs_between_crs4s_configurations(published: Lab) -> None:
    facts = {run.facts["configuration"]: run.facts for run in runs_of(CRS4)}
    hardware, single = facts["SATA, 3ware hardware RAID 5"], facts["single SATA disk"]
    assert hardware["ram"] == 2**30
    assert (hardware["raid_level"], hardware["raid_implementation"], hardware["interface"]) == ("5", "hardware", "SATA")
    assert (single["raid_level"], single["raid_implementation"], single["disk_count"]) == ("single", "none", 1)
    assert hardware["disk_model"] == "MaxLine Plus II"
    assert "disk_count" not in hardware
    scsi = facts["SCSI, software RAID 0"]
    assert (scsi["disk_count"], {fact["study"] for fact in facts.values()}) == (2, {CRS4})
    assert len({run.snapshot_id for run in runs_of(CRS4)}) == 7


def test_facts_say_stack_round_environment_and_chain_of_the_others(published: Lab) -> None:
    thumper = facts_of("thumper-x4500")["x4500-xfs-raid6"]
    assert (thumper["raid_level"], thumper["disk_count"], thumper["filesystem"], thumper["round"]) == (
        "6", 8, "xfs", "xfs",
    )  # fmt: skip
    dtn = facts_of("dtn-ucsc")
    assert [dtn[name].get("sync") for name in ("dd-plain", "dd-fdatasync", "dd-dsync-1m")] == [
        "none", "fdatasync", "dsync",
    ]  # fmt: skip
    assert (dtn["iozone-auto-8g"]["header_file_size"], dtn["iozone-auto-8g"]["controller_cache"]) == ("48 GiB", 2**29)
    tristan = facts_of("tristan-sas-sata")
    assert {name: fact["environment"] for name, fact in tristan.items()} == {
        name: "native" if name.endswith("native") else "guest" for name in tristan
    }
    assert (tristan["sas-raid10-nocache-esxi"]["controller_cache"], tristan["sas-raid5-256mb-esxi"]["disk_count"]) == (
        "none", 5,
    )  # fmt: skip
    infn = facts_of("infn-10ge-chain")
    assert (infn["nas-stripe5"]["part_of"], infn["chain-nas-r-6f-300j"]["chain"]) == ("NAS", "NAS")
    assert [infn["chain-san-w-1f-250j"][name] for name in ("jobs", "files", "nodes")] == ["250", "1", "about 90"]


def test_targets_lie_on_what_the_report_says(published: Lab) -> None:
    targets = {target.name: target for target in Target.objects.select_related("filesystem", "array", "nic", "peer")}
    boot = targets["x4500-raw-ext2"].filesystem
    assert boot is not None
    assert (boot.type, str(boot.disk), targets["x4500-xfs-raid0"].path) == ("ext2", "sdi", "/raid/a0")
    assert (targets["dd-plain"].path, str(targets["sata-raid1-nocache-native"].array)) == ("/data", "sata-raid1")
    between = targets["net-2-tuned"]
    assert (between.kind, str(between.host), str(between.peer)) == ("network", "server1", "server2")
    unnamed = targets["x4500-xfs-9g"]
    assert (unnamed.array, unnamed.filesystem, "not named" in unnamed.notes) == (None, None, True)
    assert runs_of("infn-10ge-chain").get(study_run__configuration__name="net-3-tuned").host is None


def test_an_empty_field_says_whether_it_is_not_printed_unknown_or_none(published: Lab) -> None:
    raid = Controller.objects.get(name="3ware 8506-4LP")
    assert (raid.cache_bytes, raid.why_empty("cache_bytes"), raid.absent["bus"]) == (None, "unknown", "not_printed")
    plain = Controller.objects.get(name="Adaptec AIC-7902 dual channel", host__name="agumu02")
    assert plain.absent["cache_bytes"] == "none"
    assert Host.objects.get(name="noral3").absent["fqdn"] == "not_printed"


def test_a_file_that_gives_no_runs_stops_the_study(published: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    found = StudySource("dtn-ucsc").legacy()
    monkeypatch.setattr(StudySource, "legacy", lambda self: {**found, "dd_session.txt": b"nothing of dd\n"})
    with pytest.raises(StudyDataError, match=r"dtn-ucsc/dd_session\.txt: found .*, expected results"):
        load_study("dtn-ucsc", published)
