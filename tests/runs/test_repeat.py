"""What the start form is filled in with to repeat a run: dispatched ones in full, uploaded fio output where it shows enough."""

from typing import Any

import pytest

from apps.runs.models import Run, Workload
from apps.runs.start.repeat import template_of
from apps.runs.workload import checked

KIB, MIB, GIB = 1024, 1024**2, 1024**3


def uploaded(*jobs: dict[str, str], tool: str = "fio", names: int = 0) -> Run:
    sections: dict[str, Any] = {str(number): {"name": f"j{number}", "options": job} for number, job in enumerate(jobs)}
    sections |= {str(len(jobs) + number): {"name": f"n{number}"} for number in range(names)}
    return Run(tool=tool, origin="uploaded", sections=sections)


def test_a_dispatched_run_is_repeated_in_full() -> None:
    spec = checked({"jobs": [{"rw": "randrw", "block_size": 8 * KIB, "file_size": GIB, "rwmixread": 70}]})
    found = template_of(Run(tool="fio", origin="dispatched", workload=Workload(tool="fio", spec=spec)))
    assert (list(found.jobs), found.differences, found.problem) == (spec["jobs"], (), "")


def test_options_of_an_output_fill_the_form_with_fios_defaults_for_the_rest() -> None:
    found = template_of(
        uploaded(
            {"rw": "randwrite", "bs": "16k", "size": "2g", "iodepth": "8", "ioengine": "libaio", "direct": "1",
             "runtime": "90", "time_based": "1", "fdatasync": "4"}
        )
    )  # fmt: skip
    [job] = found.jobs
    assert job | {"name": ""} == job | {
        "name": "", "rw": "randwrite", "block_size": 16 * KIB, "file_size": 2 * GIB, "iodepth": 8, "numjobs": 1,
        "ioengine": "libaio", "direct": True, "runtime": 90, "time_based": True, "sync": "fdatasync",
        "fsync_every": 4, "end_fsync": False,
    }  # fmt: skip
    assert found.differences == ()


def test_what_is_not_said_is_fios_default_and_not_the_forms() -> None:
    [job] = template_of(uploaded({"size": "10m"})).jobs
    assert (job["rw"], job["block_size"], job["direct"], job["time_based"], job["runtime"], job["ioengine"]) == (
        "read", 4096, False, False, None, "psync",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("option", "value"), [("rate_iops", "-5"), ("end_syncfs", "1"), ("zonemode", "zbd"), ("rw", "trimwrite")]
)
def test_what_the_form_does_not_know_is_named(option: str, value: str) -> None:
    found = template_of(uploaded({"rw": "randread", "size": "1g"} | {option: value}))
    assert found.jobs
    assert any(line.startswith(f"{option}={value} is not taken over") for line in found.differences)


def test_names_and_logs_are_the_agents_own_and_no_difference() -> None:
    options = {"rw": "read", "size": "1g", "filename": "/dev/sdx", "directory": "/mnt", "write_bw_log": "x"}
    assert template_of(uploaded(options)).differences == ()


def test_jobs_that_ran_beside_each_other_do_so_again() -> None:
    both = {"rw": "read", "size": "1g"}
    assert [job["stonewall"] for job in template_of(uploaded(both, both)).jobs] == [False, False]
    assert [job["stonewall"] for job in template_of(uploaded(both, both | {"stonewall": "1"})).jobs] == [False, True]
    assert [job["stonewall"] for job in template_of(uploaded(both, both | {"stonewall": ""})).jobs] == [False, True]


def test_rare_options_of_an_output_are_taken_over() -> None:
    rare = {"rate_iops": "500", "norandommap": "1", "bssplit": "4k/60:64k/40", "verify": "crc32c", "thinktime": "1ms"}
    found = template_of(uploaded({"rw": "randwrite", "size": "1g"} | rare))
    assert found.differences == ()
    assert found.jobs[0] | {
        "rate_iops": [500], "norandommap": True, "bssplit": [[[4096, 60], [65536, 40]]], "verify": "crc32c",
        "thinktime": 1000,
    } == found.jobs[0]  # fmt: skip


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (uploaded({"rw": "read"}), "how large the files were"),
        (uploaded({"rw": "read", "size": "50%"}), "how large the files were"),
        (uploaded({"rw": "read", "size": "1g"}, names=1), "options of all its jobs"),
        (uploaded(), "options of all its jobs"),
        (uploaded(*[{"rw": "read", "size": "1g"}] * 17), "17 jobs"),
        (uploaded({"size": "1g"}, tool="iozone"), "fio only"),
    ],
)
def test_what_is_not_complete_enough_is_not_offered(run: Run, why: str) -> None:
    found = template_of(run)
    assert found.jobs == ()
    assert why in found.problem


@pytest.mark.parametrize("value", ["a\nb=c", "[x]", "; rw=write", "{% if %}", "", "  "])
def test_odd_values_become_no_other_job(value: str) -> None:
    found = template_of(uploaded({"rw": "read", "size": "1g", "description": value}))
    assert [job["rw"] for job in found.jobs] in ([], ["read"])
