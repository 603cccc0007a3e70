"""The words in other languages: complete, and compiled as they are written."""

import gettext
import os
import re
import shutil
import time
from itertools import product
from pathlib import Path

import polib
import pytest
import yaml

from apps.comparison import caveats
from apps.comparison.fact_names import is_of_one_run
from apps.comparison.labels import LABELS, label_of, operation_of
from apps.comparison.like_for_like.run_group import MACHINE_FACTS, POINTS, WORKLOAD_FACTS
from apps.comparison.like_for_like.run_group import NAMES as NAMES_OF_THINGS
from apps.comparison.readings import POINT
from apps.inventory import vocabulary
from apps.runs.facts import settings_facts
from apps.runs.fio_options import BY_NAME
from apps.runs.metrics import METRICS, OPERATIONS
from apps.runs.models import Quality
from apps.studies.models import AS_REPORTED, NOT_CHECKED
from apps.studies.plans.guards import KINDS
from apps.studies.plans.order import ORDER_WORDS
from apps.studies.plans.progress import STATES
from apps.studies.report.chart_definitions import REPORTED
from bin._lib import translations
from bin._lib.translations import sources
from tests.sampling import for_each

# Names that are the same in every language.
NAMES = re.compile(r"HBA|RAID( \d+)?|RAID-?Z\d?|Fibre Channel|NVMe|IDE|virtio|SCSI|SATA|SAS|FC|PATA|JBOD|MMC")


def ids(path: Path) -> set[str]:
    """Return the messages of a catalogue, with the context before those that have one."""
    return {entry.msgid_with_context for entry in polib.pofile(str(path))}


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_what_is_compiled_is_what_is_written(path) -> None:
    with path.with_suffix(".mo").open("rb") as compiled:
        read = gettext.GNUTranslations(compiled)
    for entry in polib.pofile(str(path)):
        found = read.pgettext(entry.msgctxt, entry.msgid) if entry.msgctxt else read.gettext(entry.msgid)
        assert found == (entry.msgstr_plural[0] if entry.msgid_plural else entry.msgstr)


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_every_plural_has_all_forms_of_its_language(path) -> None:
    catalogue = polib.pofile(str(path))
    forms = int(re.search(r"nplurals=(\d)", catalogue.metadata["Plural-Forms"])[1])
    for entry in catalogue:
        if entry.msgid_plural:
            assert len(entry.msgstr_plural) == forms
            assert all(entry.msgstr_plural.values())


def test_a_changed_catalogue_is_compiled_again(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "it" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    shutil.copy(sources()[0], folder / "django.po")
    monkeypatch.setattr(translations, "LOCALE", tmp_path)
    assert translations.stale() == [folder / "django.po"]
    translations.main()
    assert translations.stale() == []
    os.utime(folder / "django.po", (time.time() + 5, time.time() + 5))
    assert translations.stale() == [folder / "django.po"]
    assert [path.name for path in folder.iterdir() if path.suffix not in (".po", ".mo")] == []


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_nothing_is_left_untranslated(path) -> None:
    text = path.read_text(encoding="utf-8")
    assert 'msgstr ""\n\n' not in text + "\n"
    assert "#, fuzzy" not in text
    assert len(polib.pofile(str(path))) > 150


WORDS_OF_DOCUMENTS = {
    "metrics": [one.label for one in METRICS.values()],
    "operations": [operation_of(name) for name in OPERATIONS],
    "axes": list(LABELS.values()),
    "caveats": [text for rule in caveats.RULES for text in (rule.title, rule.text)],
    "guards": [kind.label for kind in KINDS.values()]
    + [kind.sentence({}) for name, kind in KINDS.items() if name != "cache_rule"],
    "order": list(ORDER_WORDS.values()),
    "states": [*STATES, AS_REPORTED, NOT_CHECKED],
    "qualities": list(Quality.labels),
    "charts": list(REPORTED.values()),
    "machines": [
        label
        for words in (
            vocabulary.Environment,
            vocabulary.ControllerKind,
            vocabulary.CacheProtection,
            vocabulary.Interface,
        )
        for label in (*words.labels, *vocabulary.RaidLevel.labels, *vocabulary.RaidImplementation.labels)
    ],
}


@for_each("path, kind", product(sources(), WORDS_OF_DOCUMENTS))
def test_whatever_a_wiki_page_is_made_of_is_translated(path, kind) -> None:
    """A new metric, operation, caveat, guard or state needs its word in both languages."""
    known = ids(path)
    missing = [text for text in WORDS_OF_DOCUMENTS[kind] if text not in known and not NAMES.fullmatch(text)]
    assert not missing, f"add to {path}"


def facts_of_questions() -> set[str]:
    """Return the names of facts that a question can hold, but for the labels of labs, which are their own words.

    They are of machines and how their kernels are set, of points, of fio's options, of what other tools are asked, and
    the labels of published reports.
    """
    settings = {
        "device": {"read_ahead_kb": "128"},
        "governors": ["performance"],
        "disks": {"sda": {"scheduler": "[none]", "rotational": "1", "write_cache": "write back"}},
    }
    names = {
        *MACHINE_FACTS,
        *WORKLOAD_FACTS,
        *POINT,
        POINTS,
        "tool",
        "tool_version",
        *BY_NAME,
        *settings_facts(settings),
    }
    for parser in Path("apps/parsers").rglob("*.py"):
        names |= {*re.findall(r'workload\["(\w+)"\]', parser.read_text(encoding="utf-8"))}
    for study in Path("apps/studies/data").glob("*/bringing.yaml"):
        labels = yaml.safe_load(study.read_text(encoding="utf-8")).get("labels") or {}
        names |= {name for some in labels.values() for name in some}
    return {name for name in names if name not in NAMES_OF_THINGS and not is_of_one_run(name)}


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.parts[-3])
def test_every_fact_that_a_question_can_hold_has_a_word(path) -> None:
    names = facts_of_questions()
    assert {"ram", "sync", "stonewall", "cpu_governor", "points", "window_size", "nodes"} <= names
    known = ids(path)
    assert not {name: label_of(name) for name in names if label_of(name) not in known}, f"add to {path}"


def test_both_languages_have_the_same_messages() -> None:
    first, second = (ids(path) for path in sources())
    assert first == second


def test_a_per_cent_sign_in_a_template_is_written_twice_in_the_catalogues() -> None:
    """The tag `translate` doubles it before it looks, as a format would want it."""
    known = ids(sources()[0])
    templates = [path.read_text(encoding="utf-8") for path in Path("templates").rglob("*.html")]
    signs = {text for page in templates for text in re.findall(r'{%\s*translate "([^"]*%[^"]*)" %}', page)}
    assert signs
    assert {text.replace("%", "%%") for text in signs} <= known


def test_the_footer_names_every_page_that_is_translated() -> None:
    """Templates whose sentences are in the catalogues are those of which the footer says so."""
    known = ids(sources()[0])
    named = ("comparison/", "studies/", "wiki/", "base.html", "_header.html", "runs/run.html", "runs/_description-form")
    for path in Path("templates").rglob("*.html"):
        marked = re.findall(r'{%\s*translate "([^"]+)"', path.read_text(encoding="utf-8"))
        if len(marked) > 2 and all(text in known for text in marked):
            assert path.relative_to("templates").as_posix().startswith(named), (
                f"{path} is translated: the footer lacks it"
            )
