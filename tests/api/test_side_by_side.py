"""The side-by-side table for scripts and wikis: the page's numbers in base units."""

import csv
import html
import io

import pytest

from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.api.conftest import Script
from tests.comparison.factories import GIB, measured, run, sample, target
from tests.conftest import Cast

PATH = "compare/side-by-side/"


@pytest.fixture
def two(cast: Cast) -> list[int]:
    """Ids of two targets, the second twice as fast; it has a range as well."""
    with lab_scope(cast.lab.pk):
        measured(cast.lab, "alpha", [9.9e7, 1e8, 1.01e8], file_size=4 * GIB)
        measured(cast.lab, "beta", [1.99e8, 2e8, 2.01e8], file_size=4 * GIB)
        sample(run(cast.lab, target(cast.lab, "beta")), None, file_size=8 * GIB, low=7e7, high=8e7, quality="range")
        return [target(cast.lab, name).pk for name in ("alpha", "beta")]


def test_it_is_the_table_in_base_units(reader: Script, two: list[int]) -> None:
    found = reader.get(f"{PATH}?target={two[0]}&target={two[1]}").json()
    assert [(one["id"], one["name"]) for one in found["columns"]] == list(
        zip(two, ["alpha: scratch", "beta: scratch"], strict=True)
    )
    assert (found["baseline"], found["last"]) == (two[0], 10)
    full, ranged = found["rows"]
    assert (full["operation"], full["metric"], full["unit"], full["file_size"]) == (
        "write",
        "bandwidth",
        "B/s",
        4 * GIB,
    )
    ours, theirs = full["cells"]
    assert (ours["n"], ours["mean"], ours["ratio"]) == (3, 1e8, None)
    assert theirs["ratio"] == pytest.approx(2.00005, rel=1e-4)
    assert theirs["verdict"] == "better"
    [only] = ranged["cells"]
    assert (only["column"], only["mean"], only["low"], only["high"]) == (two[1], None, 7e7, 8e7)
    assert found["permalink"].endswith(f"/compare/side-by-side/?target={two[0]}&target={two[1]}")


def test_without_a_choice_it_is_what_was_measured_last(reader: Script, two: list[int]) -> None:
    found = reader.get(PATH).json()
    assert {one["id"] for one in found["columns"]} == set(two)


def test_csv_has_a_row_for_each_cell_and_the_same_digits(reader: Script, two: list[int]) -> None:
    address = f"{PATH}?target={two[0]}&target={two[1]}"
    response = reader.get(f"{address}&format=csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(response.content.decode().removeprefix("\ufeff"))))
    cells = [cell for row in reader.get(address).json()["rows"] for cell in row["cells"]]
    assert [row["column"] for row in rows] == ["alpha: scratch", "beta: scratch", "beta: scratch"]
    assert [float(row["ratio"]) if row["ratio"] else None for row in rows] == [cell["ratio"] for cell in cells]
    assert rows[2]["low"] == "70000000"


def test_a_wiki_gets_people_s_units_and_a_bot_its_304(reader: Script, two: list[int]) -> None:
    response = reader.get(f"{PATH}?target={two[0]}&target={two[1]}&format=mediawiki")
    shown = html.unescape(response.content.decode())
    assert "200 ± 2.48 (n = 3; 2.00× better)" in shown
    assert "70.0 – 80.0" in shown
    again = reader.get(
        f"{PATH}?target={two[0]}&target={two[1]}&format=mediawiki", **{"If-None-Match": response["ETag"]}
    )
    assert again.status_code == 304


def test_what_it_cannot_answer_is_a_named_400(reader: Script) -> None:
    response = reader.get(f"{PATH}?last=0")
    assert (response.status_code, response.json()["field"], response.json()["found"]) == (400, "last", "0")


def test_another_labs_target_is_no_column(reader: Script, secret_run: Run) -> None:
    response = reader.get(f"{PATH}?target={secret_run.target_id}")
    assert (response.json()["columns"], response.json()["rows"]) == ([], [])
    assert b"hidden" not in response.content
