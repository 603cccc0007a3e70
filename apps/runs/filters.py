"""Filters of runs, for the list's page and for REST: each is declared once, in `RunFilterSet`.

Besides these, every fact and label that some run has is a filter: `raid_level=5`.
"""

import re
from collections.abc import Collection
from functools import cached_property
from typing import Any

import django_filters
from django import forms
from django.db.models import Func, Q, QuerySet, TextChoices, TextField
from django.http import QueryDict

from apps.core.forms import dress
from apps.core.text import whole_number
from apps.inventory.filters import ActiveFilter, AnyOfFilter, describe_errors
from apps.inventory.models import Host
from apps.runs.metrics import OPERATIONS
from apps.runs.models import Run
from apps.runs.states import State
from apps.runs.workload import RW

Runs = QuerySet[Any]
EVERY_OPERATION = tuple(dict.fromkeys((*RW, *OPERATIONS)))
LARGEST_INTEGER = 2**31 - 1  # that an integer column can hold
MOST_HOSTS = 200  # in a list to choose from: more take longer than all runs of a page, and nobody reads them
MOST_FACTS = 100  # names of facts in one address
FACT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
SECTION_NAMES = Func(
    "sections", template="jsonb_path_query_array(%(expressions)s, '$.*.name')::text", output_field=TextField()
)
LABEL_LINES = Func(
    "labels", output_field=TextField(),
    template="(SELECT string_agg(label.key || '=' || label.value, chr(10)) FROM jsonb_each_text(%(expressions)s) AS label)",
)  # fmt: skip
SEARCHED = (
    "host__name", "target__name", "tool_version", "problem", "created_by", "facts__configuration", "facts__rw", "facts__caption",
    "note", "label_lines", "section_names",
)  # fmt: skip


class WholeNumberField(forms.Field):
    """A field for a whole number in the digits 0 to 9."""

    def __init__(self, *, least: int, most: int, **options: Any) -> None:
        super().__init__(**options)
        self.least, self.most = least, most

    def clean(self, value: Any) -> int:
        number = whole_number(value, self.least, self.most)
        if number is None:
            raise forms.ValidationError(f"Expected a whole number from {self.least} to {self.most}.")
        return number


class PartNameFilter(AnyOfFilter):
    """Keep the runs at a part, by its id or its name."""

    def condition(self, value: str) -> Q:
        number = whole_number(value)
        named = Q(**{f"{self.field_name}__name": value})
        return named if number is None else named | Q(**{f"{self.field_name}_id": number})


class HostFilter(PartNameFilter):
    """Keep the runs of a host, by its id or its name; on the page also by the beginning of its name."""

    def condition(self, value: str) -> Q:
        if not self.parent.takes_beginnings:
            return super().condition(value)
        if host := numbered_host(value):
            return Q(host=host)
        named = Host.objects.filter(name=value)
        return Q(host__in=named if named.exists() else Host.objects.filter(name__istartswith=value))


class OperationFilter(AnyOfFilter):
    """Keep the runs with a job or a fact of this `rw`, or, for imported runs, with samples of this operation."""

    def condition(self, value: str) -> Q:
        return Q(facts__contains={"rw": value}) | by_operation(value)


class FactFilter(AnyOfFilter):
    """Keep the runs that have this fact or label; 5 in an address may be a number or a word."""

    def condition(self, value: str) -> Q:
        either = Q(facts__contains={self.field_name: value}) | Q(labels__contains={self.field_name: value})
        number = whole_number(value)
        return either if number is None else either | Q(facts__contains={self.field_name: number})


def choice_of(choices: type[TextChoices]) -> forms.ChoiceField:
    """Return a field for one of the choices, whose error names them all."""
    message = f"Expected one of: {', '.join(choices.values)}."
    return forms.ChoiceField(choices=choices.choices, error_messages={"invalid_choice": message})


def plain_text() -> forms.CharField:
    return forms.CharField(strip=False)


class RunFilterSet(django_filters.FilterSet):  # type: ignore[misc]
    """The filters of runs. A name that is given several times means either of its values.

    A new filter is a line here; with a line in `INPUTS` the page has an input for it.
    """

    takes_beginnings = False
    others = "or a fact or label that some run has"

    q = django_filters.CharFilter(
        method="match_word", label="Find", help_text="a word in any column of the list, in the note or in a label"
    )
    state = AnyOfFilter(each=choice_of(State), label="State", help_text=", ".join(f"`{word}`" for word in State.values))
    host = HostFilter("host", each=plain_text(), label="Host", help_text="its id or its name")
    target = PartNameFilter("target", each=plain_text(), label="Target", help_text="its id or its name")
    tool = AnyOfFilter(each=plain_text(), label="Tool", help_text="the tool's name")
    tool_version = AnyOfFilter(each=plain_text(), label="Tool version", help_text="as the tool reports it")
    origin = AnyOfFilter(
        each=choice_of(Run.Origin), label="Origin", help_text=", ".join(f"`{word}`" for word in Run.Origin.values)
    )
    rw = OperationFilter(each=plain_text(), label="Operation", help_text="`rw` of a job, or an operation of samples")
    repetition = AnyOfFilter(
        each=WholeNumberField(least=0, most=LARGEST_INTEGER), label="Repetition", help_text="its number"
    )
    study = AnyOfFilter(
        "study_run__configuration__study__slug", each=plain_text(), label="Study", help_text="the study's slug"
    )
    upload = AnyOfFilter(
        "uploaded_from__file__upload", each=WholeNumberField(least=1, most=2**62), label="Upload", help_text="its id"
    )

    class Meta:
        model = Run
        fields: list[str] = []

    def __init__(self, data: QueryDict | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(data, *args, **kwargs)
        for name in self._fact_names():
            self.filters[name] = FactFilter(name, each=plain_text(), label=name)
            self.filters[name].parent, self.filters[name].model = self, Run

    def _fact_names(self) -> list[str]:
        """Return the names in the address that are facts or labels of some run. Without a value any name is taken."""
        names = [name for name in self.data if name not in self.filters and FACT_NAME.fullmatch(name)][:MOST_FACTS]
        empty = [name for name in names if not any(self.data.getlist(name))]
        return [*empty, *sorted(Run.objects.fact_names(set(names).difference(empty)))]

    def match_word(self, runs: Runs, name: str, word: str) -> Runs:
        """Return the runs of which a displayed column contains the word."""
        condition = Q()
        for field in SEARCHED:
            condition |= Q(**{f"{field}__icontains": word})
        if (number := whole_number(word)) is not None:
            condition |= Q(pk=number)
        if (operation := word.strip().lower().replace(" ", "_")) in EVERY_OPERATION:
            condition |= by_operation(operation)
        named: Runs = runs.alias(section_names=SECTION_NAMES, label_lines=LABEL_LINES)
        return named.filter(condition)


def by_operation(operation: str) -> Q:
    """Return the condition for runs with a job of this `rw`, or, for imported runs, with samples of this operation."""
    by_job = Q(workload__spec__contains={"jobs": [{"rw": operation}]})
    return by_job | Q(pk__in=Run.objects.filter(samples__measure__operation=operation).values("pk"))


def numbered_host(text: str) -> Host | None:
    """Return the host with this id; None where there is none or the text is no number."""
    number = whole_number(text)
    return None if number is None else Host.objects.filter(pk=number).first()


class _SeveralValues:
    """An input that passes on all values that the address gives to its name, and shows the first."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        return data.getlist(name)


class _ChoiceInput(_SeveralValues, forms.Select):
    pass


class _HostInput(_SeveralValues, forms.TextInput):
    """Where there are too many hosts for a list. A link's number is shown as the name."""

    def format_value(self, value: Any) -> Any:
        first = value[0] if value else ""
        host = numbered_host(first)
        return host.name if host else first


def _tools() -> list[tuple[str, str]]:
    return [(tool, tool) for tool in Run.objects.tools()]


def _operations() -> list[tuple[str, str]]:
    return [(word, word.replace("_", " ")) for word in EVERY_OPERATION]


INPUTS: dict[str, Any] = {  # the page's inputs, with the choices of those that are a list
    "q": None,
    "state": lambda: State.choices,
    "host": None,
    "tool": _tools,
    "origin": lambda: Run.Origin.choices,
    "rw": _operations,
}


class RunPageFilterSet(RunFilterSet):
    """The filters as the page has them: inputs for those of `INPUTS`, and the beginning of a host's name is enough.

    A filter that cannot be read changes nothing; the page says so.
    """

    takes_beginnings = True
    page_words: Collection[str] = ("page", "base")  # of the address, which are no filters

    def __init__(self, data: QueryDict, *args: Any, **kwargs: Any) -> None:
        filters = data.copy()
        for word in self.page_words:
            filters.pop(word, None)
        super().__init__(filters, *args, **kwargs)
        self.form.fields["q"].widget = forms.TextInput(attrs={"type": "search"})
        self.form.fields["host"].widget = _HostInput()
        for name, choices in INPUTS.items():
            if choices:
                self.form.fields[name].widget = _ChoiceInput(choices=[("", "any"), *choices()])
        dress(self.form)

    def offer_hosts(self) -> None:
        """Offer the hosts as a list if there are at most `MOST_HOSTS`, else as a text field.

        Only whole pages need this.
        """
        field, query = self.form.fields["host"], self.data.get("host", "")
        hosts = [
            (str(pk), name) for pk, name in Host.objects.order_by("name").values_list("pk", "name")[: MOST_HOSTS + 1]
        ]
        if len(hosts) <= MOST_HOSTS and query in {"", *(pk for pk, _ in hosts)}:
            field.widget = _ChoiceInput(choices=[("", "any"), *hosts])
        else:
            field.widget = _HostInput(attrs={"type": "search", "placeholder": "the beginning of its name"})
        dress(self.form)

    @property
    def inputs(self) -> list[forms.BoundField]:
        """Return the inputs of the form."""
        return [self.form[name] for name in INPUTS]

    @cached_property
    def active(self) -> list[ActiveFilter]:
        """Return the filters in use that no input shows: those without one, and further values of those with one."""
        return [
            ActiveFilter(name, str(self.filters[name].label), value, value, self._address_without(name, value))
            for name in self.filters
            for value in dict.fromkeys(filter(None, self.data.getlist(name)[1 if name in INPUTS else 0 :]))
            if name != "q"
        ]

    def _address_without(self, name: str, value: str) -> str:
        rest = self.data.copy()
        rest.setlist(name, [other for other in rest.getlist(name) if other != value])
        return f"?{rest.urlencode()}"

    @property
    def problems(self) -> list[tuple[str, str, str]]:
        """Return the filters that cannot be read: name, what was found, what is wrong."""
        return describe_errors(self)

    def unknown(self) -> list[str]:
        """Return the names in the address that are no filter."""
        return sorted({name for name, value in self.data.items() if value} - set(self.filters))
