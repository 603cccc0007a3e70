"""Each rule fires on the reports' own figures, with its arithmetic, and stays silent where it has nothing to say."""

from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules

from apps.comparison import caveats
from apps.comparison.caveats import few_runs, ram_cache, single_value, transcribed, unsynced_write
from apps.comparison.compare import compare
from apps.comparison.question import Question
from apps.core.quantities import written
from apps.parsers.dd.format import WITH_SYNC, WITHOUT_SYNC
from tests.comparison.factories import GIB, MIB, reading


def plain(text: str | None) -> str:
    return written(text or "").replace("\u00a0", " ").replace("\u202f", " ")


def test_crs4s_file_of_1000_mib_fits_into_1_gib_of_ram() -> None:
    found = ram_cache.check(reading(1, 61_780_889.6, file_size=1_048_576_000, facts={"ram": 1_073_741_824}))
    assert plain(found) == "file size 1 000 MiB ≤ RAM 1 GiB (1 048 576 000 B ≤ 1 073 741 824 B; 0.98 × RAM)"


def test_crs4s_file_of_2000_mib_does_not() -> None:
    assert ram_cache.check(reading(1, 1.0, file_size=2_097_152_000, facts={"ram": GIB})) is None


def test_past_the_page_cache_ram_does_not_matter() -> None:
    assert ram_cache.check(reading(1, 1.0, file_size=MIB, facts={"ram": GIB, "sync": "direct"})) is None
    assert ram_cache.check(reading(1, 1.0, file_size=MIB, facts={"ram": GIB, "direct": 1})) is None


def test_all_threads_files_together_must_fit() -> None:
    facts = {"ram": GIB}
    assert ram_cache.check(reading(1, 1.0, file_size=GIB // 2, threads=4, facts=facts)) is None
    assert "of 2 threads together 1 GiB" in plain(
        ram_cache.check(reading(1, 1.0, file_size=GIB // 2, threads=2, facts=facts))
    )


def test_without_ram_or_file_size_the_cache_rule_is_silent() -> None:
    assert ram_cache.check(reading(1, 1.0, file_size=MIB)) is None
    assert ram_cache.check(reading(1, 1.0, file_size=None, facts={"ram": GIB})) is None
    assert ram_cache.check(reading(1, 1.0, file_size=MIB, facts={"ram": "unknown"})) is None


def test_dds_buffered_write_is_not_synced() -> None:
    """DTN's plain dd (line 42), and Tristan's largest (line 49); as loaded in caveats/test_on_reports.py."""
    dtn = reading(1, 10_737_418_240 / 7.78806, file_size=10_737_418_240, facts={"sync": "none", "ram": 24 * GIB})
    assert "up to 10 GiB of 10 GiB (100%) may still be in RAM" in plain(unsynced_write.check(dtn))
    tristan = reading(1, 23_538_540.0, file_size=10_485_760_000, facts={"sync": "none", "ram": 4 * GIB})
    assert "up to 4 GiB of 10 000 MiB (41%) may still be in RAM" in plain(unsynced_write.check(tristan))


def test_synced_direct_unknown_and_reads_are_silent() -> None:
    for facts in ({"sync": "fdatasync"}, {"sync": "direct"}, {"sync": "none", "direct": 1}, {}):
        assert unsynced_write.check(reading(1, 1.0, facts=facts)) is None
    assert unsynced_write.check(reading(1, 1.0, operation="read", facts={"sync": "none"})) is None


def test_dds_own_time_beside_one_with_the_sync_is_not_synced() -> None:
    timed = reading(1, 26_214_400.0, facts={"sync": "fsync"})
    assert unsynced_write.check(replace(timed, section_name=WITH_SYNC)) is None
    assert unsynced_write.check(replace(timed, section=1, section_name=WITHOUT_SYNC)) is not None


def test_two_runs_are_too_few() -> None:
    """Tristan's two SATA arrays under ESXi (lines 58 and 62), as somebody would measure them; as loaded elsewhere."""
    sata = [reading(1, 11_334_548.0), reading(2, 8_919_656.0)]
    assert few_runs.check(sata) == "n = 2 < 3: 1 more run needed for an interval"
    assert few_runs.check(sata[:1]) == "n = 1 < 3: 2 more runs needed for an interval"


def test_three_runs_an_empty_cell_and_a_printed_mean_are_not_too_few() -> None:
    assert (
        few_runs.check([reading(n, value) for n, value in enumerate((22_342_325.0, 23_538_540.0, 46_489_592.0))])
        is None
    )
    assert few_runs.check([reading(1, None)]) is None
    assert few_runs.check([reading(1, 60_332.9 * 1024, origin="published")]) is None  # CRS4's mean of ten


def test_a_printed_mean_of_ten_lacks_its_repetitions() -> None:
    one = reading(1, 1.0, origin="published", note="mean of ten instances; 1 Kbyte = 1024 bytes")
    assert single_value.check([one]) == (
        "n = 1 printed value (mean of ten instances): the single repetitions are not there, so their spread is unknown"
    )
    assert single_value.check([reading(1, 1.0)]) is None
    assert single_value.check([one, one]) is None


def test_a_repaired_figure_shows_what_was_printed() -> None:
    one = reading(1, 181_715_456.0, quality="ocr_repaired", printed="177456 5|")
    assert plain(transcribed.check(one)) == "printed “177456 5|”, read as 181 715 456 B/s (repaired after OCR)"
    assert transcribed.check(reading(1, 1.0, quality="rounded")) is None


def test_a_comparison_gathers_a_rule_once_with_its_cells_and_runs() -> None:
    readings = [
        reading(n, 1.0, "ab"[n % 2], file_size=size, facts={"ram": GIB}) for n, size in enumerate([MIB, MIB, 4 * GIB])
    ]
    found = {one.rule: one for one in compare(readings, Question()).caveats}
    assert found["ram_cache"].cells == ((MIB, "a"), (MIB, "b"))
    assert found["ram_cache"].runs == (0, 1)
    (line,) = found["ram_cache"].arithmetic
    assert line.startswith("all series: file size")
    assert found["few_runs"].arithmetic[0].startswith("all series: n = 1")


def test_the_series_a_sentence_is_true_of_are_named() -> None:
    sizes = {"a": MIB, "b": MIB, "c": 4 * GIB}
    readings = [reading(n, 1.0, s, file_size=sizes[s], facts={"ram": GIB}) for n, s in enumerate(sizes)]
    (found,) = [one for one in compare(readings, Question()).caveats if one.rule == "ram_cache"]
    assert plain(found.arithmetic[0]).startswith("a, b: file size 1")


def test_a_run_by_itself_is_not_blamed_for_being_alone() -> None:
    assert [one.rule for one in caveats.of_readings([reading(1, 1.0, facts={"ram": 2 * GIB})])] == ["ram_cache"]


def test_every_rule_is_registered_once_and_says_what_it_means() -> None:
    names = [rule.name for rule in caveats.RULES]
    assert len(names) == len(set(names))
    checks = [(rule.of_reading, rule.of_machine, rule.of_cell, rule.of_cells) for rule in caveats.RULES]
    assert all(any(one) for one in checks)
    assert all(rule.text.endswith(".") for rule in caveats.RULES)


def test_no_rule_of_the_folder_is_left_out_of_the_registry() -> None:
    """A module with a `RULE` in it is a rule."""
    modules = [import_module(f"{caveats.__name__}.{one.name}") for one in iter_modules(caveats.__path__)]
    assert {module.RULE.name for module in modules if hasattr(module, "RULE")} == {one.name for one in caveats.RULES}
    assert len(caveats.RULES) == 30


def test_rules_say_nothing_of_readings_that_have_nothing_but_a_value() -> None:
    """No fact, no snapshot, no note, n = 3: none of them may guess."""
    bare = [reading(n, 1e8 + n, file_size=None) for n in range(3)]
    assert not caveats.of_cells({(None, "a"): bare})
    assert not caveats.of_readings(bare)
    assert not caveats.of_readings([])
