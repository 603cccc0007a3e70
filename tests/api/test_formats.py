"""The same answer in the form that was asked for, and nothing sent twice that has not changed."""

import csv
import io
import json
import re
from typing import Any

import pytest

from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.api.conftest import Script, content
from tests.comparison.factories import GIB, MIB, measured, run, sample
from tests.conftest import Cast
from tests.sampling import for_each

KINDS = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "mediawiki": "text/x-mediawiki; charset=utf-8",
    "dokuwiki": "text/x-dokuwiki; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}
COMPARE = "compare/?metric=bandwidth&operation=write&x=file_size"


@pytest.mark.slow
@pytest.mark.usefixtures("own_runs", "report")
@for_each("form, kind", KINDS.items())
def test_by_format_by_suffix_and_by_accept(reader: Script, form: str, kind: str) -> None:
    by_format = reader.get(f"{COMPARE}&format={form}")
    by_suffix = reader.get(COMPARE.replace("compare/", f"compare.{form}"))
    by_accept = reader.get(COMPARE, Accept=kind.partition(";")[0])
    for response in (by_format, by_suffix, by_accept):
        assert response.status_code == 200
        assert response.headers["Content-Type"] == kind
        assert response.headers["ETag"] == by_format.headers["ETag"]


@pytest.mark.slow
@pytest.mark.usefixtures("own_runs")
@for_each(
    "accept, kind",
    [
        ("text/x-mediawiki;q=0.5, text/csv;q=0.9", "text/csv"),
        ("text/csv;q=0.5, text/markdown", "text/markdown"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "application/json"),
        ("text/*;q=0.5, text/csv;q=0.1, application/json;q=0", "text/x-mediawiki"),
        ("*/*, text/x-dokuwiki", "text/x-dokuwiki"),
        ("text/x-wiki", "text/x-mediawiki"),
        ("", "application/json"),
    ],
)
def test_weights_are_honoured(reader: Script, accept: str, kind: str) -> None:
    assert reader.get(COMPARE, Accept=accept).headers["Content-Type"].partition(";")[0] == kind


@pytest.mark.parametrize("headers", [{"Accept": "image/gif"}, {"Accept": "text/csv;q=0"}])
def test_what_nobody_can_write_is_406(reader: Script, headers: dict[str, str]) -> None:
    response = reader.get(COMPARE, **headers)
    assert response.status_code == 406
    assert "expected one of: application/json, text/csv" in response.json()["detail"]


def test_an_unknown_format_is_406_and_names_those_there_are(reader: Script) -> None:
    response = reader.get(f"{COMPARE}&format=xls")
    assert response.status_code == 406
    detail = response.json()["detail"]
    assert detail.startswith("Found format 'xls', expected one of: json, csv, mediawiki, dokuwiki, markdown, ")
    assert detail.endswith(", svg, png.")


@pytest.mark.slow
@pytest.mark.usefixtures("own_runs", "report")
@pytest.mark.parametrize("form", KINDS)
def test_asked_again_the_answer_is_not_sent_again(reader: Script, cast: Cast, form: str) -> None:
    first = reader.get(f"{COMPARE}&format={form}")
    assert first.headers["Cache-Control"] == "private, no-cache"
    assert "Last-Modified" in first.headers
    assert "Authorization" in first.headers["Vary"]
    again = reader.get(f"{COMPARE}&format={form}", **{"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    with lab_scope(cast.lab.pk):
        measured(cast.lab, "alpha", [9.9e7], file_size=100 * MIB)
    changed = reader.get(f"{COMPARE}&format={form}", **{"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200


@pytest.mark.usefixtures("own_runs")
def test_each_form_has_a_tag_of_its_own(reader: Script) -> None:
    assert len({reader.get(f"{COMPARE}&format={form}").headers["ETag"] for form in KINDS}) == len(KINDS)
    wiki = f"{COMPARE}&format=mediawiki"
    assert reader.get(wiki).headers["ETag"] != reader.get(f"{wiki}&base=1024").headers["ETag"]


@pytest.mark.usefixtures("own_runs")
@pytest.mark.parametrize("form", ["mediawiki", "dokuwiki", "markdown"])
def test_the_footer_says_when_and_from_what_and_leads_back(reader: Script, form: str) -> None:
    text = re.sub(r"%%|&#\d+;(?:<!-- -->)?", "", reader.get(f"{COMPARE}&format={form}").content.decode())
    assert re.search(
        r"Made \d{4}-\d\d-\d\d \d\d:?\d\d UTC by Spindle [\d.]+ from 3 samples of 3 runs, the newest of", text
    )
    assert "http://testserver/compare/?metric=bandwidth&operation=write&x=file" in text


GOLDEN_MEDIAWIKI = """\
== Bandwidth of write by file size ==

Values in MB/s. Ratios are to alpha · scratch.

=== Values ===

{| class="wikitable"
! scope="col" | file size
! scope="col" | alpha · scratch (MB/s)
! scope="col" | SATA &#124; RAID 5 &#123;&#123;x&#125;&#125; (MB/s)
|-
! scope="row" | 100 MiB
| style="text-align:right" | 91.0 ± 2.48 (n &#61; 3)
| style="text-align:right" | 180 (n &#61; 1; 1.98× not tested: block size, direct I/O, fsync at the end and 10 more differ too)
|-
! scope="row" | 2 000 MiB
| style="text-align:right" | not measured
| style="text-align:right" | 24.0 (n &#61; 1)
|}

=== Like for like ===

* also differs: host alpha / paper-host
"""
GOLDEN_DOKUWIKI = """\
====== Bandwidth of write by file size ======

%%Values in MB/s. Ratios are to alpha · scratch.%%

===== Values =====

^ file size ^ %%alpha · scratch (MB/s)%% ^ %%SATA | RAID 5 {{x}} (MB/s)%% ^
^ %%100 MiB%% |  %%91.0 ± 2.48 (n = 3)%% |  %%180 (n = 1; 1.98× not tested: block size, direct I/O, fsync at the end and 10 more differ too)%% |
^ %%2 000 MiB%% |  not measured |  %%24.0 (n = 1)%% |
"""
GOLDEN_MARKDOWN = """\
## Bandwidth of write by file size

Values in MB/s. Ratios are to alpha · scratch.

### Values

| file size | alpha · scratch (MB/s) | SATA &#124; RAID 5 \\{\\{x\\}\\} (MB/s) |
| --- | ---: | ---: |
| 100 MiB | 91.0 ± 2.48 (n = 3) | 180 (n = 1; 1.98× not tested: block size, direct I/O, fsync at the end and 10 more differ too) |
| 2 000 MiB | not measured | 24.0 (n = 1) |
"""


@pytest.mark.usefixtures("own_runs", "report")
@pytest.mark.parametrize(
    ("form", "golden"), [("mediawiki", GOLDEN_MEDIAWIKI), ("dokuwiki", GOLDEN_DOKUWIKI), ("markdown", GOLDEN_MARKDOWN)]
)
def test_the_wiki_page_is_this_text(reader: Script, form: str, golden: str) -> None:
    text = reader.get(f"{COMPARE}&format={form}").content.decode().replace("\u00a0", " ").replace("\u202f", " ")
    assert text[: len(golden)] == golden


@pytest.mark.usefixtures("own_runs", "report")
def test_csv_has_every_cell_with_all_digits(reader: Script) -> None:
    rows = list(csv.DictReader(io.StringIO(reader.get(f"{COMPARE}&format=csv").content.decode())))
    data = reader.get(COMPARE).json()["cells"]
    assert len(rows) == len(data) == 4
    for row, cell in zip(rows, data, strict=True):
        assert row["unit"] == "B/s"
        for name in ("n", "mean", "stdev", "ci_low", "ratio"):
            assert (float(row[name]) if row[name] else None) == cell[name]
        assert row["series"] == cell["series"]


def test_a_run_as_csv_is_its_samples(reader: Script, own_runs: list[Run]) -> None:
    (row,) = csv.DictReader(io.StringIO(content(reader.get(f"runs/{own_runs[0].pk}.csv")).decode()))
    assert (row["operation"], row["metric"], row["value"], row["unit"]) == ("write", "bandwidth", "90000000", "B/s")


@pytest.mark.parametrize("form", ["mediawiki", "dokuwiki", "markdown"])
def test_a_run_as_a_wiki_page(reader: Script, cast: Cast, form: str) -> None:
    with lab_scope(cast.lab.pk):
        one = run(cast.lab, facts={"ram": GIB, "sync": "none"}, labels={"ticket": "[[evil]]"})
        sample(one, 1.5e8, file_size=100 * MIB, printed="146484 K/sec", quality="exact")
        sample(one, None, "read", file_size=100 * MIB, missing_reason="N.A.")
    response = reader.get(f"runs/{one.pk}/?format={form}")
    text = content(response).decode().replace("\u00a0", " ").replace("\u202f", " ")
    for part in ("150 MB/s", "146484 K/sec", "100 MiB", "N.A.", "May be memory, not disk", "fio", "Facts", "Workload"):
        assert part in text
    assert "[[evil]]" not in text
    assert response.headers["ETag"].startswith("W/")


def test_a_runs_document_changes_with_its_samples(reader: Script, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        one = run(cast.lab)
        sample(one, 1.5e8)
    before = reader.get(f"runs/{one.pk}.csv").headers["ETag"]
    with lab_scope(cast.lab.pk):
        sample(one, 2.5e8, "read")
    assert reader.get(f"runs/{one.pk}.csv").headers["ETag"] != before


@pytest.mark.slow
@for_each(
    "query, field",
    [
        ("metric=speed", "metric"),
        ("series=%3Cb%3E", "series"),
        ("colour=red", "colour"),
        ("run=x", "run"),
        ("host=%00", "host"),
        ("file_size=99999999999999999999999", "file_size"),
        ("raid_level=%00", "raid_level"),
        ("%00=1", "\0"),
    ],
)
def test_a_question_that_cannot_be_answered_is_a_problem(
    reader: Script, own_runs: list[Run], query: str, field: str
) -> None:
    response = reader.get(f"compare/?{query}", Accept="text/csv, application/json;q=0.1")
    assert response.status_code == 400
    problem: dict[str, Any] = json.loads(response.content)
    assert problem["field"] == field
    assert {"found", "expected", "detail"} <= set(problem)
