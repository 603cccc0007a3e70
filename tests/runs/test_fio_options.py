"""The tables of fio's options, of the server and of the agent, and what is made from them."""

import math
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apps.parsers.fio.job_options.refusals import REASONS, REFUSED
from apps.parsers.fio.job_options.table import BY_FIO_NAME
from apps.runs.fio_options import (
    BY_NAME,
    ENGINES,
    OPTIONS,
    REQUIRED,
    FioOption,
    FormSection,
    OptionGroup,
    Written,
    options_in,
    options_of,
)
from apps.runs.forms import JobForm
from apps.runs.start.job_file import JobFileError, read_job_file
from apps.runs.workload import WorkloadError, checked
from tests.runs.option_values import at_limits, draw_job
from tests.sampling import for_each
from worker.agent import options, policy, render
from worker.agent.conf import GIB, Conf
from worker.agent.options import refusals

ROOT = Path(__file__).resolve().parents[2]
POLICY = ROOT.parent / "shared" / "design" / "fio_policy.md"
PLAIN = {"rw": "randrw", "block_size": 4096, "file_size": 1 << 20, "ioengine": "null", "direct": False}
each = for_each("option", OPTIONS)


class Limits:
    """A host with much of everything."""

    quota_bytes = free_bytes = 2**60
    ram_bytes = 64 * GIB
    conf = Conf(
        {
            "directory": "/srv/spindle", "quota_bytes": str(2**60), "max_runtime_s": str(400 * 86400),
            "max_iodepth": "4096", "max_numjobs": "4096", "cpus": "0-4095", "fio": "",
        }
    )  # fmt: skip


LIMITS: Any = Limits()


def test_both_tables_have_the_same_options() -> None:
    assert {option.name for option in OPTIONS} == set(options.OPTIONS)
    assert tuple(options.ENGINES) == ENGINES


@each
def test_both_say_the_same_of_an_option(option: FioOption) -> None:
    own = options.OPTIONS[option.name]
    assert own.rule.words == option.kind.expected
    assert own.default == option.default or (own.default is options.REQUIRED and option.default is REQUIRED)
    assert (own.is_rare, own.engines) == (option.is_rare, option.engines)
    if option.written not in (Written.WITH_SYNC, Written.WITH_BLOCK_SIZE, Written.WITH_PATTERN):
        assert options.fio_name(option.name) == option.key
        assert option.key in render.OPTIONS


@each
def test_both_accept_and_refuse_the_same_values(option: FioOption) -> None:
    is_right = options.OPTIONS[option.name].rule.is_right
    near = [value for first in at_limits(option.kind) for value in neighbours(first)]
    assert all(option.kind.accepts(value) and is_right(value) for value in at_limits(option.kind))
    for value in [
        *near,
        "$(id)",
        -1,
        2**70,
        1.5,
        math.nan,
        math.inf,
        [],
        {},
        b"read",
        None,
        True,
        [True],
        [[]],
        [None],
    ]:
        assert option.kind.accepts(value) == is_right(value), value
    assert not any(is_right(value) for value in ("$(id)", 2**70, math.nan, [], {}, b"read", "a\nb=c", ["$(id)"], [{}]))


def neighbours(value: Any) -> list[Any]:
    """Return values that are just beside one that is right."""
    if type(value) is int:
        return [value - 1, value + 1, float(value), str(value), [value]]
    if type(value) is str:
        return [f"{value} ", f"{value}\n", value.upper(), f"{value}0", [value]]
    if type(value) is list:
        changed = [
            [*value[:place], other, *value[place + 1 :]]
            for place, item in enumerate(value)
            for other in neighbours(item)
        ]
        return [value[1:], value * 70, [*value, *value[-1:]], *changed[:200]]
    return [value, int(value) if value is not None else 0]


@each
def test_a_text_of_a_job_file_comes_back_as_the_value(option: FioOption) -> None:
    for value in at_limits(option.kind):
        if value is not None:
            assert option.kind.read(option.kind.spell(value)) == value
            assert option.kind.read(options.OPTIONS[option.name].rule.spell(value)) == value


def test_no_name_is_both_run_and_refused() -> None:
    assert not REFUSED.keys() & (BY_FIO_NAME.keys() | BY_NAME.keys())
    assert refusals.REFUSED == REFUSED
    assert refusals.REASONS == REASONS


def test_server_and_host_check_with_the_same_text() -> None:
    texts = [
        (ROOT / path / "agreement.py").read_text() for path in ("apps/parsers/fio/job_options", "worker/agent/options")
    ]
    ours, theirs = (re.sub(r"^from \S+ import ENGINES_OF", "", text, flags=re.MULTILINE) for text in texts)
    assert ours == theirs


# Of rows with several verdicts, which option has which.
SPLIT = {
    "verify_async_cpus": False, "log_compression_cpus": False, "end_syncfs": False, "group_reporting": True,
    "zonecapacity": False, "read_beyond_wp": False, "max_open_zones": False, "job_max_open_zones": False,
}  # fmt: skip
# Allowed by the policy and refused all the same: Spindle has fio write no log that they could shape.
OF_LOGS = ["log_avg_msec", "log_hist_msec", "log_entries", "log_hist_coarseness", "log_max_value", "log_window_value"]
READ_AS_ANOTHER = {"buffered", "fsync", "fdatasync", "rwmixwrite"}  # the field that they are is in the table


def policy_rows() -> list[tuple[list[str], str, str]]:
    """Return the section of each row of the policy, its names, and its verdict."""
    rows, section = [], ""
    for line in POLICY.read_text().splitlines():
        section = line if line.startswith("##") else section
        cells = re.match(r"\| (`.*?) \| (.*) \| ([^|]*) \|$", line)
        if cells:
            rows.append((re.findall(r"`([\w-]+)`", cells[1]), cells[3], section))
    return rows


@pytest.mark.skipif(not POLICY.exists(), reason="the policy is not here")
def test_the_table_is_the_policy() -> None:
    known, checked_names = BY_FIO_NAME.keys() | BY_NAME.keys() | READ_AS_ANOTHER, 0
    for names, verdict, section in policy_rows():
        if not section.startswith(("### 3", "## 4")) or names[0] in (
            "psync",
            "null",
            "falloc",
            "io_uring_cmd",
            "exec",
            "net",
        ):
            continue
        if names[0] in (
            "libblkio",
            "write_mode",
            "profile",
        ):  # engines; and rows that name values or others' options too
            names = [name for name in names if name in REFUSED]
        for name in names:
            is_allowed = SPLIT.get(name, "ALLOW" in verdict and "`group_reporting` ALLOW" not in verdict)
            is_allowed = is_allowed and name not in OF_LOGS
            assert (name in known) == is_allowed, (name, verdict)
            assert is_allowed or REFUSED[name], (name, verdict)
            checked_names += 1
    assert checked_names > 350


def installed(*arguments: str) -> list[str]:
    fio = shutil.which("fio")
    if fio is None:
        pytest.skip("fio is not installed")
    return subprocess.run([fio, *arguments], capture_output=True, text=True, check=False).stdout.splitlines()


@pytest.mark.fio
def test_every_option_of_the_installed_fio_is_run_or_refused_with_a_reason() -> None:
    names = {line.split(":")[0].strip() for line in installed("--cmdhelp=all") if ":" in line}
    assert len(names) > 150
    engines = [line.strip() for line in installed("--enghelp")[1:] if line.strip()]
    for engine in engines:
        names |= {
            line.split(":")[0].strip()
            for line in installed(f"--enghelp={engine}")
            if line[:24].strip() and " : " in line
        }
    known = BY_FIO_NAME.keys() | READ_AS_ANOTHER | REFUSED.keys()
    assert sorted(names - known) == []
    for name in sorted(names - BY_NAME.keys() - {"name"}):
        with pytest.raises(policy.Refused, match=re.escape(name)) as caught:
            policy.check({"tool": "fio", "jobs": [{**PLAIN, name: 1}]}, LIMITS)
        assert REFUSED.get(name, "") in str(caught.value)


@pytest.mark.parametrize("name", OF_LOGS)
def test_options_of_logs_that_nobody_would_see_are_refused_with_the_reason(name: str) -> None:
    reason = "Spindle has none written: values over time come from fio's report"
    with pytest.raises(WorkloadError, match=reason):
        checked({"tool": "fio", "jobs": [{**PLAIN, name: 1024}]})
    with pytest.raises(policy.Refused, match=reason):
        policy.check({"tool": "fio", "jobs": [{**PLAIN, name: 1024}]}, LIMITS)
    with pytest.raises(JobFileError) as caught:
        read_job_file(f"[a]\nrw=read\nbs=4k\nsize=1m\n{name}=1024\n")
    assert [(problem.line, reason in problem.expected) for problem in caught.value.problems] == [(5, True)]
    assert name not in JobForm.base_fields


@each
def test_the_form_has_it(option: FioOption) -> None:
    field = JobForm.base_fields[option.name]
    assert field.label == option.label
    assert option.section


def test_the_form_is_in_sections_and_groups() -> None:
    form = JobForm()
    for section in (FormSection.MAIN, FormSection.CHECKS, FormSection.MORE):
        assert [field.name for field in form.sections[section.value]] == [option.name for option in options_in(section)]
    groups = {name: [field.name for field in fields] for name, fields, _ in form.groups}
    assert groups == {str(group.value): [option.name for option in options_of(group)] for group in OptionGroup}


def test_every_option_is_in_the_reference() -> None:
    text = " ".join((ROOT / "docs" / "reference" / "workload-options.md").read_text().split())
    assert [option.name for option in OPTIONS if f"`{option.name}`" not in text] == []
    assert [reason for reason, _ in REASONS if reason not in text] == []


def drawn(number: int, seed: int) -> list[dict[str, Any]]:
    return [draw_job(random.Random(seed + place)) for place in range(number)]


def test_what_the_server_accepts_the_host_accepts_as_it_is() -> None:
    for job in drawn(150, 1000):
        assert policy.check({"tool": "fio", "jobs": [job]}, LIMITS) == [job]


def test_both_refuse_the_same_combinations() -> None:
    chance = random.Random(7)
    refusals = 0
    for job in drawn(150, 5000):
        other = draw_job(chance)
        mixed = {**job, **dict(chance.sample(sorted(other.items()), len(other) // 2)), "name": "job0"}
        server, host = complaint_of(checked, mixed), complaint_of(partial(policy.check, limits=LIMITS), mixed)
        assert server == host, mixed
        refusals += bool(server)
    assert 20 < refusals < 150


def complaint_of(check: Callable[[Any], Any], job: dict[str, Any]) -> str:
    """Return the option and what is expected of it, or an empty text where the job is accepted."""
    try:
        check({"tool": "fio", "jobs": [job]})
    except (WorkloadError, policy.Refused) as error:
        return re.sub(r".*?(\w+): found .*, (expected .*?)\.?$", r"\1 \2", str(error))
    return ""
