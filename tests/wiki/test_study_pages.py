"""A whole study as a wiki page: three languages, every dialect read back by pandoc, numbers that agree, text that stays text."""

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pypandoc
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation
from django.utils.translation import gettext

from apps.comparison.caveats import RULES
from apps.comparison.claims.models import Claim
from apps.comparison.in_studies.models import StudyComparison
from apps.inventory.models import Array, Controller, Disk
from apps.labs.models import Lab
from apps.runs.models import Sample
from apps.studies.models import Configuration, Study, StudyRun
from apps.wiki import dialects
from apps.wiki.documents.document import Addresses, document_of
from tests.api.conftest import Script, content
from tests.comparison.factories import MIB, measured, target
from tests.wiki.test_dialects import NASTY, READERS, seen, words

HEADINGS = {
    "en": ["Set-up", "Machines", "Controllers", "Arrays", "Configurations", "Procedure", "Results", "Claims", "Caveats"],
    "it": ["Allestimento", "Macchine", "Controller", "Array", "Configurazioni", "Procedura", "Risultati", "Affermazioni", "Avvertenze"],
    "ru": ["Стенд", "Машины", "Контроллеры", "Массивы", "Конфигурации", "Методика", "Результаты", "Утверждения", "Оговорки"],
}  # fmt: skip
ABSENT = {
    "en": ("not reported", "unknown", "none"),
    "it": ("non riportato", "sconosciuto", "nessuno"),
    "ru": ("не указано", "неизвестно", "нет"),
}
PLACE = Addresses(
    "https://lab.example/studies/mine/", lambda name: f"https://lab.example/charts/mine/{name}/?format=png"
)


@pytest.fixture
def study(lab: Lab) -> Study:
    """Italian, with two configurations of 3 runs each: 90.5 and 181.25 MB/s on the average."""
    made = Study.objects.create(
        lab=lab, slug="mine", title="Disco o memoria", title_english="Disk or memory", language="it", year="2026",
        question="Quanto è più lento?", source="fio", notes="prima riga\nseconda riga",
    )  # fmt: skip
    for place, (label, values) in enumerate(
        {"disk": [9e7, 9.05e7, 9.1e7], "tmpfs": [1.8e8, 1.8125e8, 1.825e8]}.items()
    ):
        at = target(lab, "alpha", label)
        row = Configuration.objects.create(study=made, name=label, label=label, position=place, host=at.host, target=at)
        for run in measured(lab, "alpha", values, sync="none"):
            StudyRun.objects.create(run=run, configuration=row)
    host = made.configurations.get(name="disk").host
    card = Controller.objects.create(
        lab=lab, host=host, name="c0", model="", absent={"model": "not_printed", "bus": "none"}
    )
    Array.objects.create(lab=lab, host=host, name="md0", level="5", implementation="software", controller=card)
    Claim.objects.create(
        study=made, code="C1", statement="Il disco è più lento", language="it", statement_english="The disk is slower",
        kind="not_checkable", definition={"checks": [{"kind": "not_checkable", "reason": "x"}]},
    )  # fmt: skip
    return made


def blocks(text: str, dialect: str) -> list[Any]:
    found: list[Any] = json.loads(pypandoc.convert_text(text, "json", format=READERS[dialect]))["blocks"]
    return found


def tables(text: str, dialect: str) -> list[list[list[str]]]:
    found = [block["c"] for block in blocks(text, dialect) if block["t"] == "Table"]
    return [[[words(cell[4]) for cell in row[1]] for body in one[4] for row in body[3]] for one in found]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["mediawiki", "markdown"])
@pytest.mark.parametrize("language", HEADINGS)
def test_headings_are_in_the_language_that_was_asked_for(study: Study, language: str, dialect: str) -> None:
    text = dialects.render(dialect, document_of(study, language, PLACE))
    found = [seen(words(block["c"][2])) for block in blocks(text, dialect) if block["t"] == "Header"]
    assert found[0] == ("Disk or memory" if language == "en" else "Disco o memoria")
    assert [one for one in found if one in HEADINGS[language]] == HEADINGS[language]


@pytest.mark.parametrize("dialect", READERS)
def test_every_dialect_has_the_same_tables(study: Study, dialect: str) -> None:
    document = document_of(study, "it", PLACE)
    expected = [[list(row) for row in one.table.rows] for one in document.sections if one.table]
    assert [
        [[seen(cell) for cell in row] for row in one] for one in tables(dialects.render(dialect, document), dialect)
    ] == [[[seen(str(cell)) for cell in row] for row in one] for one in expected]


@pytest.mark.parametrize(
    ("language", "disk", "memory"), [("en", "90.5", "181"), ("it", "90,5", "181"), ("ru", "90,5", "181")]
)
def test_numbers_have_the_decimal_mark_of_the_language(study: Study, language: str, disk: str, memory: str) -> None:
    document = document_of(study, language, PLACE)
    values = next(one.table for one in document.sections if one.table and one.table.columns[-1].title == "tmpfs")
    mark = "," if language != "en" else "."
    # the half width of 3 values around 90.5 with a standard deviation of 0.5: 4.3027 × 0.5 ÷ √3
    assert values.rows == ((values.rows[0][0], f"{disk} ± 1{mark}24 (3)", f"{memory} ± 3{mark}11 (3)"),)


def test_versions_and_printed_words_keep_their_points(study: Study) -> None:
    said = [item for section in document_of(study, "ru", PLACE).sections for item in section.items]
    assert "fio fio-3.33; прогонов: 6" in said


def test_csv_and_json_have_plain_numbers_whatever_the_language(study: Study, reader: Script) -> None:
    rows = list(csv.DictReader(io.StringIO(content(reader.get("studies/mine/?format=csv&lang=ru")).decode())))
    assert sorted(float(row["value"]) for row in rows) == [9e7, 9.05e7, 9.1e7, 1.8e8, 1.8125e8, 1.825e8]
    assert {row["configuration"] for row in rows} == {"disk", "tmpfs"}
    assert reader.get("studies/mine/?lang=it").json()["title"] == "Disco o memoria"


def test_not_printed_unknown_and_none_are_three_words(study: Study) -> None:
    for language, expected in ABSENT.items():
        sections = document_of(study, language, PLACE).sections
        table = next(one.table for one in sections if one.heading == HEADINGS[language][2] and one.table)
        assert table.rows[0][1:4] == expected


def test_alike_disks_are_one_line_with_their_number(study: Study) -> None:
    host = study.configurations.get(name="disk").host
    for number in range(3):
        Disk.objects.create(lab=study.lab, host=host, model="ST1000", serial=str(number), capacity_bytes=10**12)
    disks = next(one.table for one in document_of(study, "en", PLACE).sections if one.heading == "Disks" and one.table)
    assert [(row[0], row[1], row[3]) for row in disks.rows] == [("alpha", "3", "ST1000")]


def test_claims_stand_in_the_documents_language_with_their_verdicts(study: Study) -> None:
    said = {}
    for language in HEADINGS:
        section = next(
            one for one in document_of(study, language, PLACE).sections if one.heading == HEADINGS[language][7]
        )
        assert section.table
        said[language] = section.table.rows[0][1:3]
    assert said == {
        "en": ("The disk is slower", "not checkable"),
        "it": ("Il disco è più lento", "non verificabile"),
        "ru": ("Il disco è più lento", "непроверяемо"),
    }


def test_configurations_come_in_the_order_of_the_study(
    study: Study, reader: Script, sign_in: Callable[[str], Client]
) -> None:
    """Counting their runs must not lose it."""
    study.configurations.filter(name="disk").update(position=5)
    study.configurations.filter(name="tmpfs").update(label="memoria")
    assert [one["name"] for one in reader.get("studies/mine/").json()["configurations"]] == ["tmpfs", "disk"]
    page = sign_in("engineer").get("/studies/mine/configurations/").content.decode()
    assert page.index(">memoria</th>") < page.index(">disk</th>")


def test_a_comparison_of_the_study_stands_with_caption_table_and_picture(study: Study) -> None:
    query = "metric=bandwidth&operation=write&x=block_size&series=label&study=mine"
    StudyComparison.objects.create(
        study=study, name="writing", title="Scrittura", caption="come è", query=query, created_by="x"
    )
    document = document_of(study, "it", PLACE)
    section = next(one for one in document.sections if one.heading == "Scrittura")
    assert section.paragraphs[0] == "come è"
    assert section.table
    assert [column.title for column in section.table.columns] == [
        "dimensione del blocco",
        "disk",
        "tmpfs",
    ]
    assert section.picture
    assert section.picture.address == "https://lab.example/charts/mine/writing/?format=png"
    markdown = dialects.render("markdown", document)
    assert "![Scrittura](<https://lab.example/charts/mine/writing/?format=png>)" in markdown
    assert '<img src="https://lab.example/charts/mine/writing/?format=png" alt="Scrittura">' in dialects.render(
        "html", document
    )


def test_pictures_are_links_or_files_of_the_wiki(study: Study, reader: Script) -> None:
    query = "metric=bandwidth&operation=write&x=block_size&series=label&study=mine"
    StudyComparison.objects.create(
        study=study, name="writing", title="Scrivere [[x]] | più", query=query, created_by="x"
    )
    title = "Scrivere &#91;&#91;x&#93;&#93; &#124; più"
    linked = f"[http://testserver/api/v1/charts/mine/writing/?format=png {title} (PNG)]"
    shown = {
        "mediawiki": f"[[File:mine-writing.png|thumb|none|720px|alt={title}|{title}]]",
        "dokuwiki": "{{mine-writing.png?720|Scrivere x  più}}",
        "markdown": "![Scrivere \\[\\[x\\]\\] &#124; più](<mine-writing.png>)",
        "html": '<img src="mine-writing.png" alt="Scrivere [[x]] | più">',
    }
    assert linked in reader.get("studies/mine/?format=mediawiki").content.decode()
    for form, text in shown.items():
        assert text in reader.get(f"studies/mine/?format={form}&pictures=file").content.decode()
    answer = reader.get("studies/mine/?format=mediawiki&pictures=no")
    assert answer.status_code == 400
    assert "link, file" in answer.json()["detail"]


def test_the_wiki_page_gives_the_pictures_that_the_wiki_shall_have(
    study: Study, sign_in: Callable[[str], Client]
) -> None:
    query = "metric=bandwidth&operation=write&x=block_size&series=label&study=mine"
    StudyComparison.objects.create(study=study, name="writing", title="Scrittura", query=query, created_by="x")
    page = sign_in("viewer").get("/studies/mine/wiki/?format=dokuwiki&pictures=file").content.decode()
    address = "http://testserver/api/v1/charts/mine/writing/?format=png"
    assert f'<a href="{address}" download="mine-writing.png">mine-writing.png</a>' in page
    assert "{{mine-writing.png?720|Scrittura}}" in page
    assert f'<img src="{address}" alt="Scrittura">' in page  # the preview has no wiki to ask


@pytest.mark.parametrize("language", ["it", "ru"])
def test_what_the_rules_say_is_said_in_the_documents_language(language: str) -> None:
    words = [text for rule in RULES for text in (rule.title, rule.text)]
    with translation.override(language):
        assert [text for text in words if gettext(text) == text] == []


def test_kinds_are_named_in_the_documents_language(study: Study) -> None:
    arrays = next(
        one.table for one in document_of(study, "ru", PLACE).sections if one.heading == "Массивы" and one.table
    )
    assert arrays.rows[0][3] == "программная"


@pytest.mark.parametrize("dialect", READERS)
def test_nothing_that_people_type_becomes_markup(study: Study, dialect: str) -> None:
    typed = [text for text in NASTY if text.strip()]
    study.notes = "\n".join(line for text in typed for line in text.split("\n"))
    study.title = "[[x]] {{t}} <script>alert(1)</script> | ''b'' ~~~~"
    study.save()
    row = study.configurations.get(name="disk")
    row.label = "a|b || {{t}} ^ c <b>"
    row.save()
    text = dialects.render(dialect, document_of(study, "it", PLACE))
    found = blocks(text, dialect)
    items = [words(item) for block in found if block["t"] == "BulletList" for item in block["c"]]
    expected = [line.strip() for text in typed for line in text.split("\n") if line.strip()]
    assert [seen(item) for item in items][-len(expected) :] == [seen(line) for line in expected]
    assert "a|b || {{t}} ^ c <b>" in {cell for one in tables(text, dialect) for row in one for cell in row}
    # DokuWiki itself reads no markup within a heading; pandoc, which reads it back here, does
    assert text.startswith(f"====== {study.title} ======\n") or study.title in words(found[0]["c"][2])


def test_nothing_that_people_type_becomes_a_tag(study: Study) -> None:
    study.title, study.notes = "<script>alert(1)</script>", '<img src=x onerror="x">'
    study.save()
    html = dialects.render("html", document_of(study, "it", PLACE))
    assert "<script" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    tags = set(re.findall(r"<(\w+)", html))
    assert tags <= {
        "h1",
        "h2",
        "h3",
        "h4",
        "p",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "small",
        "a",
        "br",
        "caption",
    }


@pytest.mark.slow
@pytest.mark.parametrize("form", ["mediawiki", "dokuwiki", "markdown", "html", "csv"])
def test_by_rest_the_same_study_is_304_until_a_value_changes(study: Study, reader: Script, form: str) -> None:
    first = reader.get(f"studies/mine/?format={form}&lang=it")
    assert first.status_code == 200
    again = reader.get(f"studies/mine/?format={form}&lang=it", **{"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert reader.get(f"studies/mine/?format={form}&lang=ru").headers["ETag"] != first.headers["ETag"]
    Sample.objects.filter(value=9e7).update(value=9.3e7)
    assert reader.get(f"studies/mine/?format={form}&lang=it").headers["ETag"] != first.headers["ETag"]


def test_the_footer_says_when_from_what_and_where(study: Study) -> None:
    before, again = document_of(study, "en", PLACE).footer, document_of(study, "en", PLACE).footer
    assert re.search(r"Made 20\d\d-\d\d-\d\d \d\d:\d\d UTC by Spindle [\d.]+\. Samples: 6, runs: 6\.", before.text)
    digest = re.search(r"Digest of the data: ([0-9a-f]{12})\.", before.text)
    assert digest
    assert digest[0] in again.text
    Sample.objects.filter(value=9e7).update(value=9.3e7)
    assert digest[0] not in document_of(study, "en", PLACE).footer.text


def test_the_language_left_out_is_the_studys_own(study: Study, reader: Script) -> None:
    assert "=== Risultati ===" in reader.get("studies/mine/?format=mediawiki").content.decode()
    answer = reader.get("studies/mine/?format=mediawiki&lang=de")
    assert answer.status_code == 400
    assert "en, it, ru" in answer.json()["detail"]


def test_more_runs_ask_no_more_queries(study: Study, django_assert_num_queries: Any) -> None:
    with CaptureQueriesContext(connection) as few:
        document_of(study, "it", PLACE)
    assert len(few) <= 45
    row = study.configurations.get(name="disk")
    for size in (1, 2, 4, 8):
        for run in measured(study.lab, "alpha", [1e8, 2e8], file_size=size * MIB):
            StudyRun.objects.create(run=run, configuration=row)
    with django_assert_num_queries(len(few)):
        document_of(study, "it", PLACE)


def test_the_wiki_page_shows_source_and_preview(study: Study, sign_in: Callable[[str], Client]) -> None:
    page = sign_in("viewer").get("/studies/mine/wiki/?format=dokuwiki&lang=it").content.decode()
    assert "===== Allestimento =====" in page
    assert "<h2>Allestimento</h2>" in page
    assert "/api/v1/studies/mine/?format=dokuwiki&amp;lang=it" in page
    assert sign_in("viewer").get("/studies/mine/wiki/?format=word").status_code == 400
