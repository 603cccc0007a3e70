"""Finding runs: by state, host, tool, origin, pattern, study and a word."""

from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from apps.inventory.models import Host
from apps.lib.forms import dress
from apps.runs.metrics import OPERATIONS
from apps.runs.models import Run
from apps.runs.states import State
from apps.runs.workload import RW

Runs = QuerySet[Any]


def _hosts(request: HttpRequest | None) -> Runs:
    hosts: Runs = Host.objects.order_by("name")
    return hosts


def _tools() -> list[tuple[str, str]]:
    return [(tool, tool) for tool in Run.objects.tools()]


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]
    q = django_filters.CharFilter(label="Find", method="with_word", widget=forms.TextInput(attrs={"type": "search"}))
    state = django_filters.ChoiceFilter(choices=State.choices, label="State", empty_label="any")
    host = django_filters.ModelChoiceFilter(queryset=_hosts, label="Host", empty_label="any")
    tool = django_filters.ChoiceFilter(choices=_tools, label="Tool", empty_label="any")
    origin = django_filters.ChoiceFilter(choices=Run.Origin.choices, label="Origin", empty_label="any")
    rw = django_filters.ChoiceFilter(
        choices=[(word, word) for word in dict.fromkeys((*RW, *OPERATIONS))],
        label="Operation",
        method="that_do",
        empty_label="any",
    )
    study = django_filters.CharFilter(
        field_name="study_run__configuration__study__slug", widget=forms.HiddenInput, label="Study"
    )

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self.form)

    def with_word(self, runs: Runs, name: str, word: str) -> Runs:
        fields = ("host__name", "target__name", "tool_version", "problem", "created_by", "facts__configuration")
        found = Q()
        for field in fields:
            found |= Q(**{f"{field}__icontains": word})
        if word.isdigit():
            found |= Q(pk=int(word[:18]))
        return runs.filter(found)

    def that_do(self, runs: Runs, name: str, word: str) -> Runs:
        """A job with this `rw`, or, for imported runs, a sample of this operation."""
        asked = Q(workload__spec__contains={"jobs": [{"rw": word}]})
        measured = Q(pk__in=Run.objects.filter(samples__measure__operation=word).values("pk"))
        return runs.filter(asked | measured)
