"""Seed 003: IOzone's banner says 48 GiB, its rows 8 GiB."""

from apps.comparison.caveats.header_conflict import check
from apps.comparison.readings import Evidence
from tests.comparison.caveats.machines import plain
from tests.comparison.factories import GIB, MIB, reading


def test_dtns_banner_is_of_another_run_than_its_rows() -> None:
    one = reading(1, 1.3e9, file_size=8_388_608 * 1024, evidence=Evidence(asked={"file_size": 50_331_648 * 1024}))
    assert plain(check(one)) == (
        "the header says file size 48 GiB, the row 8 GiB (51 539 607 552 B and 8 589 934 592 B)"
    )


def test_a_study_may_say_what_the_header_said() -> None:
    assert check(reading(1, 1.0, file_size=8 * GIB, facts={"header_file_size": "48 GiB"}))
    assert check(reading(1, 1.0, file_size=8 * GIB, facts={"header_file_size": "no size"})) is None


def test_bonnies_five_seekers_are_no_conflict_with_its_one_process() -> None:
    asked = Evidence(asked={"numjobs": 1, "file_size": GIB})
    assert check(reading(1, 632.3, operation="seek", metric="rate", threads=5, file_size=GIB, evidence=asked)) is None


def test_a_header_that_agrees_says_nothing_or_belongs_to_several_jobs_is_silent() -> None:
    for asked in ({"file_size": GIB}, {}, {"command": "iozone -a"}, {"jobs": [{"file_size": MIB}], "file_size": MIB}):
        assert check(reading(1, 1.0, file_size=GIB, evidence=Evidence(asked=asked))) is None
    assert check(reading(1, 1.0, file_size=None, evidence=Evidence(asked={"file_size": GIB}))) is None


def test_a_range_that_leaves_the_row_out_is_a_conflict() -> None:
    for told, size, is_out in [
        ("from 8g to 16g", GIB, True), ("from 8g to 16g", 8 * GIB, False), ("from 8g to 16g", 16 * GIB, False),
        ("from 8g to 16g", 32 * GIB, True), ("from 8g", GIB, True), ("from 8g", 32 * GIB, False), ("to 512k", MIB, True),
        ("to 512m", MIB, False),
    ]:  # fmt: skip
        evidence = Evidence(asked={"header_file_size": told})
        assert bool(check(reading(1, 1.0, file_size=size, evidence=evidence))) == is_out, (told, size)
    one = reading(1, 1.0, file_size=GIB, evidence=Evidence(asked={"header_file_size": "from 8g to 16g"}))
    assert plain(check(one)) == "the header says file size from 8 GiB to 16 GiB, the row 1 GiB (1 073 741 824 B)"
