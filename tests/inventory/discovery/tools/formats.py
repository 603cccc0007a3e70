"""The modules of the inventory formats, by name, and what a text looks like to each of them."""

import importlib
import pkgutil
from types import ModuleType

import apps.inventory.discovery.tools
from apps.inventory.discovery.tool_output import Content
from apps.parsers.core.models import ParsedFile
from apps.parsers.core.source_text import SourceText
from tests.parsers.corpus import folder


def _modules() -> dict[str, ModuleType]:
    names = [
        found.name
        for found in pkgutil.walk_packages(apps.inventory.discovery.tools.__path__, "apps.inventory.discovery.tools.")
    ]
    modules = [importlib.import_module(name) for name in names]
    return {module.NAME: module for module in modules if hasattr(module, "NAME")}


FORMATS = _modules()


def scores(text: SourceText) -> dict[str, float]:
    """Formats that see something of theirs."""
    return {name: score for name, module in FORMATS.items() if (score := module.looks_like(text))}


def corpus_text(place: str) -> SourceText:
    name, _, file = place.partition("/")
    return SourceText((folder(name) / file).read_bytes(), file)


def parsed(name: str, text: str | bytes | SourceText) -> ParsedFile:
    found: ParsedFile = FORMATS[name].parse(text if isinstance(text, SourceText) else SourceText(text))
    return found


def content(name: str, text: str | bytes | SourceText) -> Content:
    """Of the only output in the text."""
    (one,) = parsed(name, text).inventory
    found: Content = one.content
    return found
