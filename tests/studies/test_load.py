"""The published studies, value by value."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from apps.inventory.models import Array, Controller, Disk, Host, Target
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.artefact_store import read
from apps.runs.models import Artefact, Run, RunArtefact, Sample
from apps.studies.load import load_all
from apps.studies.models import Configuration, Study, StudyRun, study_of
from apps.studies.source import DATA, OPERATIONS

SLUG = "crs4-sata-scsi"
MODELS = (Study, Configuration, Host, Controller, Disk, Array, Target, Run, StudyRun, RunArtefact, Artefact, Sample)


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / SLUG / name).open(newline="") as file:
        return list(csv.DictReader(file))


ROWS = list(zip(rows("results.csv"), rows("provenance.csv"), strict=True))


@pytest.fixture
def published(db: None, tmp_path: Path, settings: Any) -> Iterator[Lab]:
    settings.ARTEFACT_DIR = tmp_path
    load_all()
    lab = Lab.objects.get(slug="published-reports")
    with lab_scope(lab.pk):
        yield lab


def sample_of(row: dict[str, str]) -> Sample:
    operation, metric = OPERATIONS[row["test"]]
    found: Sample = Sample.objects.select_related("provenance", "run__host", "point").get(
        measure__operation=operation,
        measure__metric=metric,
        point__file_size=int(row["file_size_bytes"]),
        run__study_run__configuration__name=row["configuration"],
    )
    return found


def test_every_row_of_the_report_is_there_with_its_value_and_where_it_stands(published: Lab) -> None:
    assert Sample.objects.count() == len(ROWS) == 114
    for row, origin in ROWS:
        sample = sample_of(row)
        assert sample.value == (float(row["value_si"]) if row["value"] else None)
        assert sample.run.host is not None
        assert sample.run.host.name == row["host"]
        assert sample.provenance.quality == row["confidence"]
        assert sample.provenance.source_line == int(origin["source_line"])
        assert sample.provenance.printed == f"{row['value'] or origin['printed']} Kbyte/sec"
        assert row["note"] in sample.provenance.note
        assert origin["printed"] in sample.provenance.note.replace("\\\\", "\\")


def test_the_two_lost_values_have_a_reason_and_two_bounds(published: Lab) -> None:
    lost = Sample.objects.filter(value=None).select_related("provenance").order_by("measure__operation")
    assert [(s.provenance.low, s.provenance.high) for s in lost] == [
        (60000 * 1024, 61000 * 1024),
        (71000 * 1024, 79000 * 1024),
    ]
    assert {s.provenance.missing_reason for s in lost} == {"not recoverable from the report"}


def test_loading_again_changes_nothing(published: Lab) -> None:
    before = [sorted(model.objects.values_list("pk", flat=True)) for model in MODELS]
    assert load_all() == []
    assert [sorted(model.objects.values_list("pk", flat=True)) for model in MODELS] == before


def test_what_was_altered_is_put_right_and_said(published: Lab) -> None:
    Host.objects.filter(name="agumu02").update(ram_bytes=1)
    assert load_all() == ["host agumu02: changed ram_bytes"]
    assert Host.objects.get(name="agumu02").ram_bytes == 2**31


def test_one_run_per_configuration_and_file_size(published: Lab) -> None:
    assert Run.objects.count() == 2 * 4 + 5 * 6
    assert {run.samples.count() for run in Run.objects.all()} == {3}
    assert set(Run.objects.values_list("origin", "state", "tool")) == {("published", "finished", "bonnie")}
    assert Study.objects.get() == study_of(Run.objects.first())


def test_facts_say_what_differs_between_the_configurations(published: Lab) -> None:
    facts = {run.facts["configuration"]: run.facts for run in Run.objects.all()}
    hardware, single = facts["SATA, 3ware hardware RAID 5"], facts["single SATA disk"]
    assert hardware["ram"] == 2**30
    assert (hardware["raid_level"], hardware["raid_implementation"], hardware["interface"]) == ("5", "hardware", "SATA")
    assert (single["raid_level"], single["raid_implementation"], single["disk_count"]) == ("single", "none", 1)
    assert hardware["disk_model"] == "MaxLine Plus II"
    assert "disk_count" not in hardware
    scsi = facts["SCSI, software RAID 0"]
    assert (scsi["controller_cache"], scsi["disk_count"], scsi["controller"]) == (
        "none",
        2,
        "Adaptec AIC-7902 dual channel",
    )
    assert {fact["study"] for fact in facts.values()} == {SLUG}
    assert len({run.snapshot_id for run in Run.objects.all()}) == 7


def test_an_empty_field_says_whether_it_is_not_printed_unknown_or_none(published: Lab) -> None:
    raid = Controller.objects.get(name="3ware 8506-4LP")
    assert (raid.cache_bytes, raid.absent["cache_bytes"], raid.absent["bus"]) == (None, "unknown", "not_printed")
    plain = Controller.objects.get(name="Adaptec AIC-7902 dual channel", host__name="agumu02")
    assert plain.absent["cache_bytes"] == "none"
    assert Host.objects.get(name="noral3").absent["fqdn"] == "not_printed"


def test_the_zero_channel_card_sits_on_the_adapter(published: Lab) -> None:
    card = Controller.objects.get(kind="zero-channel")
    assert card.sits_on is not None
    assert card.sits_on.name == "Adaptec AIC-7902 dual channel"
    assert card.sits_on.host.name == "aiodda2"


def test_the_data_themselves_are_kept_with_every_run(published: Lab) -> None:
    for run in Run.objects.all():
        uses = {use.name: use.artefact for use in RunArtefact.objects.filter(run=run)}
        assert read(uses["results.csv"]) == (DATA / SLUG / "results.csv").read_bytes()


def test_the_command_says_what_it_did(
    db: None, tmp_path: Path, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.ARTEFACT_DIR = tmp_path
    call_command("load_studies", skip_checks=True)
    assert "run scsi-raid0-sw, 8000 MB file: made, 3 samples" in capsys.readouterr().out
    call_command("load_studies", skip_checks=True)
    assert "nothing changed" in capsys.readouterr().out


def test_everybody_may_read_the_lab_that_holds_them(published: Lab) -> None:
    assert published.is_published
    assert Lab.objects.published_ids() == [published.pk]
