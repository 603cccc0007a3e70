"""The questions that the published reports asked, asked of their own data."""

import re
from collections.abc import Callable
from html import unescape

import pytest
from django.test import Client
from django.utils import translation
from django.utils.translation import gettext

from apps.comparison.like_for_like.report_questions import asked_of, questions_of_reports
from apps.comparison.like_for_like.sentences import METHOD
from apps.comparison.questions import BY_NAME
from apps.labs.models import Lab
from apps.studies.models import Study
from apps.wiki.documents.document import Addresses, document_of
from tests.page_text import page_text
from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("published")]


ASKED = {
    "crs4-sata-scsi": ("interface", "raid_level", "raid_implementation", "file_against_ram"),
    "thumper-x4500": ("filesystem", "raid_level"),
    "tristan-sas-sata": ("interface", "environment", "controller_cache"),
}


def test_each_report_has_the_questions_that_it_asked(published: Lab) -> None:
    from apps.labs.isolation import lab_scope

    with lab_scope(published.pk):
        reports = questions_of_reports([published.pk])
    assert {one.study.slug: tuple(answer.factor for answer in one.answers) for one in reports} == ASKED
    assert all(asked.quote and asked.lines for one in reports for asked in one.asked)


@pytest.mark.parametrize("slug", ASKED)
def test_the_page_of_the_report_has_its_questions_with_its_words_and_an_answer(
    sign_in: Callable[[str], Client], slug: str
) -> None:
    client = sign_in("viewer")
    for path in (f"/studies/{slug}/", "/compare/?published=yes"):
        text = " ".join(page_text(client.get(path).content.decode()).split())
        rows = questions_on(client.get(path).content.decode(), slug)
        assert tuple(rows) == ASKED[slug], path
        for factor, row in rows.items():
            assert row["quote"] in text
            assert re.search(r"No two runs|Matched sets exist|All runs have one level|No run says|×", row["answer"]), (
                factor
            )


def questions_on(html: str, slug: str) -> dict[str, dict[str, str]]:
    """Return the rows of a report's table by factor."""
    rows = re.findall(
        rf'<th scope="row"><a href="/compare/questions/(\w+)/\?study={slug}">.*?</th>\s*<td[^>]*><q[^>]*>(.*?)</q>.*?</td>\s*<td[^>]*>(.*?)</td>',
        html, re.DOTALL,
    )  # fmt: skip
    return {
        factor: {"quote": " ".join(unescape(quote).split()), "answer": page_text(answer)}
        for factor, quote, answer in rows
    }


def test_crs4_shows_the_ratios_of_files_that_fit_into_ram_without_a_verdict(sign_in: Callable[[str], Client]) -> None:
    row = questions_on(sign_in("viewer").get("/studies/crs4-sata-scsi/").content.decode(), "crs4-sata-scsi")
    answer = " ".join(row["file_against_ram"]["answer"].split())
    assert "Matched sets exist, but none has 3 runs on each side." in answer
    assert re.search(
        r"Ratios without a verdict: files that fit into RAM [\d.]+ to [\d.]+ × files larger than RAM \(7 matched",
        answer,
    )


def test_reports_that_print_one_value_a_set_get_no_verdict(published: Lab) -> None:
    """CRS4 prints means and no repetitions: its sets are shown, and nothing is called an effect."""
    from apps.labs.isolation import lab_scope

    with lab_scope(published.pk):
        reports = {one.study.slug: one for one in questions_of_reports([published.pk])}
    for one in reports.values():
        assert not [answer.factor for answer in one.answers if answer.is_answered]
    levels = next(answer for answer in reports["crs4-sata-scsi"].answers if answer.factor == "raid_level")
    assert levels.strata
    assert all(max(effect.n) < 3 for contrast in levels.contrasts for effect in contrast.effects)


def test_crs4s_hardware_and_software_raid_are_told_to_differ_in_more(published: Lab) -> None:
    from apps.labs.isolation import lab_scope

    with lab_scope(published.pk):
        crs4 = next(one for one in questions_of_reports([published.pk]) if one.study.slug == "crs4-sata-scsi")
    answer = next(answer for answer in crs4.answers if answer.factor == "raid_implementation")
    assert {"host", "ram", "raid_level"} <= {*answer.nearest[0].differs}
    assert answer.contrasts == ()


def test_the_switch_shows_them_beside_the_reports_words(sign_in: Callable[[str], Client]) -> None:
    client = sign_in("viewer")
    text = page_text(client.get("/compare/?published=yes").content.decode())
    assert "what this report asked, with what its data support" in text
    assert "Native against guest" in text
    assert "what this report asked" not in page_text(client.get("/compare/").content.decode())
    assert client.get("/compare/questions/interface/?study=crs4-sata-scsi").status_code == 200


@pytest.mark.parametrize("language", ["en", "it", "ru"])
def test_the_document_of_the_report_has_its_questions_too(published: Lab, language: str) -> None:
    from apps.labs.isolation import lab_scope

    with lab_scope(published.pk):
        study = Study.objects.get(slug="thumper-x4500")
        document = document_of(study, language, Addresses("", lambda _name: ""))
    with translation.override(language):
        heading, method = gettext("What the report asked"), str(METHOD)
    (section,) = [one for one in document.sections if one.heading == heading]
    assert section.table
    rows = list(section.table.each())
    assert [row[0] for row in rows] == [str_in(language, factor) for factor in ASKED["thumper-x4500"]]
    asked = [one.quote for one in asked_of(study)]
    assert all(quote in str(row[1]) for quote, row in zip(asked, rows, strict=True))
    assert all(row[2] and row[3] for row in rows)
    assert (method == METHOD_ENGLISH) is (language == "en")


def test_sentences_of_a_document_end_with_one_full_stop(published: Lab) -> None:
    from apps.labs.isolation import lab_scope

    supported = []
    with lab_scope(published.pk):
        studies = list(Study.objects.filter(slug__in=ASKED))
        documents = [document_of(study, "en", Addresses("", lambda _name: "")) for study in studies]
    for document in documents:
        (section,) = [one for one in document.sections if one.heading == "What the report asked"]
        assert section.table
        supported += [str(row[2]) for row in section.table.each()]
    assert len(supported) == 9
    assert any("Could not be held" in text for text in supported)
    assert not [text for text in supported if ".." in text]


METHOD_ENGLISH = str(METHOD)


def str_in(language: str, factor: str) -> str:
    with translation.override(language):
        return str(BY_NAME[factor].title)
