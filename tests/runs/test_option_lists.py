"""Options with several values: read as people type them, and started as a run for each combination, by form and REST."""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope
from apps.parsers.fio.job_options.table import spell_value
from apps.runs.fio_options import BY_NAME
from apps.runs.models import Run
from apps.runs.services import MAX_STARTS, start_on_targets
from apps.runs.start.option_lists import parse_lines, read_options, separator_of, vary_workload
from apps.runs.start.saved_workloads import save_workload
from apps.runs.start.value_ranges import SEMICOLON, ValueListError, expand_ranges
from apps.runs.workload import WorkloadError
from tests.api.conftest import Script
from tests.conftest import Cast
from tests.runs.option_values import at_limits
from tests.runs.test_pages import form
from tests.shared_world import cast, furnished

__all__ = ["cast", "furnished"]

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
ROOT = Path(__file__).parents[2]
JOB = {"rw": "randread", "block_size": 4 * KIB, "file_size": GIB}


def read_whole(text: str) -> int:
    if not text.isdigit():
        raise ValueListError(text, "a whole number")
    return int(text)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("10..50 step 10", [10, 20, 30, 40, 50]),
        ("10..45 STEP 10", [10, 20, 30, 40, 45]),
        ("0..4 step 2, 9", [0, 2, 4, 9]),
        ("1..1000 step x10", [1, 10, 100, 1000]),
        ("3..3 step 1", [3]),
        ("1, 2, 4…16", [1, 2, 4, 8, 16]),
        ("8, 2, 4..16", [8, 2, 4, 16]),
    ],
)
def test_a_range_has_its_own_step_or_goes_on(text: str, values: list[int]) -> None:
    assert expand_ranges(text, read_whole) == values


@pytest.mark.parametrize(
    "text", ["1..9 step", "1..9 step 0", "1..9 step x1", "9..1 step 2", "0..8 step x2", "0..8", "1..100 step 1", ","]
)
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(ValueListError, match="expected"):
        expand_ranges(text, read_whole)


@pytest.mark.parametrize(
    ("name", "given", "values"),
    [
        ("block_size", "4k..16k step 4k", [4 * KIB, 8 * KIB, 12 * KIB, 16 * KIB]),
        ("runtime", "30s, 1m", [30, 60]),
        ("rate_cycle", "1s..3s step 500ms", [1000, 1500, 2000, 2500, 3000]),
        ("latency_percentile", "90..99 step 4.5", [90, 94.5, 99]),
        ("direct", "yes, no", [True, False]),
        ("direct", [True, "0"], [True, False]),
        ("sync", "none; fsync", ["none", "fsync"]),
        ("percentage_random", "100,0; 50", [[100, 0], [50]]),
        ("percentage_random", [100, [50, 0]], [[100], [50, 0]]),
        ("bssplit", "4k/60:64k/40; 4k/100", [[[[4096, 60], [65536, 40]]], [[[4096, 100]]]]),
        ("cpus_allowed", "0-1,4; 2", [[0, 1, 4], [2]]),
        ("ioengine", ["libaio, io_uring", "psync"], ["libaio", "io_uring", "psync"]),
        ("rwmixread", [None, "70"], [None, 70]),
        ("mem_align", "4k..16k", [4 * KIB, 8 * KIB, 16 * KIB]),
    ],
)
def test_values_are_read_by_the_option_table(name: str, given: Any, values: list[Any]) -> None:
    assert read_options({name: given}) == {name: values}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"iodepth": "1,x"}, "options.iodepth: found 'x', expected a whole number from 1 to 4096"),
        ({"block_size": "1k..3k step 700"}, "options.block_size: found '1724', expected .*a multiple of 512"),
        ({"block_size": "default"}, "this option has no default"),
        ({"rw": None}, "this option has no default"),
        ({"iodepth": ["1", 2.5]}, "found '2.5'"),
        ({"bs": "4k,8k"}, "it is block_size in workloads"),
        ({"iodpth": 1}, "there are iodepth"),
        ({"filename": "/dev/sda"}, "a workload cannot have this option"),
        ({"nice": "1," * 200}, "at most 300"),
        ([1], "an object of options"),
    ],
)
def test_a_wrong_value_is_named(given: Any, words: str) -> None:
    with pytest.raises(WorkloadError, match=words):
        read_options(given)


def test_all_jobs_get_each_combination_and_equal_workloads_are_one() -> None:
    spec = {"jobs": [JOB, {**JOB, "rw": "randwrite", "nice": 3}]}
    workloads = vary_workload(spec, read_options({"nice": "0, default, 5", "block_size": "4k,8k"}))
    assert [[(job["block_size"], job.get("nice", 0)) for job in found["jobs"]] for found in workloads] == [
        [(4096, 0)] * 2, [(8192, 0)] * 2, [(4096, 5)] * 2, [(8192, 5)] * 2,
    ]  # fmt: skip


def test_a_combination_that_does_not_go_together_is_named() -> None:
    with pytest.raises(WorkloadError, match=r"iodepth: found .8 with ioengine=psync iodepth=8., expected 1: psync"):
        vary_workload({"jobs": [JOB]}, read_options({"ioengine": "libaio, psync", "iodepth": "1,8"}))
    with pytest.raises(WorkloadError, match=r"options.randseed: found '120 combinations', expected at most 100"):
        vary_workload({"jobs": [JOB]}, read_options({"randseed": "1..60 step 1", "direct": "yes,no"}))


def test_lines_of_a_text_name_each_option_once() -> None:
    assert parse_lines("\n iodepth = 1, 8\nrate=1m; 2m\n\n") == {"iodepth": "1, 8", "rate": "1m; 2m"}
    for text, words in (("iodepth 8", "line 1: iodepth 8"), ("nice=1\n=3", "line 2"), ("nice=1\nnice=2", "again")):
        with pytest.raises(WorkloadError, match=words):
            parse_lines(text)


@pytest.mark.django_db
def test_the_form_starts_a_run_for_each_combination(furnished, sign_in) -> None:
    person = sign_in("engineer")
    typed = {"options": "ioengine = libaio\niodepth = 1,2..8\nrate = 1m; 1m,2m", "repetitions": 2}
    review = html.unescape(
        person.post(reverse("run-new"), form(furnished.target, act="review") | typed).content.decode()
    )
    assert "The first of 8 combinations" in review
    assert "16 runs, at most" in review
    with lab_scope(furnished.lab.pk):
        before = Run.objects.count()
    answer = person.post(reverse("run-new"), form(furnished.target) | typed, follow=True)
    assert "16 runs of 8 combinations on 1 target are queued" in answer.content.decode()
    with lab_scope(furnished.lab.pk):
        made = list(Run.objects.order_by("pk")[before:])
        jobs = [run.workload.jobs[0] for run in made]
        assert [(job["iodepth"], job["rate"]) for job in jobs[::2]] == [
            (depth, rate) for depth in (1, 2, 4, 8) for rate in ([MIB], [MIB, 2 * MIB])
        ]
        assert {run.repetition for run in made} == {1, 2}
        assert BY_NAME["ioengine"].default == "psync", "the form's own engine is replaced"
        assert {job["ioengine"] for job in jobs} == {"libaio"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("iodepth = 1,8", "found '8 with iodepth=8', expected 1: psync"),
        ("bs = 4k,8k", "it is block_size in workloads"),
        ("iodepth", "line 1: iodepth"),
    ],
)
def test_an_error_of_a_line_stands_at_the_input(furnished, sign_in, text: str, words: str) -> None:
    answer = sign_in("engineer").post(reverse("run-new"), form(furnished.target) | {"options": text})
    assert answer.status_code == 422
    page = html.unescape(answer.content.decode())
    assert re.search(rf'id="id_options_error">[^<]*{re.escape(words)}', page), page[page.find("form-error") :][:400]


@pytest.fixture
def targets(lab) -> list[Target]:
    host = Host.objects.create(lab=lab, name="alpha", ram_bytes=GIB)
    return [
        Target.objects.create(lab=lab, host=host, name=name, path=f"/{name}", is_agents_own=True) for name in ("a", "b")
    ]


@pytest.mark.django_db
def test_rest_starts_each_combination_on_each_target(token: Callable[[str], str], targets, cast: Cast) -> None:
    script = Script(token("run"))
    wanted = {"targets": [target.pk for target in targets], "workload": JOB, "repetitions": 2}
    answer = script("POST", "runs/", {**wanted, "options": {"nice": [0, 5], "randseed": "1..3 step 1"}})
    assert answer.status_code == 201, answer.content
    with lab_scope(cast.lab.pk):
        made = Run.objects.filter(pk__in=answer.json()["runs"]).order_by("pk")
        assert len(made) == 2 * 2 * 3 * 2
        assert [(run.target_id, run.repetition) for run in made][:3] == [
            (targets[0].pk, 1), (targets[0].pk, 2), (targets[0].pk, 1),
        ]  # fmt: skip
    refused = script("POST", "runs/", {**wanted, "options": {"iodepth": [1, 8]}})
    assert (refused.status_code, refused.json()["field"]) == (400, "jobs[0].iodepth")
    assert "8 with iodepth=8" in refused.json()["detail"]
    with lab_scope(cast.lab.pk):
        assert Run.objects.filter(target__in=targets).count() == 24, "all or none"


@pytest.mark.django_db
def test_rest_starts_a_saved_workload_by_its_id(token: Callable[[str], str], targets, cast: Cast) -> None:
    with lab_scope(cast.lab.pk, cast.other_lab.pk):
        saved = save_workload(cast.lab, "reads", {"jobs": [{**JOB, "nice": 7}]}, "me")
        other = save_workload(cast.other_lab, "reads", {"jobs": [JOB]}, "me")
    script = Script(token("run"))
    answer = script("POST", "runs/", {"target": targets[0].pk, "saved_workload": saved.pk})
    assert answer.status_code == 201, answer.content
    assert answer.json()["workload"]["jobs"][0]["nice"] == 7
    for key in (other.pk, 10**9):
        missing = script("POST", "runs/", {"target": targets[0].pk, "saved_workload": key})
        assert (missing.status_code, missing.json()["field"]) == (404, "saved_workload")
    both = script("POST", "runs/", {"target": targets[0].pk, "saved_workload": saved.pk, "workload": JOB})
    assert (both.status_code, "workload and saved_workload" in both.content.decode()) == (400, True)
    varied = script("POST", "runs/", {"target": targets[0].pk, "saved_workload": saved.pk, "options": {"nice": "1,2"}})
    assert len(varied.json()["runs"]) == 2


@pytest.mark.django_db
def test_a_start_has_a_limit(targets, lab) -> None:
    options = read_options({"randseed": "1..50 step 1", "nice": "0,1"})
    many = targets * (MAX_STARTS // 200 + 1)
    with lab_scope(lab.pk), pytest.raises(WorkloadError, match="100 combinations on 6 targets', expected"):
        start_on_targets(many, lab=lab, spec={"jobs": [JOB]}, options=options)
    with lab_scope(lab.pk):
        assert not Run.objects.filter(target__in=targets).exists()


def test_the_documentation_names_each_option_whose_values_have_commas() -> None:
    text = (ROOT / "docs" / "how-to" / "fio-workloads.md").read_text().replace("\n", " ")
    sentence = text.partition("Values with commas of their own have ")[2].partition(". ")[0]
    named = set(re.findall(r"`(\w+)`", sentence))
    assert named == {option.name for option in BY_NAME.values() if separator_of(option) == SEMICOLON}


def test_no_value_of_the_other_options_has_a_comma() -> None:
    """Values at the limits of every kind, so that a new kind with commas is not taken for a list."""
    for option in BY_NAME.values():
        spelled = [spell_value(option.name, value) for value in at_limits(option.kind)]
        assert separator_of(option) == SEMICOLON or not any("," in text for text in spelled), option.name
        assert not any(";" in text for text in spelled), option.name
