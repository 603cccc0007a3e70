"""A parameter of an address that is unknown, or whose value is, is refused with the known ones; none is ignored."""

import re
from typing import Any

import pytest
from django.urls import resolve

from apps.inventory.models import Array, Host
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Histogram, Run
from tests.api.conftest import Script
from tests.comparison.factories import histogram
from tests.conftest import Cast
from tests.sampling import for_each


@pytest.fixture
def binned(cast: Cast, own_runs: list[Run]) -> Run:
    """One run with the latency bins of two jobs."""
    with lab_scope(cast.lab.pk):
        histogram(own_runs[0], [(1000, 90), (10_000, 10)])
        Histogram.objects.create(run=own_runs[0], operation="read", kind="clat", section=3, bins=[[2000, 7]])
    return own_runs[0]


@for_each(
    "address, field, expected",
    [
        ("histograms/?over_time=x", "over_time", "one of: 1, true, yes, 0, false, no"),
        ("histograms/?section=1", "section", "one of: 0, 3"),
        ("histograms/?operation=trim", "operation", "one of: randread, read"),
        ("histograms/?chart=pie", "chart", "one of: histogram, curve, heat"),
        ("histograms/?sections=0", "sections", "one of: base, chart, format, height"),
        ("series/?full=perhaps", "full", "one of: 1, true, yes, 0, false, no"),
        ("series/?metric=speed", "metric", "one of: bandwidth, iops"),
        ("series/?base=1025", "base", "one of: 1000, 1024"),
        ("?fields=id", "fields", "one of: base, format"),
        ("samples/?limit=many", "limit", "a whole number from 1 on"),
        ("artefacts/?name=x", "name", "one of: base, format"),
    ],
)
def test_of_a_run(reader: Script, binned: Run, address: str, field: str, expected: str) -> None:
    answer = reader.get(f"runs/{binned.pk}/{address}")
    problem = answer.json()
    assert (answer.status_code, problem["field"]) == (400, field), problem
    assert problem["expected"].startswith(expected)
    assert expected in problem["detail"]


def test_bins_of_one_section_or_operation(reader: Script, binned: Run) -> None:
    address = f"runs/{binned.pk}/histograms/"
    assert [row["section"] for row in reader.get(address).json()["results"]] == [0, 3]
    assert [row["bins"] for row in reader.get(f"{address}?section=3").json()["results"]] == [[[2000, 7]]]
    chart = reader.get(f"{address}?operation=read&chart=histogram").json()["chart"]
    assert [series["label"].split(" ")[0] for series in chart["series"]] == ["read"]
    assert reader.get(f"{address}?over_time=no&section=").status_code == 200


@for_each(
    "address, field",
    [
        ("runs/?limit=0", "limit"), ("queue/?offset=-1", "offset"), ("queue/?limit=all", "limit"),
        ("search/?q=a&kinds=host", "kinds"), ("inventory/export/?hosts=1", "hosts"), ("compare/?base=10", "base"),
        ("hosts/?base=ten", "base"),
    ],
)  # fmt: skip
def test_of_lists_and_searches(script: Any, address: str, field: str) -> None:
    answer = script("admin").get(address)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_of_a_slot_map(reader: Script, lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="bay")
    Array.objects.create(lab=lab, host=host, name="md0", round="ext3")
    assert reader.get(f"hosts/{host.pk}/slots/?round=ext3").status_code == 200
    answer = reader.get(f"hosts/{host.pk}/slots/?round=xfs")
    assert (answer.status_code, answer.json()["expected"]) == (400, "one of: ext3")


def test_every_parameter_that_is_described_is_taken(reader: Script) -> None:
    """What the schema promises of an address is not refused as unknown there."""
    refused = []
    for path, operations in reader.get("/api/schema/?format=json").json()["paths"].items():
        described = {part["name"] for part in operations.get("get", {}).get("parameters", ()) if part["in"] == "query"}
        view = resolve(re.sub(r"\{[^}]*\}", "1", path)).func
        made = view.cls(**getattr(view, "initkwargs", {}))
        made.action = getattr(view, "actions", {}).get("get")
        known = made.get_parameters() if described and hasattr(made, "get_parameters") else None
        refused += [
            f"{path}: {name}" for name in sorted(described - {"base", "format", *(known or ())}) if known is not None
        ]
    assert not refused, "\n".join(refused)
