"""Tables and charts of a report from their definitions: what cells say, and what a wrong definition is told."""

from typing import Any

import pytest

from apps.comparison.charts.chart import ValueForm
from apps.comparison.charts.report import chart_of_report
from apps.core.tables import Head
from apps.studies.report.chart_definitions import chart_form, in_words
from apps.studies.report.flat_tables import as_read, data_of
from apps.studies.report.sample_selection import ReportSample, Samples
from apps.studies.report.table_definitions import FormError, table_form
from apps.studies.report.tables import column_titles, rebuilt

SAMPLES = Samples(
    [
        ReportSample(1, 7, "one", "write", "bandwidth", 1.5e6, printed="1.5 MB/s", file_size=100, cpu=0.42),
        ReportSample(2, 7, "one", "read", "bandwidth", None, 2e6, 2.6e6, file_size=100),
        ReportSample(3, 8, "two", "write", "bandwidth", None, missing_reason="not run", file_size=100),
        ReportSample(
            4, 8, "two", "read", "bandwidth", None, low=3e6, printed="+++++", quality="lower_bound", file_size=100
        ),
        ReportSample(5, 8, "two", "rewrite", "bandwidth", 3e6, quality="approximate", file_size=100),
    ]
)
ENTRY: dict[str, Any] = {
    "name": "t", "title": "speeds", "unit": "MB/s", "factor": 1_000_000, "missing": "n/a", "approximate": "~ ",
    "heads": [["", {"text": "MB/s", "span": 3}], ["name", "write", "read", "CPU"]],
    "pick": {"file_size": 100},
    "columns": [{"pick": {"operation": "write"}}, {"pick": {"operation": "read"}, "decimals": 1}, {"pick": {"operation": "write"}, "part": "cpu"}],
    "rows": [
        {"head": "first", "pick": {"configuration": "one"}}, {"head": "second", "pick": {"configuration": "two"}},
        {"head": "third", "pick": {"configuration": "three"}},
    ],
}  # fmt: skip


def test_cells_say_what_was_printed_and_what_is_not_there() -> None:
    found = rebuilt(table_form(ENTRY), SAMPLES)
    assert [[cell.text for cell in row.cells] for row in found.rows] == [
        ["1.5", "2.0 – 2.6", "42"], ["n/a", "+++++", "n/a"], ["–", "–", "–"],
    ]  # fmt: skip
    assert found.counts == {"range": 1, "not available": 2, "bound": 1, "missing": 3}
    assert found.columns == ("name", "MB/s · write", "MB/s · read", "MB/s · CPU")


def test_a_pair_is_two_samples_in_one_cell() -> None:
    pair = [{"operation": "write", "configuration": "one"}, {"operation": "rewrite", "configuration": "two"}]
    entry = {**ENTRY, "rows": [{"head": "both", "cells": [{"pair": pair}, {"text": "as it is", "span": 2}]}]}
    found = rebuilt(table_form(entry), SAMPLES)
    assert [cell.text for cell in found.rows[0].cells] == ["1.5 / ~ 3", "as it is"]
    assert as_read(found).rows == (("both", "1.5 / ~ 3", "as it is", ""),)
    assert as_read(found).spans == {(0, 2): 2}
    assert as_read(found).heads == ((Head(""), Head("MB/s", 3)), tuple(map(Head, ["name", "write", "read", "CPU"])))
    data = data_of(found)
    assert [(row[2], row[9], row[16]) for row in data.rows] == [
        ("1.5 / ~ 3", 1.5e6, 1),
        ("1.5 / ~ 3", 3e6, 5),
        ("as it is", None, None),
    ]


def test_headings_above_each_other_become_one() -> None:
    heads = [[Head("a", 2), Head("b", down=2)], [Head("c"), Head("d")]]
    assert column_titles(heads, 3) == ("a · c", "a · d", "b")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": [{"head": "x", "cells": [{"text": "1"}]}]}, "found '1 cells', expected 3, as its headings have"),
        ({"columns": [{"pick": {"colour": "red"}}]}, "found 'colour', expected one of: block_size"),
        ({"columns": [{"part": "half"}]}, "found 'half', expected one of: value, cpu"),
        ({"name": ""}, "expected a name"),
        ({"colums": []}, "t: found 'colums'"),
    ],
)
def test_a_wrong_definition_says_what_was_found_and_expected(change: dict[str, Any], said: str) -> None:
    with pytest.raises(FormError, match=said):
        table_form({**ENTRY, **change})


CHART: dict[str, Any] = {
    "name": "c", "title": "speeds",
    "report": {"kind": "line", "y": {"label": "KB/sec", "scale": "linear", "min": 0, "max": 5, "ticks": [0, 5]}},
    "drawn": {
        "kind": "bar", "pick": {"file_size": 100}, "y": {"title": "MB/s", "unit": "MB/s", "factor": 1_000_000, "low": 0, "high": 5},
        "x": {"title": "which", "places": [{"label": "one", "pick": {"configuration": "one"}}, {"label": "two", "pick": {"configuration": "two"}}]},
        "series": [{"label": "write", "pick": {"operation": "write"}, "absent": "never"}, {"label": "read", "pick": {"operation": "read"}}],
    },
}  # fmt: skip


def test_a_chart_has_the_reports_words_and_limits_and_its_samples() -> None:
    form = chart_form(CHART)
    assert form.reported == (("Kind", "line"), ("Upwards", "KB/sec; linear; 0 to 5; ticks 0, 5"))
    drawn = chart_of_report(form, SAMPLES)
    assert (drawn.y.low, drawn.y.high) == (0, 5e6)
    forms = [[point.form for point in one.points] for one in drawn.series]
    assert forms == [[ValueForm.VALUE, ValueForm.MISSING], [ValueForm.RANGE, ValueForm.AT_LEAST]]
    assert "Highest 1.50 MB/s, write at one" in drawn.description


def test_a_chart_is_drawn_or_says_why_not() -> None:
    with pytest.raises(FormError, match="either `drawn` or `not_drawn`"):
        chart_form({"name": "c", "title": "x"})
    with pytest.raises(FormError, match="found 'pie', expected one of: line, bar"):
        chart_form({**CHART, "drawn": {**CHART["drawn"], "kind": "pie"}})
    with pytest.raises(ValueError, match="c is not drawn from samples"):
        chart_of_report(chart_form({"name": "c", "not_drawn": "lost"}), SAMPLES)


def test_words_of_a_report_are_put_in_one_line() -> None:
    assert in_words({"noral3": 6, "aiodda2": [4, 5]}) == "noral3: 6; aiodda2: 4, 5"
