"""A published report's procedure with fio on one's own hosts, and its values beside ours."""

import html
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
from tests.api.conftest import script
from tests.conftest import Cast

__all__ = ["script"]

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
    assert labels[0].startswith("write 100\u00a0MiB at 0.05"), "the column is not of 100 MiB files"
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
    of_largest = next(row for row in table if row.label == "write 8\u202f000\u00a0MiB")
    single = labels.index(next(label for label in labels if "single" in label.lower()))
    measured = of_largest.theirs[single]
    assert measured is not None
    assert 20e6 < measured < 100e6, "a single SATA disk of 2004"
    assert of_largest.ours == [None]
    row, point = ours.rows.get(), ours.points.get(name="write-8000-mb")
    _, table = published_procedure.compare_with_report(ours, {(row.pk, point.pk): 5e8})
    assert next(row for row in table if row.label == "write 8\u202f000\u00a0MiB").ours == [5e8]
    assert runs_of(ours.study).by_configuration == {}


def test_the_row_of_scaled_files_does_not_call_them_as_large_as_the_reports(cast: Cast) -> None:
    plan = report("crs4-sata-scsi", "bonnie")
    target = own_target(cast)
    procedure = repeat(plan, is_scaled=True)
    wanted = PlanRequest(cast.lab, "Scaled", [target], procedure.points, {"kind": "fixed", "rounds": 1}, repeats=plan)
    ours = services.create_plan(wanted, actor="eve")
    _, table = published_procedure.compare_with_report(Plan.objects.whole().get(pk=ours.pk), {})
    assert {row.label.rpartition(" at ")[2] for row in table[::2]} == {
        f"{multiple} × RAM" for multiple in ("0.05", "0.24", "0.49", "0.98", "1.95", "3.91")
    }


def test_a_studys_page_leads_an_engineer_to_the_form_with_its_procedure_chosen(sign_in, cast: Cast) -> None:
    host = Host.objects.create(lab=cast.lab, name="today", ram_bytes=GIB)
    Target.objects.create(lab=cast.lab, host=host, name="data", is_agents_own=True)
    plan = report("tristan-sas-sata", "dd")
    client: Client = sign_in("engineer")
    address = f"/studies/{plan.study.slug}/"
    (link,) = set(re.findall(r'href="(/plans/new/[^"]*)"', client.get(address).content.decode()))
    form = client.get(html.unescape(link)).content.decode()
    assert f'<option value="report-{plan.pk}" selected' in form
    assert f'value="{plan.study}, repeated"' in html.unescape(form)
    assert "Repeat this study" not in sign_in("viewer").get(address).content.decode(), "a viewer writes no plan"


def test_a_study_that_cannot_be_repeated_says_why(sign_in) -> None:
    client, address = sign_in("engineer"), "/studies/infn-10ge-chain/"
    text = html.unescape(client.get(address).content.decode())
    assert "<strong>Network alone</strong> cannot be repeated. It was measured with iperf/netperf. fio measures" in text
    storage = report("infn-10ge-chain", "storage")
    assert f'<a class="btn" href="/plans/new/?procedure=report-{storage.pk}&' in text, "one of its plans can"
    storage.points.update(file_size=None, ram_multiple=None)
    text = html.unescape(client.get(address).content.decode())
    assert "cannot be repeated. The report does not say how large the test files were." in text
    storage.points.update(file_size=GIB, operations=["rewrite"])
    text = html.unescape(client.get(address).content.decode())
    assert "cannot be repeated. fio has none of its operations: rewrite." in text
    assert "/plans/new/?procedure" not in text, "nothing of the study can"


def every_report() -> list[Plan]:
    return list(Plan.objects.whole().filter(is_from_report=True))


def test_each_plan_that_is_not_offered_has_its_reason() -> None:
    offered = {plan.pk for plan in find_procedures()}
    for offer in published_procedure.offers_of(every_report()):
        assert bool(offer.problem) != (offer.plan.pk in offered), offer.plan
        assert offer.problem.endswith(".") or not offer.problem


def test_the_studys_document_says_how_it_is_repeated(sign_in) -> None:
    client: Client = sign_in("engineer")
    plan = report("tristan-sas-sata", "dd")
    (entry,) = [
        entry for entry in client.get(f"/api/v1/studies/{plan.study.slug}/").json()["plan"] if entry["name"] == "dd"
    ]
    assert f"/plans/new/?procedure=report-{plan.pk}" in entry["repeat_page"]
    assert entry["repeat_problem"] == ""
    chain = {entry["name"]: entry for entry in client.get("/api/v1/studies/infn-10ge-chain/").json()["plan"]}
    assert chain["network"]["repeat_page"] is None
    assert "fio measures files" in chain["network"]["repeat_problem"]


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


def own_target(cast: Cast) -> Target:
    host = Host.objects.create(lab=cast.lab, name="today", ram_bytes=GIB)
    target: Target = Target.objects.create(lab=cast.lab, host=host, name="data", is_agents_own=True)
    return target


def test_the_reports_order_and_the_guards_that_can_be_checked_are_taken_over() -> None:
    dd = repeat(report("dtn-ucsc", "dd"), is_scaled=False)
    assert dd.order == "sequential"
    assert [(guard["kind"], guard["is_required"]) for guard in dd.guards] == [
        ("file_removed", True), ("caches_dropped", False), ("cache_rule", False),
    ]  # fmt: skip
    crs4 = repeat(report("crs4-sata-scsi", "bonnie"), is_scaled=False)
    assert crs4.order == "interleaved"
    assert [guard["kind"] for guard in crs4.guards] == ["idle", "users_out", "queues_off", "cache_rule"]
    rule = crs4.guards[3]
    assert (rule["factor"], rule["tolerance"], rule["is_required"]) == (4, 0.05, False)


def test_guards_that_no_host_can_check_and_the_order_are_named() -> None:
    crs4 = repeat(report("crs4-sata-scsi", "bonnie"), is_scaled=False).remarks
    assert "The report's order is interleaved." in crs4
    assert not any("no host can check" in remark for remark in crs4), "who is logged in and queues are looked at"
    tristan = report("tristan-sas-sata", "dd")
    remarks = repeat(tristan, is_scaled=False).remarks
    [unchecked] = [remark for remark in remarks if "no host can check" in remark]
    assert unchecked.endswith("see to them yourself: The system is freshly installed and carries no load.")
    assert "The report does not print its order." in remarks
    assert repeat(tristan, is_scaled=False).order == "interleaved"
    tristan.guards.all().delete()
    again = Plan.objects.whole().get(pk=tristan.pk)
    assert not any("no host can check" in remark for remark in repeat(again, is_scaled=False).remarks)


def test_what_stands_in_for_fdatasync_is_said_where_it_is_used() -> None:
    said = " ".join(repeat(report("dtn-ucsc", "dd"), is_scaled=False).remarks)
    assert "Points with fdatasync have fio's end_fsync in its place: fio calls fsync once when all is written" in said
    assert "end_fsync" not in " ".join(repeat(report("crs4-sata-scsi", "bonnie"), is_scaled=False).remarks)


def test_by_rest_they_are_used_unless_the_body_says_otherwise(script, cast: Cast) -> None:
    target, dd = own_target(cast), report("dtn-ucsc", "dd")
    body = {"title": "Ours", "targets": [target.pk], "repeats": dd.pk}
    call = script("run")
    assert call("POST", "plans/estimate/", body).status_code == 200
    made = Plan.objects.get(pk=call("POST", "plans/", body).json()["id"])
    assert made.order == "sequential"
    assert [(guard.kind, guard.is_required) for guard in made.guards.all()] == [
        ("file_removed", True), ("caches_dropped", False), ("cache_rule", False),
    ]  # fmt: skip
    other = call("POST", "plans/", {**body, "title": "Other", "order": "interleaved", "guards": []}).json()
    made = Plan.objects.get(pk=other["id"])
    assert (made.order, made.guards.count()) == ("interleaved", 0)


def test_the_form_is_filled_with_them(sign_in, cast: Cast) -> None:
    target, crs4, dd = own_target(cast), report("crs4-sata-scsi", "bonnie"), report("dtn-ucsc", "dd")
    client: Client = sign_in("engineer")

    def ticked(plan: Plan) -> tuple[list[str], list[str]]:
        text = client.get(f"/plans/new/?procedure=report-{plan.pk}").content.decode()
        guards = re.findall(r'<input type="checkbox" name="guards" value="(\w+)"[^>]* checked', text)
        return guards, re.findall(r'<option value="(interleaved|randomized|sequential)" selected', text)

    assert ticked(crs4) == (["idle", "users_out", "queues_off", "cache_rule"], ["interleaved"])
    assert ticked(dd) == (["cache_rule", "caches_dropped", "file_removed"], ["sequential"])
    typed = {
        "title": "Ours",
        "targets": [target.pk],
        "preset": f"report-{crs4.pk}",
        "kind": "fixed",
        "rounds": 1,
        "percent": 2,
    }
    answer = client.post("/plans/new/", {**typed, "order": "interleaved", "guards": ["cache_rule", "space"]})
    assert answer.status_code == 302
    made = Plan.objects.get(study__lab=cast.lab)
    parameters = {guard.kind: (guard.parameters, guard.is_required) for guard in made.guards.all()}
    assert parameters["cache_rule"] == ({"factor": 4, "tolerance": 0.05}, False), "the report's own numbers"
    assert set(parameters) == {"cache_rule", "space"}
