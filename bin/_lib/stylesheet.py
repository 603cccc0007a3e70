"""Tabler's style sheet, cut down to what pages use.

Nine tenths of its 635 kB are for parts that Spindle does not have, and a browser reads all of it before it draws
anything. PurgeCSS cuts it by the words of templates, scripts and Python files: a class whose name stands anywhere in
them stays. The names of the other classes are kept in the assets' stamp, so that it is made anew when somebody begins
to use one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bin._lib.layout import ROOT

PURGE = "purgecss/bin/purgecss.js"  # in node_modules
SOURCES = ("templates/**/*.html", "static/js/*.js", "apps/**/*.py")
FROM_LIBRARIES = {"fieldset", "legend", "optgroup"}  # elements that form widgets write and perhaps no file of ours
WORD = re.compile(r"[\w-]+", re.ASCII)
ATTRIBUTE = re.compile(r"""class(?:Name)?\s*=\s*["'`]([^"`]*)""")
BEGINNING = re.compile(r"([A-Za-z][\w-]*-)\$?\{")  # chip-{{ state }}, chip-{% if …, `chip-${state}`, f"chip-{state}"
NO_SELECTORS = re.compile(r"""/\*.*?\*/|url\((?:"[^"]*"|'[^']*'|[^)]*)\)""", re.DOTALL)
CLASS = re.compile(r"\.(-?[A-Za-z_][\w-]*)")


@dataclass(frozen=True)
class Written:
    """What the sources of pages spell: whole words, and beginnings that a value follows."""

    words: frozenset[str]
    beginnings: tuple[str, ...]

    def used(self, names: Iterable[str]) -> set[str]:
        return {name for name in names if name in self.words or name.startswith(self.beginnings)}


def written(root: Path = ROOT) -> Written:
    texts = [path.read_text() for pattern in SOURCES for path in sorted(root.glob(pattern))]
    return Written(
        frozenset(word for text in texts for word in WORD.findall(text)),
        tuple({found for text in texts for value in ATTRIBUTE.findall(text) for found in BEGINNING.findall(value)}),
    )


def classes(sheet: str) -> set[str]:
    """Return the names of the classes in a style sheet's selectors."""
    return set(CLASS.findall(NO_SELECTORS.sub("", sheet)))


def words_to_keep(sheet: str, now: Written) -> str:
    """Return what PurgeCSS takes for the content of all pages."""
    return " ".join(sorted(now.words | now.used(classes(sheet)) | FROM_LIBRARIES))


def unused(sheet: str, now: Written) -> list[str]:
    """Return the classes that no source uses; rules that ask for one of them go."""
    names = classes(sheet)
    return sorted(names - now.used(names))
