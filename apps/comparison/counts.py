"""How many runs each choice of a filter in force would leave, with all other filters as they are."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, F, Func, JSONField, QuerySet, Value
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Coalesce

from apps.comparison.filtering import NAMED, chosen
from apps.comparison.question import Question
from apps.comparison.readings import POINT
from apps.runs.models import Sample

MOST_VALUES = 100  # of one filter; those with the most runs
Counts = Mapping[str, list[tuple[Any, int]]]


def counts(question: Question) -> Counts:
    """Filter in force → (value, runs), most runs first. One query, however many filters and runs there are."""
    names = [name for name in dict.fromkeys(name for name, _ in question.filters) if name != "run"]
    if not names:
        return {}
    first, *others = [_of_filter(question, name) for name in names]
    rows = first.union(*others, all=True) if others else first
    found: dict[str, list[tuple[Any, int]]] = {name: [] for name in names}
    for name, value, runs in rows:
        found[name].append((value, runs))
    return found


def _of_filter(question: Question, name: str) -> QuerySet[Sample, tuple[str, Any, int]]:
    found = Sample.objects.filter(measure__operation=question.operation, measure__metric=question.metric)
    others = [pair for pair in question.filters if pair[0] != name]
    named = chosen(found, others).annotate(filter_name=Value(name), filter_value=_value(name))
    counted = named.values("filter_name", "filter_value").annotate(runs=Count("run", distinct=True))
    return counted.order_by("-runs").values_list("filter_name", "filter_value", "runs")[:MOST_VALUES]


def _value(name: str) -> Any:
    """As JSON, so that words, numbers and what is unknown come through one query."""
    if name in POINT or name in NAMED:
        path = f"point__{name}" if name in POINT else NAMED[name][0]
        return Func(F(path), function="to_jsonb", output_field=JSONField())
    return Coalesce(KeyTransform(name, "run__facts"), KeyTransform(name, "run__labels"), output_field=JSONField())
