"""One file's page: every value with its line, what is wrong and where, and what a person chooses."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.parsers.core.models import Broken, ParsedRun, ParsedSample
from apps.parsers.core.source_text import SourceText
from apps.runs.metrics import METRICS
from apps.runs.models import Run
from apps.uploads.file_reader import FileReading, FormatCandidate, PackedSeries, ReadRun
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.review import preview, source_lines
from apps.uploads.review.preview import SERIES, RunPages, ShownSample
from apps.uploads.review.source_lines import excerpt
from apps.uploads.save_runs import keep
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file, zipped

pytestmark = pytest.mark.django_db


def page(client: Client, file: UploadedFile, query: str = "", **headers: str) -> str:
    answer = client.get(file.get_absolute_url() + query, headers=headers)
    assert answer.status_code == 200
    return str(answer.content.decode())


def made(upload: Upload, found: FileReading) -> UploadedFile:
    """The upload's file as if this had been found in it."""
    file = only_file(upload)
    file.reading, file.run_count = found, sum(one.is_chosen for one in found.runs)
    file.broken = [
        {"message": one.message, "line": one.line, "found": one.found, "expected": one.expected} for one in found.broken
    ]
    file.save()
    return file


def runs(count: int, samples: int = 1, **fields: Any) -> tuple[ReadRun, ...]:
    values = tuple(
        ParsedSample("read", "bandwidth", 1e6 + n, block_size=4096 * (n + 1), line=n + 1) for n in range(samples)
    )
    return tuple(
        ReadRun(ParsedRun("dd", "", samples=values, caption=f"caption {n}", line=n + 1), "dd", 1.0, **fields)
        for n in range(count)
    )


def test_every_value_leads_to_its_line_in_the_text(engineer: Client, bring: Bring) -> None:
    file = only_file(bring({"run.json": REPORT}))
    shown, lines = page(engineer, file), REPORT.decode().splitlines()
    assert file.reading
    samples = [one for one in file.reading.runs[0].run.samples if one.line]
    assert len(samples) > 10
    for one in samples:
        assert f'href="#L{one.line}"' in shown
        assert f'id="L{one.line}" class="is-used"' in shown
        assert one.printed.split()[0] in lines[(one.line or 0) - 1]
        assert METRICS[one.metric].label in shown


def test_what_cannot_be_read_is_named_with_its_line_marked(engineer: Client, bring: Bring) -> None:
    upload = bring({"x.txt": b"one\ntwo <b>\nthree\n"})
    file = made(upload, FileReading(runs=runs(1), broken=(Broken("no such row", 2, "two <b>", "numbers"),)))
    shown = page(engineer, file)
    assert "no such row" in shown
    assert "two &lt;b&gt;" in shown
    assert 'id="L2" class="is-broken"' in shown


def test_a_file_that_nobody_knows_shows_how_it_begins(engineer: Client, bring: Bring) -> None:
    shown = page(engineer, only_file(bring({"x.txt": b"bring milk\n"})))
    assert "no format recognises this file" in shown
    assert "bring milk</span>" in shown
    assert "what it looks like" in shown


def test_a_run_is_left_out_by_its_tick(engineer: Client, bring: Bring) -> None:
    file = made(bring({"x.txt": b"words\n"}), FileReading(runs=runs(2)))
    answer = engineer.post(
        f"{file.get_absolute_url()}choose/", {"shown": [0, 1], "run": 1}, headers={"HX-Request": "true"}
    )
    assert "left out" in answer.content.decode()
    assert "<html" not in answer.content.decode()
    file.refresh_from_db()
    assert [one.is_chosen for one in file.reading.runs] == [False, True]
    assert file.run_count == 1


def test_two_readings_of_the_same_lines_stand_side_by_side(engineer: Client, bring: Bring) -> None:
    first, second = runs(2)
    found = FileReading(
        runs=(
            ReadRun(first.run, "dd", 1.0, rivals=(1,)),
            ReadRun(second.run, "time cp", 0.9, rivals=(0,), is_chosen=False),
        ),
        candidates=(FormatCandidate("dd", "dd", 1.0), FormatCandidate("time cp", "time and cp", 0.9)),
    )
    file = made(bring({"x.txt": b"words\n"}), found)
    shown = page(engineer, file)
    assert "2 formats claim the same lines" in shown
    assert re.search(r'value="dd" checked', shown)
    engineer.post(f"{file.get_absolute_url()}choose/", {"conflict": 0, "prefer": "time cp"})
    file.refresh_from_db()
    assert [one.is_chosen for one in file.reading.runs] == [False, True]


def test_a_format_chosen_by_hand_is_the_one_that_reads(engineer: Client, bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    file = only_file(upload)
    engineer.post(f"{file.get_absolute_url()}again/", {"only": "dd"})
    assert only_file(upload).state == FileState.WAITING
    assert "The file is being parsed" in page(engineer, file)
    upload.refresh_from_db()
    assert upload.claim()
    parse(upload)
    again = only_file(upload)
    assert (again.only, again.run_count) == ("dd", 0)
    engineer.post(f"{file.get_absolute_url()}again/", {"only": "no such"})
    assert only_file(upload).state != FileState.WAITING


def test_a_files_place_and_labels_are_its_own(engineer: Client, bring: Bring, lab: Lab) -> None:
    host, upload = Host.objects.create(lab=lab, name="host9"), bring({"run.json": REPORT})
    address = only_file(upload).get_absolute_url()
    assert engineer.post(f"{address}belongs/", {"labels": "nonsense"}).status_code == 422
    engineer.post(f"{address}belongs/", {"place": f"host-{host.pk}", "labels": "cable=old"})
    keep(upload)
    run = Run.objects.get()
    assert (run.host, run.labels["cable"]) == (host, "old")
    assert "are kept" in engineer.post(f"{address}belongs/", {"labels": ""}, follow=True).content.decode()


def test_after_keeping_the_page_leads_to_the_runs(engineer: Client, bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    keep(upload)
    shown = page(engineer, only_file(upload))
    assert f"/runs/{Run.objects.get().pk}/" in shown
    assert "Keep 1 run" not in shown
    answer = engineer.post(f"{only_file(upload).get_absolute_url()}choose/", {"shown": 0}, follow=True)
    assert "Nothing was changed" in answer.content.decode()


@pytest.mark.parametrize("act", ["choose/", "belongs/", "again/", "mapping/"])
def test_a_viewer_changes_nothing_of_a_file(bring: Bring, sign_in: Any, act: str) -> None:
    file = only_file(bring({"run.json": REPORT}))
    viewer = sign_in("viewer")
    assert "Keep 1 run" not in page(viewer, file)
    assert viewer.post(file.get_absolute_url() + act).status_code == 403


def test_a_file_is_found_only_under_its_own_upload(engineer: Client, bring: Bring) -> None:
    first, second = bring({"a.json": REPORT}), bring({"b.json": OTHER})
    assert engineer.get(f"{first.get_absolute_url()}files/{only_file(second).pk}/").status_code == 404


def test_a_long_preview_is_cut_into_pages_and_shows_each_value_once() -> None:
    found = FileReading(runs=(*runs(3, samples=400), *runs(150, samples=0), *runs(1, samples=1200)))
    pages = RunPages(found)
    seen = []
    for number in range(len(pages)):
        shown = pages[number]
        assert len(shown) <= preview.RUNS
        assert sum(len(run.samples) for run in shown) <= preview.SAMPLES
        seen += [(run.place, run.before + n) for run in shown for n in range(len(run.samples))]
    assert seen == [(place, n) for place in (0, 1, 2) for n in range(400)] + [(153, n) for n in range(1200)]
    assert {run.place for number in range(len(pages)) for run in pages[number]} == set(range(154))


def test_pages_of_runs_follow_each_other(engineer: Client, bring: Bring) -> None:
    file = made(bring({"x.txt": b"words\n"}), FileReading(runs=runs(120)))
    assert "caption 119" not in page(engineer, file)
    assert "caption 119" in page(engineer, file, "?page=2")


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (ParsedSample("read", "bandwidth", None, low=16_400_000.0, quality="lower_bound"), "≥ 16.4\u00a0MB/s"),
        (ParsedSample("read", "bandwidth", None, high=2e6), "≤ 2.00\u00a0MB/s"),
        (ParsedSample("read", "bandwidth", None, low=2e6, high=3e6), "2.00\u00a0MB/s – 3.00\u00a0MB/s"),
        (ParsedSample("read", "bandwidth", None, missing_reason="not run"), ""),
    ],
)
def test_bounds_are_said_as_bounds(sample: ParsedSample, words: str) -> None:
    assert ShownSample(sample).bounds == words


def test_a_short_text_is_shown_whole_and_a_long_one_around_its_values() -> None:
    short = excerpt(SourceText("\n".join(map(str, range(1, 100)))), {5}, set())
    assert [line.number for _, line in short.lines] == list(range(1, 100))
    long = excerpt(SourceText("\n".join(map(str, range(1, 1001)))), {500, 502}, {900})
    assert [line.number for _, line in long.lines] == [498, 499, 500, 501, 502, 503, 504, 898, 899, 900, 901, 902]
    assert [gap for gap, _ in long.lines if gap] == [497, 393]
    assert long.rest == 98
    assert [(line.number, line.mark) for _, line in long.lines if line.mark] == [
        (500, "used"),
        (502, "used"),
        (900, "broken"),
    ]


def test_a_text_that_nothing_was_read_from_shows_how_it_begins() -> None:
    unread = excerpt(SourceText("\n".join(map(str, range(1, 1001)))), set(), {1, 900})
    assert [line.number for _, line in unread.lines] == [*range(1, 41), *range(898, 903)]


def test_an_output_in_one_line_of_a_page_or_in_a_string_is_shown_as_the_tool_wrote_it() -> None:
    dd = ["1024+0 records in", "1024+0 records out", "1073741824 bytes (1.1 GB) copied, 8 s, 134 MB/s"]
    for text in ("<br>".join(dd) + "<p>" + "x " * 400, json.dumps({"stderr": "\n".join(dd), "cmd": "x\n" * 400})):
        shown = excerpt(SourceText(f"above\n{text}\nbelow\n"), {2}, set())
        lines = [(line.number, line.text, line.is_first) for _, line in shown.lines]
        assert lines[0] == (1, "above", True)
        assert [(number, said) for number, said, _ in lines if said in dd] == [(2, said) for said in dd]
        assert [first for number, _, first in lines if number == 2].count(True) == 1
        assert lines[-1] == (3, "below", True)


def test_an_endless_line_and_endless_lines_are_cut() -> None:
    one = excerpt(SourceText("x" * 5_000_000), {1}, set())
    assert len(one.lines[0][1].text) < 500
    assert "more characters" in one.lines[0][1].text
    many = excerpt(SourceText("x\n" * 50_000), set(range(50_000)), set())
    assert len(many.lines) == source_lines.MOST_LINES
    assert many.is_cut


def test_only_the_first_part_of_a_large_file_is_looked_at(bring: Bring) -> None:
    file = only_file(bring({"x.txt": b"some words\n" * 1000}))
    assert file.artefact
    assert source_lines.head(file.artefact, 105) == b"some words\n" * 9
    assert len(source_lines.head(file.artefact)) == 11_000


def test_files_of_an_upload_follow_each_other(engineer: Client, bring: Bring) -> None:
    upload = bring({"a.txt": b"one\n", "old.zip": zipped({"b.txt": b"two\n"}), "c.txt": b"three\n"})
    files = {file.name: file for file in upload.files.all()}
    first, last = page(engineer, files["a.txt"]), page(engineer, files["old.zip/b.txt"])
    assert ("Previous file" in first, "Next file" in first) == (False, True)
    assert f'href="{files["c.txt"].get_absolute_url()}"' in first  # an archive has nothing to look at
    assert ("Previous file" in last, "Next file" in last) == (True, False)


def test_a_large_file_says_how_much_of_its_text_is_looked_at(
    engineer: Client, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = only_file(bring({"x.txt": b"some words\n" * 1000}))
    assert "960 more lines not shown" in page(engineer, file)
    monkeypatch.setattr(preview, "MOST_BYTES", 10_240)
    shown = page(engineer, file)
    assert "looks at a file’s first 10\u00a0KiB" in shown
    assert "more lines not shown</li>" not in shown


def test_a_series_says_what_it_is_of_before_it_is_kept(engineer: Client, bring: Bring) -> None:
    overview = [[0.0, 102e3, 110e3, 120e3, 1000], [1000.0, 90e3, 210e3, 300e3, 234]]
    series = PackedSeries("read", "clat_mean", 0, "fio", 1234, b"", overview)
    unseen = PackedSeries("write", "clat_mean", 0, "fio", 1, b"", [])  # of nothing but missing values
    file = made(bring({"x_clat.log": b"words\n"}), FileReading(runs=runs(1, samples=0, series=(series, unseen))))
    shown = page(engineer, file)
    assert "90.0\u00a0µs to 300\u00a0µs, mean 129\u00a0µs" in shown
    assert "1\u202f234 values over time" in shown
    assert "1 value over time" in shown
    many = (series,) * (SERIES + 3)
    more = page(engineer, made(bring({"y_clat.log": b"more\n"}), FileReading(runs=runs(1, samples=2, series=many))))
    assert more.count("mean 129\u00a0µs") == SERIES
    assert "and 3 more over time" in more


def test_a_histogram_says_how_much_is_in_it(engineer: Client, bring: Bring) -> None:
    rows = b"1000, 0, 4096, " + b", ".join([b"3", *[b"0"] * 1854, b"2"]) + b"\n"
    shown = page(engineer, only_file(bring({"job_clat_hist.1.log": rows})))
    assert "clat histogram" in shown
    assert "5 completions in 2 bins" in shown
    assert "no values" not in shown


def test_a_run_of_one_line_names_one_line(engineer: Client, bring: Bring) -> None:
    one = ParsedRun("dd", "", samples=(ParsedSample("read", "bandwidth", 1e6, line=1),), line=1, last_line=1)
    shown = page(engineer, made(bring({"x.txt": b"words\n"}), FileReading(runs=(ReadRun(one, "dd", 1.0),))))
    assert '<span class="muted">line</span> <a href="#L1">1</a></span>' in shown


def test_what_is_cut_off_is_not_called_no_result(engineer: Client, bring: Bring) -> None:
    shown = page(engineer, only_file(bring({"run.json": REPORT[: len(REPORT) // 2]})))
    assert "could be read as a result; why stands above" in shown


def test_what_is_said_of_all_values_is_said_once(bring: Bring, engineer: Client) -> None:
    samples = tuple(ParsedSample("read", "bandwidth", 1.0, threads=n, note="no unit") for n in range(3))
    same, other = (
        ParsedRun("iozone", "", samples=samples),
        ParsedRun("iozone", "", samples=(*samples, ParsedSample("read", "iops", 1.0))),
    )
    runs = tuple(ReadRun(run, "iozone", 1.0) for run in (same, other))
    file = made(bring({"a.json": REPORT}), FileReading(format="iozone", runs=runs))
    assert page(engineer, file).count("no unit") == 1 + 3
