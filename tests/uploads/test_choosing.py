"""Which of the recognised runs are kept, where formats quarrel and where a person leaves one out."""

import pytest

from apps.parsers.core.models import ParsedRun, ParsedSample
from apps.uploads.file_reader import FileReading, ReadRun
from apps.uploads.labels import UploadError
from apps.uploads.review.run_selection import preferred, rivalries, ticked, with_choice
from apps.uploads.save_runs import keep
from tests.uploads.conftest import REPORT, Bring, only_file


def run(name: str, *, chosen: bool, rivals: tuple[int, ...] = ()) -> ReadRun:
    samples = (ParsedSample("read", "bandwidth", 1.0),)
    return ReadRun(ParsedRun("fio", "", samples=samples, line=1), name, 1.0, rivals=rivals, is_chosen=chosen)


# two runs as a reads them are one run as b reads it; then one that nobody else claims, and another quarrel of a and b
QUARREL = FileReading(
    runs=(
        run("a", chosen=True, rivals=(2,)),
        run("a", chosen=True, rivals=(2,)),
        run("b", chosen=False, rivals=(0, 1)),
        run("a", chosen=True),
        run("a", chosen=True, rivals=(5,)),
        run("b", chosen=False, rivals=(4,)),
    )
)


def chosen(found: FileReading) -> list[int]:
    return [place for place, one in enumerate(found.runs) if one.is_chosen]


def test_the_same_two_formats_quarrel_once_however_many_places() -> None:
    (only,) = rivalries(QUARREL)
    assert only.places == {"a": (0, 1, 4), "b": (2, 5)}
    assert (only.count, only.chosen) == (2, "a")


def test_preferring_a_format_takes_its_runs_and_none_of_the_others() -> None:
    (only,) = rivalries(QUARREL)
    other = preferred(QUARREL, only, "b")
    assert chosen(other) == [2, 3, 5]
    assert rivalries(other)[0].chosen == "b"
    assert chosen(preferred(QUARREL, only, "")) == [3]


def test_a_tick_takes_the_place_of_its_rivals() -> None:
    assert chosen(ticked(QUARREL, on_page=[0, 1, 2, 3], ticks=[0, 1, 2, 3])) == [2, 3, 4]


def test_ticks_say_nothing_of_runs_on_other_pages() -> None:
    assert chosen(ticked(QUARREL, on_page=[0, 1], ticks=[])) == [3, 4]
    assert chosen(ticked(QUARREL, on_page=[99], ticks=[98])) == chosen(QUARREL)


def test_a_mixed_choice_is_nobodys() -> None:
    assert rivalries(ticked(QUARREL, on_page=[4, 5], ticks=[5]))[0].chosen == ""


def test_what_was_left_out_does_not_become_a_run(bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    file = with_choice(only_file(upload).pk, lambda found: ticked(found, on_page=[0], ticks=[]))
    assert (file.run_count, file.sample_count) == (0, 0)
    assert keep(upload) == 0
    with_choice(file.pk, lambda found: ticked(found, on_page=[0], ticks=[0]))
    assert keep(upload) == 1


def test_nothing_is_chosen_of_what_is_kept_or_forgotten(bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    keep(upload)
    with pytest.raises(UploadError):
        with_choice(only_file(upload).pk, lambda found: found)
