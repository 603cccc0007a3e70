"""What stands on every page: the sections and the languages."""

from django.template import Context, Template
from django.test import RequestFactory
from django.urls import reverse
from django.utils import translation

ALL = Template("{% load navigation %}{% sections %}")


def shown(path: str) -> str:
    return ALL.render(Context({"request": RequestFactory().get(path)}))


def test_one_section_is_the_current_one_in_every_language() -> None:
    for path, name in (("/runs/7/", "runs"), ("/disks/", "hosts"), ("/", "overview"), ("/claims/3/", "studies")):
        for language in ("en", "it", "ru", "en"):
            with translation.override(language):
                found = shown(path)
            assert found.count("<li>") == 9
            assert found.count("aria-current") == 1
            assert f'<a href="{reverse(name)}" aria-current="page">' in found


def test_words_are_those_of_the_language() -> None:
    with translation.override("it"):
        italian = shown("/runs/")
    with translation.override("en"):
        assert shown("/runs/") != italian
        assert ">Runs</a>" in shown("/runs/")


def test_a_page_of_no_section_marks_none() -> None:
    assert "aria-current" not in shown("/nothing/")


def test_the_language_that_is_read_is_pressed() -> None:
    for language in ("ru", "en"):
        with translation.override(language):
            found = Template("{% load navigation %}{% languages %}").render(Context())
        assert found.count('aria-pressed="true"') == 1
        button = f'value="{language}" lang="{language}" class="btn btn-sm" aria-pressed="true"'
        assert button in " ".join(found.split())
