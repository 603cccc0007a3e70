"""Side by side: jobs, streams and disks are called what their runs call them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.comparison.side_by_side.jobs import in_words, of_columns, of_row
from apps.comparison.side_by_side.queries import answer
from apps.comparison.side_by_side.question import SideBySideQuestion
from apps.comparison.side_by_side.table_text import point_of
from apps.inventory.models import Target
from apps.labs.models import Lab
from tests.comparison.factories import run, sample, target
from tests.conftest import Cast
from tests.sampling import for_each
from tests.statements import statements

SignIn = Callable[[str], Client]


def test_a_part_has_its_name_where_all_agree_and_else_its_number_too() -> None:
    assert in_words("read", 1, ["seq"]) == "seq"
    assert in_words("read", 1, ["seq", "rand"]) == "job 2 (seq, rand)"
    assert in_words("read", 0, list("abcde")) == "job 1 (a, b, c, 2 more)"
    assert in_words("read", 0, []) == ""
    assert [in_words(one, 2, []) for one in ("read", "net_send", "disk")] == ["job 3", "part 3", "disk 3"]


def test_a_row_has_the_names_of_the_columns_that_have_something_in_it() -> None:
    names = of_columns([(1, {0: "a", 1: "b"}), (1, {0: "a", 1: "c"}), (2, {0: "x"}), (3, {0: "a", 1: "a"})])
    assert of_row(0, [1], names) == ("a",)
    assert of_row(1, [1], names) == ("b", "c")
    assert of_row(0, [2], names) == ()  # of one part, which needs no name
    assert of_row(0, [1, 2], names) == ("a", "unnamed")
    assert of_row(1, [3], names) == ("a, 2 of 2",)


def jobs(lab: Lab, at: Target, *names: str, operation: str = "read", tool: str = "fio", **fields: Any) -> None:
    sections = {
        str(number): {"name": name, "options": {"rw": "read", "stonewall": "1"}} for number, name in enumerate(names)
    }
    one = run(lab, at, tool=tool, origin="uploaded", sections=sections, **fields)
    for number in range(len(names) or 1):
        sample(one, 1e8 + number, operation, section=number)


def points(*at: Target) -> list[str]:
    return [point_of(row.place) for row in answer(SideBySideQuestion(targets=tuple(one.pk for one in at))).rows]


@pytest.mark.django_db
def test_jobs_of_uploads_are_named(lab: Lab) -> None:
    alpha, beta = target(lab, "alpha"), target(lab, "beta")
    jobs(lab, alpha, "seq", "rand")
    jobs(lab, beta, "seq", "mixed")
    assert points(alpha) == ["seq", "rand"]
    assert points(alpha, beta) == ["seq", "rand", "mixed"]  # a number brings no two jobs together


@pytest.mark.django_db
def test_jobs_that_the_agent_ran_are_named_by_their_workload(lab: Lab) -> None:
    alpha = target(lab)
    one = run(lab, alpha)
    one.workload.spec = {"jobs": [{"name": "first", "rw": "read"}, {"name": "second", "rw": "write"}]}
    one.workload.save()
    sample(one, 1e8, "read")
    sample(one, 1e8, "write", section=1)
    assert points(alpha) == ["second", "first"]


@pytest.mark.django_db
def test_streams_are_named_and_what_has_no_name_keeps_its_number(lab: Lab) -> None:
    alpha = target(lab)
    jobs(lab, alpha, "stream 4", "SUM", operation="net_send", tool="iperf")
    one = run(lab, alpha, tool="iperf", origin="uploaded")
    sample(one, 1e8, "net_receive", section=2)
    assert points(alpha) == ["stream 4", "SUM", "part 3"]


@pytest.mark.django_db
def test_disks_are_named_by_their_notes(lab: Lab) -> None:
    alpha = target(lab)
    one = run(lab, alpha)
    for number, name in enumerate(("sda", "md0")):
        sample(one, 0.5, "disk", "disk_util", section=number, note=f"disk {name}")
    sample(one, 1e8, "read")
    assert points(alpha) == ["", "disk sda", "disk md0"]


@pytest.mark.django_db
def test_one_job_each_needs_no_name(lab: Lab) -> None:
    alpha, beta = target(lab, "alpha"), target(lab, "beta")
    jobs(lab, alpha, "seq")
    jobs(lab, beta, "other")
    assert points(alpha, beta) == [""]


@pytest.mark.django_db
def test_names_are_escaped_on_the_page_and_told_by_rest_and_wikis(lab: Lab, cast: Cast, sign_in: SignIn) -> None:
    alpha, viewer = target(lab), sign_in("viewer")
    jobs(lab, alpha, "<i>seq", "b")
    query = f"target={alpha.pk}"
    assert "&lt;i&gt;seq" in viewer.get(f"/compare/side-by-side/?{query}").content.decode()
    assert "<i>seq" not in viewer.get(f"/compare/side-by-side/?{query}").content.decode()
    rest = f"/api/v1/compare/side-by-side/?{query}&format="
    assert [row["parts"] for row in viewer.get(f"{rest}json").json()["rows"]] == [["<i>seq"], ["b"]]
    assert viewer.get(f"{rest}csv").content.decode().splitlines()[0].endswith("parts")
    assert "seq" in viewer.get(f"{rest}markdown").content.decode()


@pytest.mark.django_db
def test_more_columns_ask_no_more_statements(lab: Lab, cast: Cast, sign_in: SignIn) -> None:
    viewer, asked, chosen = sign_in("viewer"), [], []
    for n in range(6):
        chosen.append(target(lab, f"host{n}"))
        jobs(lab, chosen[-1], "seq", f"rand{n}")
        query = "&".join(f"target={one.pk}" for one in chosen)
        asked.append(len(statements(lambda query=query: viewer.get(f"/compare/side-by-side/?{query}"))))
    assert len(set(asked)) == 1


def uploaded(lab: Lab, at: Target, values: dict[str, float], metric: str = "iops", **fields: Any) -> None:
    """Three runs whose jobs have these values. `options`: of all jobs."""
    options = fields.pop("options", {})
    files = fields.pop("files", {})
    sections = {
        str(number): {
            "name": name.strip("'"),
            **({"group": number} if "stonewall" in options else {}),
            "options": {"rw": "read", **options, **({"filename": files[name]} if files else {})},
        }
        for number, name in enumerate(values)
    }
    for repetition in range(3):
        one = run(lab, at, origin="uploaded", sections=sections, **fields)
        for number, value in enumerate(values.values()):
            own = value * (1 + repetition / 1000)
            beside = {"bandwidth": own * 4096, "io_bytes": own * 40960} if metric == "iops" else {}  # 10 s each
            for name, each in {metric: own, **beside}.items():
                sample(one, each, "read", name, section=number, threads=fields.get("threads"))


def ratios(*at: Target) -> dict[str, list[float | None]]:
    """Of each row, by what its part is called."""
    found = answer(SideBySideQuestion(targets=tuple(one.pk for one in at)))
    return {
        point_of(row.place): [round(cell.judgement.ratio, 2) if cell and cell.judgement else None for cell in cells]
        for row, cells in zip(found.rows, found.cells(), strict=True)
    }


@pytest.mark.django_db
def test_what_jobs_did_together_is_held_against_a_whole_and_no_job_is(lab: Lab) -> None:
    whole, apart = target(lab, "alpha"), target(lab, "beta")
    uploaded(lab, whole, {"job1": 3600.0})
    uploaded(lab, apart, dict.fromkeys(("job1", "job2", "job3", "job4"), 1000.0))
    assert ratios(whole, apart) == {"4 jobs together": [None, 1.11]}
    assert ratios(apart, whole) == {"4 jobs together": [None, 0.9]}


@pytest.mark.django_db
@for_each("metric", ["cpu", "clat_mean", "iops_min", "bandwidth_max"], taken_back=True)
def test_what_does_not_add_up_is_held_against_no_whole(lab: Lab, metric: str) -> None:
    whole, apart = target(lab, "alpha"), target(lab, "beta")
    uploaded(lab, whole, {"clones": 3600.0}, metric)
    uploaded(lab, apart, {"clones": 1000.0, "clones'": 1000.0}, metric)
    assert [one for some in ratios(whole, apart).values() for one in some if one] == []


@pytest.mark.django_db
def test_jobs_one_after_another_are_held_against_those_of_their_name(lab: Lab) -> None:
    both, alone = target(lab, "alpha"), target(lab, "beta")
    uploaded(lab, both, {"hdd": 900.0, "ssd": 180_000.0}, options={"stonewall": "1"})
    uploaded(lab, alone, {"ssd": 90_000.0})
    assert ratios(both, alone) == {"hdd": [None, None], "ssd": [None, 0.5]}
    assert ratios(alone, both) == {"hdd": [None, None], "ssd": [None, 2.0]}
    swapped = target(lab, "gamma")
    uploaded(lab, swapped, {"ssd": 90_000.0, "hdd": 900.0}, options={"stonewall": "1"})
    assert ratios(both, swapped) == {"hdd": [None, 1.0], "ssd": [None, 0.5]}


@pytest.mark.django_db
def test_a_job_without_a_name_stands_for_its_own_column_alone(lab: Lab) -> None:
    one, other = target(lab, "alpha"), target(lab, "beta")
    uploaded(lab, one, {"": 900.0, "'": 180_000.0}, options={"stonewall": "1"})
    uploaded(lab, other, {"": 900.0, "'": 90_000.0}, options={"stonewall": "1"})
    assert {each for some in ratios(one, other).values() for each in some} == {None}


@pytest.mark.django_db
def test_a_sum_over_unlike_files_is_no_whole(lab: Lab) -> None:
    both, alone = target(lab, "alpha"), target(lab, "beta")
    uploaded(lab, both, {"hdd": 900.0, "ssd": 180_000.0}, files={"hdd": "/data/hdd.img", "ssd": "/data/ssd.img"})
    uploaded(lab, alone, {"ssd": 90_000.0})
    assert {each for some in ratios(both, alone).values() for each in some} == {None}


@pytest.mark.django_db
def test_streams_are_held_against_nothing_and_their_sum_is(lab: Lab) -> None:
    one, other = target(lab, "alpha"), target(lab, "beta")
    for place, value in ((one, 1e9), (other, 2e9)):
        for _ in range(3):
            made = run(
                lab,
                place,
                tool="iperf3",
                origin="uploaded",
                sections={"0": {"name": "5"}, "1": {"name": "7"}, "2": {"name": "SUM"}},
            )
            for section, part in enumerate((0.4, 0.6, 1.0)):
                sample(made, value * part, "net_send", section=section)
    assert ratios(one, other) == {"5": [None, None], "7": [None, None], "SUM": [None, 2.0]}
