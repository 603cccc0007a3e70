"""What two reports compared without saying what differs besides: told of them as they are loaded."""

from typing import Any

import pytest

from tests.comparison.caveats.on_reports import CRS4, THUMPER, asked
from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]

pytestmark = pytest.mark.usefixtures("published")


def differing(slug: str, *filters: tuple[str, str], **question: Any) -> list[str]:
    found = asked(slug, *filters, **question)[0].confounders
    return [one.text.replace("\u00a0", " ") for one in found if one.kind == "differs"]


def test_000_hardware_and_software_raid_differ_in_ram_cpu_word_size_and_level_too() -> None:
    raid = (("raid_implementation", "hardware"), ("raid_implementation", "software"))
    told = differing(CRS4, *raid, series=("raid_implementation",))
    assert "architecture (word size) 32-bit x86 / 64-bit x86" in told
    assert "RAM 1 GiB / 2 GiB" in told
    assert "CPU Intel Xeon 3.06 GHz / AMD Opteron 246 2.0 GHz" in told
    assert "RAID level 5 / 0 and 1" in told


def test_001_the_raw_disk_had_ext2_by_chance_in_the_round_of_ext3() -> None:
    """So RAID against the raw disk is xfs, or ext3, against ext2: what the author took for RAID's slowness."""
    told = differing(THUMPER, series=("raid_level",))
    assert "filesystem ext2 / xfs" in told
    assert "round ext3 / xfs" in told
