"""Side by side: jobs, streams and disks are called what their runs call them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.comparison.side_by_side.answer import answer
from apps.comparison.side_by_side.asked import Asked
from apps.comparison.side_by_side.html import point_of
from apps.comparison.side_by_side.parts import in_words, of_columns, of_row
from apps.inventory.models import Target
from apps.labs.models import Lab
from tests.comparison.factories import run, sample, target
from tests.conftest import Cast
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
    sections = {str(number): {"name": name, "options": {"rw": "read"}} for number, name in enumerate(names)}
    one = run(lab, at, tool=tool, origin="uploaded", sections=sections, **fields)
    for number in range(len(names) or 1):
        sample(one, 1e8 + number, operation, section=number)


def points(*at: Target) -> list[str]:
    return [point_of(row.place) for row in answer(Asked(targets=tuple(one.pk for one in at))).rows]


@pytest.mark.django_db
def test_jobs_of_uploads_are_named(lab: Lab) -> None:
    alpha, beta = target(lab, "alpha"), target(lab, "beta")
    jobs(lab, alpha, "seq", "rand")
    jobs(lab, beta, "seq", "mixed")
    assert points(alpha) == ["seq", "rand"]
    assert points(alpha, beta) == ["seq", "job 2 (rand, mixed)"]


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
