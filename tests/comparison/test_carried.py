"""Seed 003: twelve SAS drives behind one controller carry twelve lanes, and the page says so with the sum."""

from collections.abc import Callable

from django.test import Client

from apps.comparison.ceilings import find_ceilings
from apps.labs.models import Lab
from tests.comparison.caveats.machines import array, disk, on, plain
from tests.comparison.caveats.test_on_pages import sata_run, snapshot
from tests.comparison.factories import reading
from tests.page_text import page_text

SAS = array("vd", "6", [disk(f"d{n}", "SAS", "SAS-6G") for n in range(12)], "hardware")


def test_twelve_lanes_are_summed_and_what_is_not_known_is_named() -> None:
    evidence = on(SAS)
    (found,) = find_ceilings([reading(n, 1.4e9, "dd", evidence=evidence) for n in range(3)])
    assert (found.labels, found.part.value) == (("dd",), 6e9)
    assert plain(found.part.arithmetic) == "12 × 600 MB/s SAS-6G lanes × 10/12 that carry data = 6 000 MB/s"
    assert "not one link's 600 MB/s" in plain(found.part.why)
    assert "how fast the disks' media are" in found.unknown


def test_machines_with_one_sum_stand_together_and_the_lowest_comes_first() -> None:
    sata, alike, sas = on(disk("sda")), on(disk("sda")), on(SAS)
    readings = [
        reading(1, 1.0, "wide", evidence=sas), reading(2, 1.0, "a", evidence=sata), reading(3, 1.0, "b", evidence=alike),
        reading(4, 1.0, "c"), reading(5, 1.0, "d", metric="clat_mean", evidence=sata),
    ]  # fmt: skip
    assert [one.labels for one in find_ceilings(readings)] == [("a", "b"), ("wide",)]


def test_the_comparison_explains_why_one_lane_is_no_limit(lab: Lab, sign_in: Callable[[str], Client]) -> None:
    sata_run(lab, 1.4e9, snapshot=snapshot(lab, SAS))
    page = plain(sign_in("viewer").get("/compare/free/").content.decode())
    assert "Bandwidth ceilings" in page
    assert "12 × 600 MB/s SAS-6G lanes × 10/12 that carry data = 6 000 MB/s" in page_text(page)
    assert 'id="caveat-above_ceiling"' not in page
