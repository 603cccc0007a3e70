"""Documents refer to what is there, and their lines fit a screen."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 120  # columns
HISTORY = {"CHANGELOG.md"}  # says what was so when a version was made
FOLDERS = ("apps", "bin", "docs", "locale", "requirements", "static", "templates", "tests", "worker")
LINK = re.compile(r"(?<!!)!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"(?:{'|'.join(FOLDERS)}|\.github|\.ci)/[\w./*-]+")
NAME = re.compile(r"[\w-]+\.(?:py|md|toml|yml|po)")  # of a file, without its folder


def _tracked() -> list[str]:
    """Return the repository's files, also those that are not committed yet."""
    found = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = found.stdout.splitlines() if found.returncode == 0 else []
    if names:
        return [name for name in names if (ROOT / name).exists()]
    places = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    return [str(path.relative_to(ROOT)) for path in (*places, *ROOT.glob("*.*"))]


FILES = _tracked()
DOCUMENTS = sorted(
    name
    for name in FILES
    if name.endswith(".md") and ("/" not in name or name.startswith("docs/")) and name not in HISTORY
)
NAMES = {Path(name).name for name in FILES}


def _prose(name: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a document outside of fenced code."""
    is_code = False
    for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), start=1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def _is_there(path: str) -> bool:
    """Return whether a path below the repository's root, perhaps with `*`, exists."""
    return any(ROOT.glob(path.rstrip("/.")))


def _lost_paths(name: str, line: str) -> Iterator[str]:
    """Yield the links and the paths in backticks that lead nowhere."""
    for target in LINK.findall(line):
        place = target.split("#")[0]
        if place and "://" not in target and not (ROOT / name).parent.joinpath(place).exists():
            yield target
    for code in CODE.findall(line):
        if (PATH.fullmatch(code) and not _is_there(code)) or (NAME.fullmatch(code) and code not in NAMES):
            yield code


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_and_paths_lead_to_files(name: str) -> None:
    lost = [f"{name}:{number} {path}" for number, line in _prose(name) for path in _lost_paths(name, line)]
    assert not lost


@pytest.mark.parametrize("name", DOCUMENTS)
def test_lines_have_at_most_120_columns(name: str) -> None:
    """Tables, pictures, links and indented code may be longer."""
    free = ("|", "    ", "![", "[")
    wide = [
        f"{name}:{number} has {len(line)} columns"
        for number, line in _prose(name)
        if len(line) > LONGEST and not line.startswith(free)
    ]
    assert not wide


def test_every_decision_is_in_the_index_and_has_its_parts() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text(encoding="utf-8")
    for path in sorted(folder.glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        assert f"({path.name})" in index, f"{path.name} is not in docs/adr/README.md"
        assert text.startswith(f"# {path.name[:4]}. "), path.name
        for part in ("Date: ", "Status: ", "## Context", "## Decision", "## Consequences"):
            assert f"\n{part}" in text, f"{path.name} lacks {part!r}"
