"""A run of ours beside the CRS4 report: the report's own figures, its early ends, its memory effects."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from apps.comparison.answer import answer
from apps.comparison.default_question import beside_published
from apps.comparison.question import Question
from apps.labs.isolation import lab_scope, scoped
from apps.labs.middleware import readable_scope
from tests.comparison.factories import MIB, measured
from tests.conftest import Cast
from tests.studies.loading import crs4_loaded

__all__ = ["crs4_loaded"]

WRITE = Question(filters=(("study", "crs4-sata-scsi"),))


@pytest.fixture
def crs4(crs4_loaded: list[str], cast: Cast) -> Iterator[None]:
    with scoped(readable_scope(cast.lab.pk)):
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("crs4")
def test_the_block_write_table_is_the_reports() -> None:
    comparison, _ = answer(WRITE)
    assert len(comparison.series) == 7
    assert comparison.xs == tuple(size * MIB for size in (100, 500, 1000, 2000, 4000, 8000))
    figures = {(cell.x, cell.series): cell.mean for cell in comparison.cells}
    first = comparison.series[0]
    assert figures[100 * MIB, first] == pytest.approx(177456.5 * 1024)
    assert figures[1000 * MIB, first] == pytest.approx(60332.9 * 1024)


@pytest.mark.usefixtures("crs4")
def test_the_32_bit_hosts_columns_end_early() -> None:
    comparison, readings = answer(WRITE)
    early = {reading.of("label") for reading in readings if reading.of("host") == "aiodda2"}
    empty = {(cell.x, cell.series) for cell in comparison.cells if cell.missing}
    assert empty == {(size * MIB, series) for size in (4000, 8000) for series in early}


@pytest.mark.usefixtures("crs4")
def test_files_below_four_times_ram_are_marked_and_those_of_8000_mb_not() -> None:
    """The report's own rule, "up to four times", within 5 %; up to RAM in stronger words than between."""
    comparison, readings = answer(WRITE)
    (caveat,) = [one for one in comparison.caveats if one.rule == "ram_cache"]
    sizes = {(one.file_size, one.of("label")): one.of("file_size_over_ram") for one in readings}
    assert set(caveat.cells) == {place for place, multiple in sizes.items() if multiple < 3.8}
    assert {size for size, _ in sizes.keys() - set(caveat.cells)} == {8000 * MIB}
    assert sum("may be partly memory" in line for line in caveat.arithmetic) == 2
    assert "1 048 576 000 B ≤ 1 073 741 824 B" in " ".join(caveat.arithmetic).replace("\u202f", " ").replace(
        "\u00a0", " "
    )


@pytest.mark.usefixtures("crs4")
def test_means_of_ten_and_ocr_are_told() -> None:
    found = {one.rule: one for one in answer(WRITE)[0].caveats}
    assert {"single_value", "transcribed"} <= set(found)
    assert any("177456 5" in line for line in found["transcribed"].arithmetic)


@pytest.mark.usefixtures("crs4")
def test_what_differs_between_the_reports_columns_is_named() -> None:
    found = {one.fact: one.text.replace("\u00a0", " ") for one in answer(WRITE)[0].confounders}
    assert found["ram"] == "RAM 1 GiB / 2 GiB"
    assert {"raid_level", "interface", "kernel"} <= set(found)


@pytest.mark.usefixtures("crs4")
def test_a_run_of_ours_leads_to_the_page_beside_the_report(cast: Cast, sign_in: Callable[[str], Client]) -> None:
    with lab_scope(cast.lab.pk):
        own = measured(cast.lab, "alpha", [9.0e7, 9.1e7, 9.2e7], file_size=256 * MIB)[0]
    with scoped(readable_scope(cast.lab.pk)):
        address = beside_published(own, "write")
    response = sign_in("viewer").get(address)
    assert response.status_code == 200
    comparison = response.context["comparison"]
    assert comparison.series[0] == comparison.baseline == "alpha · scratch"
    assert len(comparison.series) == 8
