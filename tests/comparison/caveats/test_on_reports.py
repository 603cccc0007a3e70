"""Each rule on the seed that its line in the table of caveats names: the report as it is loaded, by the way of the page.

Where a seed has nothing that a rule can fire on, the test says so by its name. ram_cache: test_ram_cache_on_reports.py.
"""

from collections.abc import Sequence

import pytest

from apps.comparison.caveats import array_state
from apps.comparison.readings import Evidence, MeasuredMachine
from apps.inventory.models import Array, Target
from apps.inventory.snapshots.content import content_of
from apps.labs.models import Lab
from apps.studies.report_files import report
from tests.comparison.caveats.machines import array, disk, machine
from tests.comparison.caveats.on_reports import CRS4, DTN, INFN, THUMPER, TRISTAN, asked, caveat, lines, of_study
from tests.comparison.factories import MIB, reading
from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]

pytestmark = pytest.mark.usefixtures("published")

# unsynced_write: 003, 004


@pytest.mark.slow
def test_003_dd_without_sync_may_be_in_ram_altogether_and_synced_ones_are_silent() -> None:
    found = caveat("unsynced_write", DTN)
    assert found is not None
    assert found.series == ("dd without sync, bs=1M",)
    assert lines(found)[0].endswith("up to 10 GiB of 10 GiB (100%) may still be in RAM")


def test_004_no_dd_was_synced_and_of_the_largest_file_two_fifths_may_be_in_ram() -> None:
    told = " ".join(lines(caveat("unsynced_write", TRISTAN)))
    assert "up to 4 GiB of 10 000 MiB (41%) may still be in RAM" in told
    assert "up to 100 MiB of 100 MiB (100%)" in told


# few_runs, wide_spread: 004, 000


def test_004_two_sata_arrays_under_esxi_are_two_runs() -> None:
    """Lines 58 and 62: 11'334'548 and 8'919'656 bytes/sec."""
    found = caveat("few_runs", TRISTAN, ("interface", "SATA"), ("file_size", "1048576000"), series=("environment",))
    assert "guest: n = 2 < 3: 1 more run needed for an interval" in lines(found)


def test_000_two_sata_arrays_in_software_are_two_runs_and_three_disks_enough() -> None:
    at = (("file_size", str(8000 * MIB)), ("interface", "SATA"))
    assert caveat("few_runs", CRS4, *at, ("raid_implementation", "software"), series=("raid_implementation",))
    assert caveat("few_runs", CRS4, *at, series=("interface",)) is None  # with the single disk: three


def test_000_and_004_one_printed_figure_is_a_mean_without_its_runs_and_not_too_few() -> None:
    for slug in (CRS4, TRISTAN):
        assert caveat("few_runs", slug) is None
        assert caveat("single_value", slug)


def test_004_three_sizes_of_one_array_spread_by_44_percent() -> None:
    """Lines 43, 49 and 53: 22'342'325, 23'538'540 and 46'489'592 bytes/sec."""
    found = caveat("wide_spread", TRISTAN, ("configuration", "SAS RAID 10, no cache, ESXi"), x="label")
    assert lines(found) == ["n = 3: standard deviation ÷ mean = 13.6 MB/s ÷ 30.8 MB/s = 44.2% > 10%"]


def test_000_seven_arrays_at_8000_mb_spread_and_their_getc_at_100_mb_does_not() -> None:
    software = ("raid_implementation", "software")
    at_8000, at_100 = ("file_size", str(8000 * MIB)), ("file_size", str(100 * MIB))
    found = caveat("wide_spread", CRS4, software, at_8000, series=("raid_implementation",))
    assert lines(found)[0].startswith("n = 4: standard deviation ÷ mean = ")
    getc = {"operation": "char_read", "series": ("raid_implementation",)}
    assert caveat("wide_spread", CRS4, software, at_100, **getc) is None  # 63465.4 to 63669.5 Kbyte/sec


# drift, not_interleaved, not_idle: 000


def test_000_prints_means_without_times_so_neither_drift_nor_order_can_be_found_in_it() -> None:
    for operation in ("write", "read", "char_read"):
        comparison, readings = asked(CRS4, operation=operation)
        assert not {"drift", "not_interleaved", "not_idle"} & {one.rule for one in comparison.caveats}
        assert not any(one.evidence.started_at for one in readings)
    pooled = asked(CRS4, ("configuration", "single SATA disk"), x="label")[0]
    assert "drift" not in {one.rule for one in pooled.caveats}  # six sizes that fall: not repetitions


def test_000_its_load_of_practically_zero_is_a_fact_of_its_runs() -> None:
    """Lines 104 and 105: closed to all users, queues off, "carico di CPU … praticamente zero"."""
    assert {one.of("load") for one in asked(CRS4)[1]} == {"0"}


# cpu_bound: 000, 002


def test_002_the_network_tests_took_well_above_100_percent_of_a_core() -> None:
    """Line 121; the slide has no figure, and says nothing of the card maker's own."""
    found = caveat("cpu_bound", INFN, operation="net_send", x="label")
    assert lines(found)[0].endswith("CPU at least 100% of one core ≥ 95% × 1: 1 process can use 1 core")
    assert found is not None
    assert len(found.series) == 5
    assert not any("card maker" in series for series in found.series)


def test_000_prints_no_share_of_the_cpu_and_no_figure_of_putc_so_nothing_fires() -> None:
    assert not of_study("cpu_bound", CRS4)
    assert not asked(CRS4, operation="char_write")[1]


# array_state: 001


def members(slug: str, name: str, kind: str) -> list[str]:
    (found,) = [one for one in report(slug).told["arrays"] if one["name"] == name]
    return [str(device).removeprefix("/dev/") for device in found[kind]]


def of_round(kind: str) -> list[MeasuredMachine]:
    """md1 and md4 of the ext3 round, with the members that the text (lines 108 and 110) or the commands (121, 130) say."""
    levels = {"ext3-md1": "5", "ext3-md4": "6"}
    return [
        machine(array(name, level, [disk(one) for one in members(THUMPER, name, kind)]))
        for name, level in levels.items()
    ]


def twice(machines: Sequence[MeasuredMachine]) -> set[str]:
    cells = {(0, str(n)): [reading(n, 1.0, evidence=Evidence(machine=one))] for n, one in enumerate(machines)}
    return set(array_state.across(cells).values())


def test_001_the_text_has_sdp_in_two_arrays_and_the_commands_that_were_run_have_not() -> None:
    assert twice(of_round("text_members")) == {"sdp is a member of ext3-md1 and of ext3-md4"}
    assert not twice(of_round("command_members"))


def test_001_the_pentiums_raid_5_ran_with_one_of_four_disks_dead(published: Lab) -> None:
    """Line 182. None of its figures is in the report, so no cell of a page can have it; here is a target on it."""
    dead = Array.objects.get(name="p3-raid5")
    target = Target.objects.create(lab=published, host=dead.host, name="a2", array=dead)
    assert array_state.check(MeasuredMachine(content_of(target))) == "p3-raid5 is degraded"
    assert not of_study("array_state", THUMPER)


# text_vs_table: 000, 002, 003


def test_000_its_megabyte_is_no_unit() -> None:
    told = lines(caveat("text_vs_table", CRS4))
    assert [line.partition(": text ")[2] for line in told if line.startswith("SCSI, software RAID 0")] == [
        "“quasi 120 MB/sec”, table “119652.4 Kbyte/sec”: 120 MB/s ÷ 123 MB/s = 0.979 ×; it fits where the unit means MB/s "
        "of 1000 KiB"
    ]
    assert not any("44 MB" in line for line in told)  # 44391.4 Kbyte/sec are 43.4 MiB/s, and the text says about 44


def test_002_the_table_has_other_jobs_than_the_slides() -> None:
    assert sorted(line.partition(": text ")[2] for line in of_study("text_vs_table", INFN)) == [
        "“100 job”, line 209, table threads 250: 100 ÷ 250 = 0.400 ×",
        "“200 job”, line 207, table threads 300: 200 ÷ 300 = 0.667 ×",
        "“300 job”, line 182, 212, table threads 250: 300 ÷ 250 = 1.20 ×",
    ]


def test_002_its_rates_in_prose_are_of_other_configurations_than_the_nearest_row_and_silent() -> None:
    """80 and 160 MB/s of the SAN stand in the text, ~200 MB/s of the NAS is near them: pooled they are no contradiction."""
    assert caveat("text_vs_table", INFN, ("tool", "dd"), series=("tool",)) is None


def test_003_413_gb_a_second_are_mib() -> None:
    assert lines(caveat("text_vs_table", DTN, operation="rewrite"))[0].endswith(
        "text “413 GB/s”, line 98, table “423197 K/s”: 413 GB/s ÷ 433 MB/s = 953 ×; it fits where the unit means MiB/s"
    )
    assert caveat("text_vs_table", DTN) is None  # 1.28 and 1.09 GB/s are what the tables say, in GiB


# header_conflict: 001 (003's banner is in test_header_conflict.py)


def test_001_the_raw_disk_had_ext2_in_the_round_of_ext3() -> None:
    """Lines 152 to 159 make ext3; line 207: "Having ext2 on the system disk was a pure coincidence"."""
    found = caveat("header_conflict", THUMPER)
    assert lines(found) == ["raw system disk, ext2: the set-up says filesystem ext3, this run's is ext2"]
