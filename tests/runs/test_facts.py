"""What comparisons group by."""

from typing import Any

import pytest

from apps.inventory.models import Snapshot
from apps.labs.models import Lab
from apps.runs.facts import run_facts, sync_of
from apps.runs.models import Run, Workload
from apps.runs.workload import checked

JOB = {"rw": "randread", "block_size": 4096, "file_size": 2**20}


def run(*jobs: dict[str, Any], facts: dict[str, Any] | None = None, **fields: Any) -> Run:
    spec = checked({"tool": "fio", "jobs": list(jobs)})
    return Run(tool="fio", workload=Workload(tool="fio", spec=spec), snapshot=Snapshot(facts=facts or {}), **fields)


def test_facts_come_from_the_snapshot_the_tool_and_the_workload(lab: Lab) -> None:
    facts = run_facts(run(JOB, facts={"raid_level": "5", "ram": 2**30}, tool_version="3.33"))
    assert facts == {
        "raid_level": "5", "ram": 2**30, "tool": "fio", "tool_version": "3.33",
        "rw": "randread", "ioengine": "psync", "direct": 1, "sync": "direct",
    }  # fmt: skip


def test_jobs_that_differ_are_joined(lab: Lab) -> None:
    facts = run_facts(run(JOB, JOB | {"rw": "write", "direct": False, "end_fsync": True}))
    assert (facts["rw"], facts["sync"], facts["direct"]) == ("randread + write", "direct + fsync", "1 + 0")


@pytest.mark.parametrize(
    ("options", "sync"),
    [
        ({"direct": False}, "none"),
        ({"direct": True}, "direct"),
        ({"direct": False, "sync": "fdatasync"}, "fdatasync"),
        ({"direct": True, "sync": "dsync"}, "dsync"),
        ({"direct": False, "end_fsync": True}, "fsync"),
    ],
)
def test_sync_says_how_writes_reach_the_disk(options: dict[str, Any], sync: str) -> None:
    assert sync_of(options) == sync


def test_a_label_is_a_fact_but_never_hides_one(lab: Lab) -> None:
    facts = run_facts(run(JOB, labels={"firmware": "2.1", "tool": "mine", "empty": "", "nested": [1]}))
    assert (facts["firmware"], facts["tool"]) == ("2.1", "fio")
    assert "empty" not in facts
    assert "nested" not in facts


def test_values_are_strings_or_numbers(lab: Lab) -> None:
    facts = run_facts(run(JOB, facts={"guest": True, "nothing": None, "members": ["a"]}))
    assert facts["guest"] == 1
    assert all(type(value) in (str, int, float) for value in facts.values())


def test_a_run_without_evidence_still_has_its_tool(lab: Lab) -> None:
    assert run_facts(Run(tool="bonnie")) == {"tool": "bonnie"}


DISK = {"scheduler": "none [mq-deadline] bfq", "read_ahead_kb": "128", "rotational": "1", "write_cache": "write back"}


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({}, {}),
        (
            {"device": DISK, "disks": {"sda": DISK}, "governors": ["performance"]},
            {
                "io_scheduler": "mq-deadline", "rotational": 1, "drive_write_cache": "write back", "read_ahead": 131072,
                "cpu_governor": "performance",
            },
        ),
        (
            {"device": {"read_ahead_kb": "4096"}, "disks": {"sda": DISK, "nvme0n1": DISK | {"scheduler": "none", "rotational": "0"}}},
            {
                "io_scheduler": "mq-deadline + none", "rotational": "0 + 1", "drive_write_cache": "write back",
                "read_ahead": 4194304,
            },
        ),
        ({"disks": {"sda": DISK, "sdb": {"rotational": "0"}}}, {"rotational": "0 + 1"}),
        (  # a filesystem that no device stands for, of which nothing says how it reads ahead
            {"disks": {"sda": DISK}},
            {"io_scheduler": "mq-deadline", "rotational": 1, "drive_write_cache": "write back"},
        ),
        ({"device": {"scheduler": "[none]", "read_ahead_kb": "0"}}, {"io_scheduler": "none", "read_ahead": 0}),
        ({"disks": {"sda": {"scheduler": "a b", "rotational": "x", "read_ahead_kb": "-1"}}}, {}),
        ({"governors": ["performance", "schedutil"]}, {"cpu_governor": "performance + schedutil"}),
    ],
)  # fmt: skip
def test_how_the_kernel_was_set_is_a_fact_where_all_disks_say_it(
    lab: Lab, settings: dict[str, Any], facts: dict[str, Any]
) -> None:
    plain = run_facts(run(JOB))
    assert run_facts(run(JOB, place={"type": "ext4", "settings": settings})) == plain | facts
