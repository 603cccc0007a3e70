"""How words are found: `search_words(text)` in SQL makes a text's words, lower case, cut at everything that is no letter or digit;
`search_query(text)` asks for all the words of a text, each as the beginning of one. Both are made by this app's first migration.

Not PostgreSQL's own text parser: it reads `sdb1`, `/srv/data` and `6.1.0-25` as hosts, files and negative numbers, so that half a serial
number finds nothing.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, Model
from django.db.models.expressions import RawSQL


def indexed_text(fields: Sequence[str], table: str = "") -> str:
    """The SQL of a kind's text, to be written alike in its index and in its query. `facts>host` is a key of a JSON field."""
    return " || ' ' || ".join(_column(name, f'"{table}".' if table else "") for name in fields)


def _column(name: str, before: str) -> str:
    column, _, key = name.partition(">")
    if key:
        return f"""coalesce({before}"{column}" ->> '{key}', '')"""
    return f'{before}"{column}"::text'


def holds_words(model: type[Model], fields: Sequence[str], asked: str) -> Any:
    """A condition: all words of `asked` begin a word of these fields."""
    text = indexed_text(fields, model._meta.db_table)
    # the fields are ours, from kinds.py; what a person typed is a parameter
    return RawSQL(f"search_words({text}) @@ search_query(%s)", [asked], output_field=BooleanField())  # noqa: S611
