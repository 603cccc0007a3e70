"""Filters of runs: state, host, tool, origin, operation, study, upload and a search word."""

from typing import Any

import django_filters
from django import forms
from django.db.models import Func, Q, QuerySet, TextField

from apps.core.forms import dress
from apps.core.text import whole_number
from apps.inventory.models import Host
from apps.runs.metrics import OPERATIONS
from apps.runs.models import Run
from apps.runs.states import State
from apps.runs.workload import RW

Runs = QuerySet[Any]
NOT_FILTERS = ("page", "base")
EVERY_OPERATION = tuple(dict.fromkeys((*RW, *OPERATIONS)))
MOST_HOSTS = 200  # in a list to choose from: more take longer than all runs of a page, and nobody reads them
SECTION_NAMES = Func(
    "sections", template="jsonb_path_query_array(%(expressions)s, '$.*.name')::text", output_field=TextField()
)
SHOWN = (
    "host__name", "target__name", "tool_version", "problem", "created_by", "facts__configuration", "facts__rw", "facts__caption",
    "labels__machine", "labels__path", "section_names",
)  # fmt: skip


class _HostInput(forms.TextInput):
    """Where there are too many hosts for a list. A link's number is shown as the name."""

    def format_value(self, value: Any) -> Any:
        host = _numbered(value or "")
        return host.name if host else value


class _NumberFilter(django_filters.Filter):  # type: ignore[misc]
    field_class = forms.IntegerField


def _tools() -> list[tuple[str, str]]:
    return [(tool, tool) for tool in Run.objects.tools()]


# Functions too, because every page copies its filters with all that they hold.
def _states() -> list[tuple[str, str]]:
    return State.choices


def _origins() -> list[tuple[str, str]]:
    return Run.Origin.choices


def _operations() -> list[tuple[str, str]]:
    return [(word, word.replace("_", " ")) for word in EVERY_OPERATION]


def _numbered(text: str) -> Host | None:
    number = whole_number(text)
    return None if number is None else Host.objects.filter(pk=number).first()


class RunFilter(django_filters.FilterSet):  # type: ignore[misc]
    q = django_filters.CharFilter(label="Find", method="with_word", widget=forms.TextInput(attrs={"type": "search"}))
    state = django_filters.ChoiceFilter(choices=_states, label="State", empty_label="any")
    host = django_filters.CharFilter(label="Host", method="of_host")
    tool = django_filters.ChoiceFilter(choices=_tools, label="Tool", empty_label="any")
    origin = django_filters.ChoiceFilter(choices=_origins, label="Origin", empty_label="any")
    rw = django_filters.ChoiceFilter(choices=_operations, label="Operation", method="that_do", empty_label="any")
    study = django_filters.CharFilter(
        field_name="study_run__configuration__study__slug", widget=forms.HiddenInput, label="Study"
    )
    upload = _NumberFilter(
        field_name="uploaded_from__file__upload", widget=forms.HiddenInput, label="Upload", min_value=1, max_value=2**62
    )

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self.form)

    def offer_hosts(self) -> None:
        """Offer the hosts as a list if there are at most `MOST_HOSTS`, else as a text field. Only whole pages need
        this.
        """
        field, query = self.form.fields["host"], self.data.get("host", "")
        hosts = [
            (str(pk), name) for pk, name in Host.objects.order_by("name").values_list("pk", "name")[: MOST_HOSTS + 1]
        ]
        if len(hosts) <= MOST_HOSTS and query in {"", *(pk for pk, _ in hosts)}:
            field.widget = forms.Select(choices=[("", "any"), *hosts])
        else:
            field.widget = _HostInput(attrs={"type": "search", "placeholder": "the beginning of its name"})
        dress(self.form)

    def unknown(self) -> list[str]:
        """Return the names of query parameters that are no filter."""
        return sorted({name for name, value in self.data.items() if value} - {*self.filters, *NOT_FILTERS})

    def with_word(self, runs: Runs, name: str, word: str) -> Runs:
        """Return the runs of which a displayed column contains the word."""
        condition = Q()
        for field in SHOWN:
            condition |= Q(**{f"{field}__icontains": word})
        if (number := whole_number(word)) is not None:
            condition |= Q(pk=number)
        if (operation := word.strip().lower().replace(" ", "_")) in EVERY_OPERATION:
            condition |= _that_did(operation)
        named: Runs = runs.alias(section_names=SECTION_NAMES)
        return named.filter(condition)

    def of_host(self, runs: Runs, name: str, text: str) -> Runs:
        """Return the runs of a host, by its id, its name or the beginning of its name."""
        if host := _numbered(text):
            return runs.filter(host=host)
        whole = Host.objects.filter(name=text)
        return runs.filter(host__in=whole if whole.exists() else Host.objects.filter(name__istartswith=text))

    def that_do(self, runs: Runs, name: str, word: str) -> Runs:
        return runs.filter(_that_did(word))


def _that_did(operation: str) -> Q:
    """Return the condition for runs with a job of this `rw`, or, for imported runs, with samples of this operation."""
    by_job = Q(workload__spec__contains={"jobs": [{"rw": operation}]})
    return by_job | Q(pk__in=Run.objects.filter(samples__measure__operation=operation).values("pk"))
