"""The stages of `bin/test` find their tests by the spelling of marks, and none is lost by that."""

from pathlib import Path

import pytest

from bin._lib import migrated, stages
from tests.marks import STAGES, from_elsewhere


class Item:
    """As much of a collected test as is looked at."""

    def __init__(self, path: Path, *marks: pytest.MarkDecorator) -> None:
        self.path, self.nodeid, self.marks = path, f"{path.name}::test_one", [one.mark for one in marks]

    def iter_markers(self) -> list[pytest.Mark]:
        return self.marks


def test_only_files_that_spell_a_mark_are_collected_for_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in {
        "in/test_a.py": "@pytest.mark.browser",
        "test_b.py": "[pytest.mark.browser, 1]",
        "test_c.py": "browser",
    }.items():
        (tmp_path / name).write_text(text)
    assert stages.files_with("browser", tmp_path) == [str(tmp_path / "in/test_a.py"), str(tmp_path / "test_b.py")]


@pytest.mark.parametrize("mark", STAGES)
def test_every_stage_has_files(mark: str) -> None:
    assert stages.files_with(mark)


def test_each_form_leaves_out_what_the_longer_one_has() -> None:
    def selection(arguments: list[str]) -> str:
        return arguments[arguments.index("-m") + 1]

    for mark in ("browser", "benchmark", "faults", "outside", "fio", "slow", "long"):
        assert mark in selection(stages.everything("fast"))
    assert "long" in selection(stages.everything("usual"))
    assert "long" not in selection(stages.everything("long"))
    for stage, mark in ((stages.outside, "outside"), (stages.faults, "faults"), (stages.in_browser, "browser")):
        assert selection(stage(long=False)) == f"{mark} and not long"
        assert selection(stage(long=True)) == mark


def test_a_mark_from_elsewhere_is_told_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "test_a.py"
    path.write_text("pytestmark = pytest.mark.faults")
    sound, lost = Item(path, pytest.mark.faults, pytest.mark.django_db), Item(path, pytest.mark.browser)
    assert from_elsewhere([sound]) == []  # type: ignore[list-item]
    [said] = from_elsewhere([sound, lost])  # type: ignore[list-item]
    assert said == "test_a.py::test_one has the mark browser, but test_a.py does not spell it"


def test_the_reports_are_loaded_into_a_copy_of_the_migrated_database(monkeypatch: pytest.MonkeyPatch) -> None:
    statements: list[tuple[str, str]] = []
    monkeypatch.setattr(migrated, "psql", lambda *words: statements.append(words))
    url = "postgresql://spindle@/spindle?host=%2Frun%2Fspindle"
    filled = migrated.create_for_reports(url, migrated.at(url, "spindle_migrated"))
    assert statements == [(url, 'CREATE DATABASE "spindle_reports" TEMPLATE "spindle_migrated"')]
    assert filled == {"DATABASE_URL": "postgresql://spindle@/spindle_reports?host=%2Frun%2Fspindle"}
    given = migrated.with_reports(filled, Path("/tmp/artefacts"))
    assert given == {"SPINDLE_TEST_REPORTS": "spindle_reports", "SPINDLE_TEST_ARTEFACTS": "/tmp/artefacts"}
    assert set(migrated.without_copies()) == {*given, *migrated.copied(filled)}


def test_the_copied_database_lies_beside_the_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, str]] = []
    monkeypatch.setattr(migrated, "psql", lambda *words: said.append(words))
    url = "postgresql://spindle@/spindle?host=%2Frun%2Fspindle"
    empty = migrated.create(url)
    assert said == [(url, 'CREATE DATABASE "spindle_migrated"')]
    assert empty == {"DATABASE_URL": "postgresql://spindle@/spindle_migrated?host=%2Frun%2Fspindle"}
    assert migrated.copied(empty) == {"SPINDLE_TEST_TEMPLATE": "spindle_migrated"}
