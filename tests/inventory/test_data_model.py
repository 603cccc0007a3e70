"""docs/reference/data-model.md is drawn as the models are."""

import re
from pathlib import Path

from django.apps import apps
from django.db import models

from apps.labs.isolation import LabScoped

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/reference/data-model.md"
EDGE = re.compile(r"^    (\w+) (\|\||\|o)--o([{|]) (\w+) : (\w+)$", re.MULTILINE)


def edges() -> set[tuple[str, str, str, str, str]]:
    """(referred, may be empty, many or one, referring, field) for every reference but those to a row's lab."""
    found = set()
    for model in apps.get_models():
        if not model.__module__.startswith("apps."):
            continue
        for field in model._meta.concrete_fields:
            if isinstance(field, models.ForeignKey) and not _is_left_out(model, field):
                one = "|" if field.unique else "{"
                other = field.related_model.__name__  # type: ignore[union-attr]
                found.add((other, "|o" if field.null else "||", one, model.__name__, field.name))
    return found


def _is_left_out(model: type[models.Model], field: models.Field) -> bool:  # type: ignore[type-arg]
    return issubclass(model, LabScoped) and field.name == "lab" and model._meta.app_label != "labs"


def test_every_reference_between_tables_is_drawn_and_nothing_else() -> None:
    drawn = set(EDGE.findall(DOCUMENT.read_text()))
    assert drawn == edges()


def test_every_table_is_explained() -> None:
    explained = set(re.findall(r"\*\*(\w+)\*\*", DOCUMENT.read_text()))
    names = {model.__name__ for model in apps.get_models() if model.__module__.startswith("apps.")}
    assert names - explained == {"User"}
