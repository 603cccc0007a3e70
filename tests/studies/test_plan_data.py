"""The five reports' procedures as plans: what is held, which cells are holes, and why."""

from typing import Any

import pytest
import yaml

from apps.dashboard.published.load import load_study
from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.studies.models import Configuration, Plan, PlannedRun, Study
from apps.studies.plans.plan_import import import_plans
from apps.studies.plans.plan_page import PlanPage, plans_of_study
from apps.studies.plans.problems import PlanError
from apps.studies.plans.schema import plans_of
from apps.studies.source import DATA
from tests.sampling import for_each

SLUGS = ("crs4-sata-scsi", "dtn-ucsc", "infn-10ge-chain", "thumper-x4500", "tristan-sas-sata")


def data_of(slug: str) -> Any:
    return yaml.safe_load((DATA / slug / "plan.yaml").read_text(encoding="utf-8"))


def bare_study(lab: Lab, slug: str) -> Study:
    """The study with its configurations and hosts, without any run: what a plan needs."""
    told = yaml.safe_load((DATA / slug / "study.yaml").read_text(encoding="utf-8"))
    ram = {host["name"]: host.get("ram_bytes") for host in told["hosts"]}
    hosts = {name: Host.objects.create(lab=lab, name=name, ram_bytes=size) for name, size in ram.items()}
    study = Study.objects.create(lab=lab, slug=slug, title=told["title"])
    for at, one in enumerate(told["configurations"]):
        host = hosts.get(one.get("host", ""))
        Configuration.objects.create(study=study, name=one["name"], label=one["label"], host=host, position=at)
    return study


def shown(study: Study) -> dict[str, PlanPage]:
    return {one.plan.name: one for one in plans_of_study(study)}


def reasons(plan: PlanPage) -> dict[tuple[str, str], str]:
    return {(cell.row.name, cell.point.name): cell.reason for cell in plan.cells if cell.reason}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_reports_plans_are_put_once_and_then_nothing_changes(lab, slug) -> None:
    study = bare_study(lab, slug)
    first = import_plans(study, data_of(slug))
    assert first == [f"plan {plan.name}: made" for plan in plans_of(data_of(slug))]
    assert import_plans(study, data_of(slug)) == []


def test_what_was_altered_is_put_right_and_keeps_its_rows(lab) -> None:
    study = bare_study(lab, "crs4-sata-scsi")
    import_plans(study, data_of("crs4-sata-scsi"))
    plan = Plan.objects.get()
    ids = list(plan.rows.values_list("pk", flat=True))
    plan.points.filter(name="8000mb").delete()
    plan.rows.filter(name="sata-single").update(reason="no")
    Plan.objects.create(study=study, name="old", title="old", stopping={"kind": "not_printed"}, is_from_report=True)
    Plan.objects.create(study=study, name="own", title="own", stopping={"kind": "fixed", "rounds": 1})
    said = import_plans(study, data_of("crs4-sata-scsi"))
    assert said == ["plan bonnie: changed", "plan old: deleted, the report's data no longer have it"]
    assert list(plan.rows.values_list("pk", flat=True)) == ids
    assert set(Plan.objects.values_list("name", flat=True)) == {"bonnie", "own"}


def test_crs4_has_ten_rounds_of_38_cells_and_four_holes(lab) -> None:
    study = bare_study(lab, "crs4-sata-scsi")
    import_plans(study, data_of("crs4-sata-scsi"))
    bonnie = shown(study)["bonnie"]
    assert bonnie.plan.order == "interleaved"
    assert len(bonnie.steps) == 380
    assert set(reasons(bonnie)) == {
        (row, size) for row in ("sata-3ware-raid5", "scsi-zcr-raid5") for size in ("4000mb", "8000mb")
    }
    assert set(reasons(bonnie).values()) == {"Files end at 2\u202f000\u00a0MiB here: 32-bit machine and system."}
    assert {one.host: one.is_met for one in bonnie.cache} == {"aiodda2": False, "noral3": True, "agumu02": True}
    assert bonnie.counts == [("not held", 38), ("not run", 4)]
    assert {guard.kind for guard in bonnie.plan.guards.all()} == {"idle", "users_out", "queues_off", "cache_rule"}


@pytest.mark.slow
def test_the_loaded_means_of_crs4_fill_all_ten_rounds_of_their_cells(cast, lab) -> None:
    load_study("crs4-sata-scsi", lab)
    study = Study.objects.get(slug="crs4-sata-scsi")
    import_plans(study, data_of("crs4-sata-scsi"))
    bonnie = shown(study)["bonnie"]
    assert bonnie.counts == [("as reported", 38), ("not run", 4)], "nobody here has run it"
    done = [cell for cell in bonnie.cells if cell.state == "as reported"]
    assert {(cell.progress.done, len(cell.runs)) for cell in done} == {(10, 1)}
    assert len({cell.runs[0].pk for cell in done}) == 38, "each run in one cell"
    assert not PlannedRun.objects.exists(), "found by configuration and size, not linked"


def test_the_native_10_gb_run_of_tristan_was_never_made(lab) -> None:
    study = bare_study(lab, "tristan-sas-sata")
    import_plans(study, data_of("tristan-sas-sata"))
    dd = shown(study)["dd"]
    holes = reasons(dd)
    told = yaml.safe_load((DATA / "tristan-sas-sata" / "study.yaml").read_text(encoding="utf-8"))["test_matrix"]
    absent = {
        (row["configuration"], f"{mib}mib")
        for row in told
        for mib, present in zip(row["mib"], row["present"], strict=True)
        if not present
    }
    assert set(holes) == absent
    natives = [holes[name, "10000mib"] for name, _ in holes if name.endswith("native")]
    assert len(set(natives)) == 1
    assert natives[0].startswith("The native 10 GB run was never made")
    assert "11.3 million bytes a second" in holes["sata-raid10-nocache-esxi", "10000mib"]


def test_infn_gave_up_chain_test_1_and_reports_250_jobs_of_300_planned(lab) -> None:
    study = bare_study(lab, "infn-10ge-chain")
    import_plans(study, data_of("infn-10ge-chain"))
    chain = shown(study)["chain"]
    holes = reasons(chain)
    assert "dCache master was queried too often" in holes["san", "t1"]
    assert {point for row, point in holes if row == "nas"} == {"t1", "t2-2", "t2-3", "t3-2"}
    written = next(cell for cell in chain.cells if (cell.row.name, cell.point.name) == ("san", "t3-1"))
    assert written.note == "Planned and plotted with 300 jobs; result and table say 250."
    assert written.point.labels["jobs planned"] == 300
    held_under = {
        (cell.row.name, cell.point.name): cell.runs_of.name for cell in chain.plan.cells.all() if cell.runs_of
    }
    assert held_under["san", "t3-1"] == "chain-san-w-1f-250j"
    assert [one.is_met for one in shown(study)["storage"].cache] == [None, None, None], "their RAM is not printed"


def test_thumper_goes_over_its_ram_once_and_most_of_its_plots_have_no_numbers(lab) -> None:
    study = bare_study(lab, "thumper-x4500")
    import_plans(study, data_of("thumper-x4500"))
    plans = shown(study)
    assert list(plans) == ["iozone-ext", "iozone-xfs", "throughput", "over-ram", "cp"]
    [rule] = plans["over-ram"].cache
    assert (rule.multiple, rule.is_met) == (1.125, True)
    plotted = next(cells for note, cells in plans["iozone-ext"].notes if "plotted; the numbers" in note)
    assert [cell.row.label[:2] for cell in plotted] == ["A1", "A2", "B1", "B2", "C2", "C3"]
    assert {cell.state for cell in plotted} == {"not held"}
    assert plans["iozone-ext"].plan.rule.words == "How often each was run is not printed."
    assert plans["iozone-ext"].order_words == "The order is not printed."


def test_dtn_is_below_the_rule_with_dd_and_iozone_and_above_with_bonnie(lab) -> None:
    study = bare_study(lab, "dtn-ucsc")
    import_plans(study, data_of("dtn-ucsc"))
    plans = shown(study)
    met = {name: plan.cache[0].is_met for name, plan in plans.items()}
    assert met == {"dd": False, "bonnie": True, "iozone": False}
    assert [point.block_size for point in plans["iozone"].points] == [4096 << at for at in range(13)]
    assert len(plans["iozone"].points[0].operations) == 13
    assert [(plans["dd"].steps[at].row, plans["dd"].steps[at].point) for at in range(4)] == [
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 1),
    ]


@for_each(
    "change, field",
    [
        ({"order": "by chance"}, "plans[0].order"),
        ({"order": "randomized"}, "plans[0].seed"),
        ({"points": []}, "plans[0].points"),
        (
            {"points": [{"name": "p", "tool": "dd", "file_size": 1, "ram_multiple": 2}]},
            "plans[0].points[0].ram_multiple",
        ),
        (
            {"points": [{"name": "p", "tool": "fio", "block_size": 4096, "job": {"rw": "erase"}}]},
            "plans[0].points[0].rw",
        ),
        ({"configurations": [{"label": "no reason"}]}, "plans[0].configurations[0].name"),
        ({"configurations": [{"name": "b", "label": "neither reason nor note"}]}, "plans[0].configurations"),
        (
            {"configurations": [{"configuration": "a", "largest_file_size": 5}]},
            "plans[0].configurations[0].limit_reason",
        ),
        ({"guards": [{"kind": "cache_rule"}]}, "guards.cache_rule.factor"),
        ({"guards": [{"kind": "idle"}, {"kind": "idle"}]}, "plans[0].guards"),
        ({"cells": [{"row": "a", "point": "q", "reason": "x"}]}, "plans[0].cells[0].point"),
        ({"colour": "red"}, "plans[0].colour"),
    ],
)
def test_what_is_no_plan_is_refused_with_its_place(change, field) -> None:
    good = {
        "name": "n", "title": "t", "stopping": {"kind": "fixed", "rounds": 1}, "configurations": [{"configuration": "a"}],
        "points": [{"name": "p", "tool": "dd", "file_size": 4096}],
    }  # fmt: skip
    assert plans_of({"plans": [good]})[0].points[0].file_size == 4096
    with pytest.raises(PlanError) as refused:
        plans_of({"plans": [{**good, **change}]})
    assert refused.value.field == field


def test_a_configuration_that_the_study_has_not_is_refused_and_nothing_is_kept(lab) -> None:
    study = Study.objects.create(lab=lab, slug="s", title="s")
    with pytest.raises(PlanError, match="expected a configuration of the study"):
        import_plans(study, data_of("tristan-sas-sata"))
    assert not Plan.objects.exists()
