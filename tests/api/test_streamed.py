"""Documents of runs and tables of studies are written while they are sent: the same text, tags before the content, constant memory."""

import re
from typing import Any

import pytest
from django.db import DatabaseError, connection

from apps.comparison.queries import samples
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run, Sample
from apps.studies.models import Configuration, Study, StudyRun
from apps.wiki import sample_rows
from apps.wiki.dialects import csv
from tests import sampling
from tests.api.conftest import Script, content
from tests.comparison.factories import GIB, MIB, run, sample
from tests.conftest import Cast
from tests.memory import sent

FORMS = ["csv", "mediawiki", "dokuwiki", "markdown"]
TABLES = {
    "mediawiki": """
=== Samples ===

{| class="wikitable"
! scope="col" | Operation
! scope="col" | Metric
! scope="col" | Value
! scope="col" | File size
! scope="col" | Block size
! scope="col" | Threads
! scope="col" | I/O depth
! scope="col" | Printed
|-
| write
| Bandwidth
| style="text-align:right" | 150 MB/s
| style="text-align:right" | 100 MiB
| style="text-align:right" | –
| style="text-align:right" | –
| style="text-align:right" | –
| a&#124;b
|-
| random read
| IOPS
| style="text-align:right" | N.A.
| style="text-align:right" | 2 GiB
| style="text-align:right" | 4 KiB
| style="text-align:right" | 1
| style="text-align:right" | 16
|
|}

=== Caveats ===
""",
    "dokuwiki": """
===== Samples =====

^ Operation ^ Metric ^ Value ^ File size ^ Block size ^ Threads ^ %%I/O depth%% ^ Printed ^
| write | Bandwidth |  %%150 MB/s%% |  %%100 MiB%% |  %%–%% |  %%–%% |  %%–%% | %%a|b%% |
| random read | %%IOPS%% |  %%N.A.%% |  %%2 GiB%% |  %%4 KiB%% |  1 |  16 |  |

===== Caveats =====
""",
    "markdown": """
### Samples

| Operation | Metric | Value | File size | Block size | Threads | I/O depth | Printed |
| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |
| write | Bandwidth | 150 MB/s | 100 MiB | – | – | – | a&#124;b |
| random read | IOPS | N.A. | 2 GiB | 4 KiB | 1 | 16 |  |

### Caveats
""",
}


@pytest.fixture
def one(cast: Cast) -> Run:
    with lab_scope(cast.lab.pk):
        made = run(cast.lab, facts={"ram": GIB, "sync": "none"})
        sample(made, 1.5e8, file_size=100 * MIB, printed="a|b", quality="exact")
        sample(made, None, "randread", "iops", missing_reason="N.A.", **POINT)
        return made


POINT: dict[str, Any] = {"file_size": 2 * GIB, "block_size": 4096, "threads": 1, "iodepth": 16}


def text(reader: Script, made: Run, form: str) -> str:
    """Without the clock, and with plain spaces."""
    found = content(reader.get(f"runs/{made.pk}/?format={form}")).decode()
    return re.sub(r"Made \S+ \S+ UTC", "Made then", found).replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.parametrize("form", TABLES)
def test_a_wiki_page_has_the_samples_between_workload_and_caveats(reader: Script, one: Run, form: str) -> None:
    assert TABLES[form] in text(reader, one, form)
    assert f"from 2 samples of run {one.pk}." in text(reader, one, form).replace("%%", "")


def test_csv_is_the_samples_as_they_come_one_by_one(reader: Script, cast: Cast, one: Run) -> None:
    with lab_scope(cast.lab.pk):
        found = [[row[name] for name in sample_rows.FIELDS] for row in sample_rows.rows(one.samples.order_by("id"))]
    assert len(found) == 2
    assert text(reader, one, "csv") == csv.lines([sample_rows.FIELDS, *found])


@pytest.mark.parametrize("form", FORMS)
def test_many_batches_are_the_same_text(
    reader: Script, cast: Cast, one: Run, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lab_scope(cast.lab.pk):
        for number in range(1, 8):
            sample(one, number * 1e8, "read", file_size=number * 300 * MIB, section=number)
    at_once = text(reader, one, form)
    monkeypatch.setattr(sample_rows, "BATCH", 2)
    monkeypatch.setattr(samples, "SAMPLES_AT_ONCE", 2)
    monkeypatch.setattr(csv, "_AT_ONCE", 2)
    assert text(reader, one, form) == at_once


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_the_same_document_is_304_until_a_sample_a_fact_or_the_units_change(
    reader: Script, cast: Cast, one: Run, form: str
) -> None:
    address, tags = f"runs/{one.pk}/?format={form}", []

    def ask() -> None:
        tags.append(reader.get(address).headers["ETag"])
        again = reader.get(address, **{"If-None-Match": tags[-1]})
        assert (again.status_code, content(again), again.headers["ETag"]) == (304, b"", tags[-1])

    ask()
    with lab_scope(cast.lab.pk):
        sample(one, 1e8, "read")
    ask()
    with lab_scope(cast.lab.pk):
        Sample.objects.filter(run=one).order_by("id").first().delete()
    ask()
    with lab_scope(cast.lab.pk):
        Run.objects.filter(pk=one.pk).update(labels={"rack": "B12"})
    ask()
    tags.append(reader.get(f"{address}&base=1024").headers["ETag"])
    assert len(set(tags)) == len(tags)
    assert all(tag.startswith("W/") for tag in tags) == (form != "csv")


@pytest.mark.parametrize("form", FORMS)
def test_an_error_is_an_error_and_no_torn_answer(
    reader: Script, one: Run, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(*_: Any) -> Any:
        raise DatabaseError("the database went away")

    monkeypatch.setattr(sample_rows, "parts", torn)
    with pytest.raises(DatabaseError):
        reader.get(f"runs/{one.pk}/?format={form}")


def test_samples_that_come_while_it_is_sent_are_of_the_next_answer(
    reader: Script, cast: Cast, one: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.core.http.LUMP", 1)
    pieces = reader.get(f"runs/{one.pk}/?format=csv").streaming_content
    begun = next(pieces)
    with lab_scope(cast.lab.pk):
        sample(one, 1e8, "read")
    assert (begun + b"".join(pieces)).count(b"\n") == 3


@pytest.fixture
def study(cast: Cast) -> Study:
    with lab_scope(cast.lab.pk):
        made = Study.objects.create(lab=cast.lab, slug="long", title="Long")
        configuration = Configuration.objects.create(study=made, name="c0", label="c0", position=0)
        StudyRun.objects.create(run=long_run(cast.lab), configuration=configuration)
        return made


def long_run(lab: Lab) -> Run:
    made = run(lab, facts={"ram": GIB, "sync": "none"})
    sample(made, 1.5e8, file_size=2 * GIB)
    return made


def lengthen(made: Run, count: int) -> None:
    """So many samples more, at the point of the first one."""
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO runs_sample (run_id, measure_id, point_id, section, value)
            SELECT run_id, measure_id, point_id, newest + n, value + n
            FROM (SELECT *, (SELECT max(section) FROM runs_sample WHERE run_id = %(run)s) AS newest FROM runs_sample
                WHERE run_id = %(run)s AND section = 0) AS first, generate_series(1, %(count)s) AS n""",
            {"run": made.pk, "count": count},
        )
        cursor.execute("ANALYZE runs_sample")


LONG_ANSWERS = [*(f"runs/{{run}}/?format={form}" for form in FORMS), "studies/long/?format=csv"]


@pytest.mark.slow
@pytest.mark.parametrize("address", sampling.sample(LONG_ANSWERS, 1))
def test_six_times_the_samples_take_no_more_memory(
    reader: Script, cast: Cast, study: Study, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples that stay would take some 2 kB each: 2 MB more."""
    monkeypatch.setattr(sample_rows, "BATCH", 50)
    monkeypatch.setattr(samples, "SAMPLES_AT_ONCE", 50)
    monkeypatch.setattr(csv, "_AT_ONCE", 50)
    monkeypatch.setattr("apps.core.http.LUMP", 4096)
    with lab_scope(cast.lab.pk):
        made = Run.objects.get()
    here = address.format(run=made.pk)
    lengthen(made, 200)
    sent(lambda: reader.get(here).streaming_content)  # the first one brings modules in
    small, low = sent(lambda: reader.get(here).streaming_content)
    lengthen(made, 1_000)
    large, high = sent(lambda: reader.get(here).streaming_content)
    assert large > 4 * small
    assert high < low + 600_000


def test_the_table_of_a_study_is_that_of_its_samples(reader: Script, study: Study) -> None:
    found = reader.get("studies/long/?format=csv")
    assert content(found) == content(reader.get("samples/?study=long&format=csv"))
    assert reader.get("studies/long/?format=csv", **{"If-None-Match": found.headers["ETag"]}).status_code == 304
