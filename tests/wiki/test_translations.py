"""A study's own texts in another language: whole texts and phrases, kept by a page, read in its wiki page."""

from typing import Any

import pytest
from django.test import Client

from apps.core.tables import Document, Footer, Head, Section, Table
from apps.studies.models import Study, Wording
from apps.studies.translations import in_words, pairs_of, save_wording
from apps.wiki.documents.translation import worded
from tests.wiki.test_study_pages import study  # noqa: F401


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("files larger than RAM", "file più grandi della RAM"),
        ("Remark: files larger than RAM; twice", "Remark: file più grandi della RAM; due volte"),
        ("at RAM, not RAMDISK nor 2RAM", "at memoria, not RAMDISK nor 2RAM"),
        ("(twice)", "(due volte)"),
        ("nothing of this", "nothing of this"),
    ],
)
def test_whole_texts_and_phrases_the_longest_first(text: str, said: str) -> None:
    pairs = {"RAM": "memoria", "files larger than RAM": "file più grandi della RAM", "twice": "due volte"}
    assert in_words(pairs)(text) == said


def test_what_a_report_printed_is_not_put_in_other_words() -> None:
    quoted = Table.of(["write"], [["write"]], caption="write")
    table = Table((quoted.columns), quoted.rows, "write", heads=((Head("write"),),))
    sections = (
        Section("write", ("write",), table, ("write",)),
        Section("", table=Table(table.columns, table.rows, "", table.heads, is_quoted=True)),
    )
    made = worded(Document("write", ("write",), sections, Footer("", ""), quoted), in_words({"write": "scrittura"}))
    own, report = (section.table for section in made.sections)
    assert own is not None
    assert report is not None
    assert (own.columns[0].title, own.heads[0][0].text, own.rows, own.caption) == (*["scrittura"] * 2, (("scrittura",),), "scrittura")  # fmt: skip
    assert (report.columns[0].title, report.heads[0][0].text, report.rows) == ("write", "write", (("write",),))
    own_section = made.sections[0]
    assert own_section.heading == "scrittura"
    assert (own_section.items, own_section.paragraphs) == (("scrittura",), ("scrittura",))
    assert (made.title, made.data.rows) == ("write", (("write",),))


def test_putting_words_says_what_changed(study: Study) -> None:  # noqa: F811
    assert save_wording(study, "en", {"a": "1", "b": "2"}) == 2
    assert save_wording(study, "en", {"a": "1", "b": "2"}) == 0
    assert save_wording(study, "ru", {"a": "один"}) == 1
    assert save_wording(study, "en", {"a": "3"}) == 2
    assert (pairs_of(study, "en"), pairs_of(study, "ru")) == ({"a": "3"}, {"a": "один"})


def test_the_page_lists_what_is_not_said_yet_and_keeps_what_is_typed(study: Study, client: Client, cast: Any) -> None:  # noqa: F811
    client.force_login(cast.engineer)
    page = f"/studies/{study.slug}/wording/?lang=en"
    texts = [text for text, _ in client.get(page).context["rows"]]
    assert "prima riga" in texts
    assert "Set-up" not in texts
    answer = client.post(page, {"text": ["prima riga", "seconda riga", ""], "said": ["first line", " ", ""]})
    assert (answer.status_code, answer.headers["Location"]) == (302, page)
    assert pairs_of(study, "en") == {"prima riga": "first line"}
    rows = client.get(page).context["rows"]
    assert rows[0] == ("prima riga", "first line")
    assert "first line" in client.get(f"/studies/{study.slug}/wiki/?lang=en").context["source"]
    assert "prima riga" in client.get(f"/studies/{study.slug}/wiki/?lang=it").context["source"]
    assert client.get("/studies/mine/wording/?lang=xx").status_code == 400


def test_only_who_may_change_the_study_writes_words(study: Study, client: Client, cast: Any) -> None:  # noqa: F811
    client.force_login(cast.viewer)
    assert client.post("/studies/mine/wording/", {"text": ["a"], "said": ["b"]}).status_code == 403
    assert not Wording.objects.filter(study=study).exists()
