"""Seeds 000, 001 and 003 as they are loaded: files up to RAM, and below what the report's plan asks beside it."""

from typing import Any

import pytest

from apps.comparison.charts.chart import Chart
from apps.comparison.charts.comparison import chart_of
from apps.studies.plans.guards import CacheRule
from tests.comparison.caveats.on_reports import CRS4, DTN, THUMPER, asked, caveat, lines, of_study
from tests.comparison.factories import MIB
from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]

pytestmark = pytest.mark.usefixtures("published")


def test_000_files_up_to_ram_may_be_memory_and_those_below_four_times_ram_in_part() -> None:
    found = caveat("ram_cache", CRS4)
    assert found is not None
    above = {(one.x, one.series) for one in asked(CRS4)[0].cells if one.n} - set(found.cells)
    assert {x for x, _ in above} == {8000 * MIB}
    weak = [line for line in lines(found) if "may be partly memory" in line]
    assert [line.partition(": ")[2] for line in weak] == [
        "file size 2 000 MiB < 4 × RAM 1 GiB within 5% (2 097 152 000 B < 4 080 218 931 B; 1.95 × RAM): may be partly "
        "memory, the plan asks for at least 4 × RAM",
        "file size 4 000 MiB < 4 × RAM 2 GiB within 5% (4 194 304 000 B < 8 160 437 862 B; 1.95 × RAM): may be partly "
        "memory, the plan asks for at least 4 × RAM",
    ]
    of_the_study = [line for line in of_study("ram_cache", CRS4) if "may be partly memory" in line]
    assert sorted(line.partition(": ")[2] for line in of_the_study) == [line.partition(": ")[2] for line in weak]


def asked_of(slug: str, label: str) -> list[CacheRule | None]:
    """What its plan asks of a configuration's writes."""
    return [one.evidence.cache_rule for one in asked(slug)[1] if str(one.of("label")).startswith(label)]


def drawn(**question: Any) -> Chart:
    return chart_of(*asked(CRS4, **question))


def test_000_its_chart_has_the_line_and_the_shade_of_the_plan() -> None:
    chart = drawn()
    assert [line.label.replace("\u00a0", " ") for line in chart.lines if line.what in ("ram", "plan")] == [
        "RAM 1 GiB", "RAM 2 GiB", "plan: 4 × RAM 1 GiB − 5%", "plan: 4 × RAM 2 GiB − 5%",
    ]  # fmt: skip
    shades = {region.what: region for region in chart.regions}
    assert shades["ram"].high is not None
    assert shades["plan"].high is not None
    assert shades["ram"].high < shades["plan"].high
    by_ram = drawn(x="file_size_over_ram")
    assert [line.label for line in by_ram.lines if line.what == "plan"] == ["plan: 4 × RAM − 5%"]
    assert {region.what for region in by_ram.regions} == {"ram", "plan"}


def test_001_500_mb_fit_into_8_gb_and_9_gb_are_as_large_as_its_plan_asks() -> None:
    told = "file size 500 MiB ≤ RAM 8 GiB (524 288 000 B ≤ 8 589 934 592 B; 0.06 × RAM)"
    found = caveat("ram_cache", THUMPER)
    assert told in " ".join(lines(found))
    assert asked_of(THUMPER, "xfs, 9 GB file") == [CacheRule(1)]
    assert found is not None
    assert 9 * 2**30 not in {x for x, _ in found.cells}


def test_003_dd_wrote_less_than_the_ram_and_bonnie_as_much_as_the_plan_asks() -> None:
    found = caveat("ram_cache", DTN)
    assert "file size 10 GiB ≤ RAM 24 GiB (10 737 418 240 B ≤ 25 769 803 776 B; 0.42 × RAM)" in " ".join(lines(found))
    assert asked_of(DTN, "bonnie++") == [CacheRule(2, 0.05)]
    assert found is not None
    assert not any(series.startswith("bonnie++") for series in found.series)
