"""Tabler's style sheet without the rules that no page needs, and none lost that one does."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bin._lib import assets, stylesheet
from bin._lib.layout import ROOT

PAGE = """<a class="btn {% if big %}btn-lg{% endif %} chip-{{ state }}">"""
SCRIPT = "row.className = `note note-${kind}`; const id = `field-${n}`;"
CODE = """widget.attrs["class"] = "form-check"; cell = f'<td class="tone-{tone}">'"""
# of Tabler's, what the look rests on, each spelled in another kind of source
STYLED = {"btn", "btn-primary", "btn-sm", "form-label", "form-hint", "form-control", "form-select", "form-select-sm", "form-check-input"}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in (("templates/a.html", PAGE), ("static/js/b.js", SCRIPT), ("apps/c/d.py", CODE)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_class_is_used_when_a_page_a_script_or_a_form_spells_it_or_its_beginning(checkout: Path) -> None:
    names = {"btn", "btn-lg", "chip-sm", "note-info", "form-check", "tone-3", "btn-xl", "field-row", "card"}
    assert stylesheet.written(checkout).used(names) == names - {"btn-xl", "field-row", "card"}


def test_classes_are_read_from_selectors_alone() -> None:
    sheet = (
        """/* .not */ .a.b>.c-d:not(.e)::after{width:.5rem;background:url("data:x.svg")} @media x{.-f{margin:-.1em}}"""
    )
    assert stylesheet.classes(sheet) == {"a", "b", "c-d", "e", "-f"}


def test_what_no_source_uses_is_known_so_that_its_first_use_makes_the_sheet_anew(checkout: Path) -> None:
    sheet = ".btn{} .card{} .chip-new{}"
    assert stylesheet.unused(sheet, stylesheet.written(checkout)) == ["card"]
    (checkout / "templates/a.html").write_text('<p class="card">')
    assert stylesheet.written(checkout).used(["card"]) == {"card"}


def test_no_page_uses_a_class_that_was_cut() -> None:
    unused = (assets.VENDOR / ".stamp").read_text().split()[1:]
    assert len(unused) > 1000, "Tabler has thousands of classes that no page uses"
    assert stylesheet.written().used(unused) == set()
    assert set(unused) & {name for path in ROOT.glob("templates/**/*.html") for name in _spelled(path)} == set()


def test_what_pages_look_like_is_still_there() -> None:
    sheet = (assets.VENDOR / assets.STYLE).read_text()
    assert stylesheet.classes(sheet) >= STYLED
    for rule in ("optgroup", "[data-bs-theme=dark]", ".form-check-input:checked", ".form-select", "--tblr-body-bg"):
        assert rule in sheet
    assert len(sheet) < 150_000, "a browser reads the sheet before it draws anything"


def test_every_module_that_a_page_preloads_is_imported_and_every_import_of_a_chart_is_preloaded() -> None:
    for page, script in (("comparison/compare.html", "compare.js"), ("runs/run.html", "run.js")):
        preloaded = re.findall(
            r"""rel="modulepreload" href="{% static 'js/([\w-]+\.js)'""", (ROOT / "templates" / page).read_text()
        )
        assert sorted(preloaded) == sorted(_imports(script))


def _imports(script: str) -> set[str]:
    text = (ROOT / "static" / "js" / script).read_text()
    direct = set(re.findall(r"""^import .*?"\./([\w-]+\.js)";""", text, re.MULTILINE))
    return direct.union(*(_imports(one) for one in direct))


class _Classes(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.update((dict(attrs).get("class") or "").split())


def _spelled(path: Path) -> set[str]:
    """The classes of a template's elements as a parser of HTML sees them, a second way beside the module's own."""
    parser = _Classes()
    parser.feed(re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", path.read_text()))
    return parser.found
