"""A published report's procedure with fio on one's own hosts, and its values beside ours."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client

from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs
from apps.plans import published_procedure, services
from apps.plans.execution_page import ExecutionPage
from apps.plans.plan_request import PlanRequest
from apps.plans.published_procedure import find_procedures, repeat
from apps.studies.models import Plan
from apps.studies.plans.run_assignment import runs_of
from apps.studies.plans.schema import plan_of
from tests.conftest import Cast

MIB, GIB = 1 << 20, 1 << 30
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("all_loaded")]


@pytest.fixture(autouse=True)
def every_lab() -> Iterator[None]:
    with all_labs():
        yield


def report(study: str, name: str) -> Plan:
    return next(plan for plan in find_procedures() if (plan.study.slug, plan.name) == (study, name))


def test_four_reports_can_be_repeated_and_a_network_chain_cannot() -> None:
    offered = {(plan.study.slug, plan.name) for plan in find_procedures()}
    assert {("crs4-sata-scsi", "bonnie"), ("dtn-ucsc", "dd"), ("tristan-sas-sata", "dd")} <= offered
    assert ("infn-10ge-chain", "chain") not in offered


def test_each_procedure_is_a_plan_that_the_rules_accept() -> None:
    for plan in find_procedures():
        points = repeat(plan, is_scaled=False).points
        data = {"name": "again", "title": "Again", "stopping": {"kind": "fixed", "rounds": 1}, "points": points}
        written = plan_of({**data, "configurations": [{"name": "a", "label": "A", "reason": "none"}]})
        assert len(written.points) == len(points) > 0, plan


def test_sizes_are_those_of_the_report_or_the_same_multiples_of_ram() -> None:
    plan = report("crs4-sata-scsi", "bonnie")
    in_bytes = repeat(plan, is_scaled=False).points
    assert [point["file_size"] for point in in_bytes[::2]] == [n * MIB for n in (100, 500, 1000, 2000, 4000, 8000)]
    scaled = repeat(plan, is_scaled=True).points
    assert [point["ram_multiple"] for point in scaled[::2]] == [0.05, 0.24, 0.49, 0.98, 1.95, 3.91]
    labels = [point["label"] for point in scaled[::2]]
    assert labels[0].startswith("write 100 MB at 0.05"), "the column is not of 100 MB files"
    assert [point["name"] for point in scaled] == [point["name"] for point in in_bytes], (
        "they stand beside the report's"
    )


def test_a_machine_of_unknown_ram_has_no_multiples_and_the_plan_says_so() -> None:
    plan = next(
        plan for plan in find_procedures() if not any(row.host and row.host.ram_bytes for row in plan.rows.all())
    )
    procedure = repeat(plan, is_scaled=True)
    assert "File sizes are in bytes: the RAM of the report's machine is not known." in procedure.remarks
    assert not any("multiples" in remark for remark in procedure.remarks)
    assert procedure.points == repeat(plan, is_scaled=False).points


def test_what_fio_has_not_is_named() -> None:
    remarks = " ".join(repeat(report("crs4-sata-scsi", "bonnie"), is_scaled=False).remarks)
    assert "Left out, because fio has no such operation: char_read, char_write." in remarks
    assert "no block size" in remarks


def test_the_syncs_of_the_reports_runs_become_points() -> None:
    procedure = repeat(report("dtn-ucsc", "dd"), is_scaled=False)
    jobs = {point["name"]: (point["job"]["sync"], point["job"]["end_fsync"]) for point in procedure.points}
    assert jobs["write-blocks-of-1-mib"] == ("none", False)
    assert jobs["write-blocks-of-1-mib-with-fdatasync"] == ("none", True)
    assert jobs["write-blocks-of-1-mib-with-dsync"] == ("dsync", False)
    assert any("write blocks of 1 GiB is left out: block_size" in remark for remark in procedure.remarks)


def test_theirs_stand_beside_ours(cast: Cast) -> None:
    plan = report("crs4-sata-scsi", "bonnie")
    host = Host.objects.create(lab=cast.lab, name="today", ram_bytes=GIB)
    target = Target.objects.create(lab=cast.lab, host=host, name="data", is_agents_own=True)
    procedure = repeat(plan, is_scaled=False)
    wanted = PlanRequest(cast.lab, "Again", [target], procedure.points, {"kind": "fixed", "rounds": 1}, repeats=plan)
    ours = services.create_plan(wanted, actor="eve")
    labels, table = ExecutionPage(Plan.objects.whole().get(pk=ours.pk)).report
    assert len(labels) == 7
    of_largest = next(row for row in table if row.label == "write 8000 MB")
    single = labels.index(next(label for label in labels if "single" in label.lower()))
    measured = of_largest.theirs[single]
    assert measured is not None
    assert 20e6 < measured < 100e6, "a single SATA disk of 2004"
    assert of_largest.ours == [None]
    row, point = ours.rows.get(), ours.points.get(name="write-8000-mb")
    _, table = published_procedure.compare_with_report(ours, {(row.pk, point.pk): 5e8})
    assert next(row for row in table if row.label == "write 8000 MB").ours == [5e8]
    assert runs_of(ours.study).by_configuration == {}


def test_the_form_offers_reports_and_keeps_what_is_left_out(sign_in, cast: Cast) -> None:
    host = Host.objects.create(lab=cast.lab, name="today", ram_bytes=GIB)
    target = Target.objects.create(lab=cast.lab, host=host, name="data", is_agents_own=True)
    client: Client = sign_in("engineer")
    plan = report("tristan-sas-sata", "dd")
    text = client.get("/plans/new/").content.decode()
    assert f'value="report-{plan.pk}"' in text
    typed = {"title": "Ours", "targets": [target.pk], "preset": f"report-{plan.pk}", "kind": "fixed", "rounds": 1}
    answer = client.post("/plans/new/", {**typed, "percent": 2, "order": "interleaved"})
    assert answer.status_code == 302, re.findall(r"form-error.*", answer.content.decode())
    made = Plan.objects.get(study__lab=cast.lab)
    assert made.repeats == plan
    assert made.notes.startswith("Repeats Testing SAS and SATA")
    assert "Theirs and ours" in client.get(f"/plans/{made.pk}/").content.decode()
