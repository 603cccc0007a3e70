"""Fields by which people set the numbers of guards: limits, the wait, and whether a guard is required.

Each field begins with the usual value, so that it is seen; one that is left so, or empty, is not stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms

from apps.core.forms import CLASSES, ScaledField
from apps.runs.host_guards import LONGEST_WAIT, GuardParameter

REQUIRED, NOT_REQUIRED = "yes", "no"
REQUIREMENTS = [
    (REQUIRED, "required"),
    (NOT_REQUIRED, "not required, noted only"),
]


@dataclass(frozen=True)
class GuardQuestion:
    """What a form asks about one guard beside whether it is wanted.

    Args:
        wait: Whether its host waits for it, so that a time can be given.
        is_statement: Whether it is a person's word, of which nothing can be set.
    """

    kind: str
    label: str
    sentence: str
    parameters: Sequence[GuardParameter] = ()
    wait: bool = True
    is_statement: bool = False


@dataclass(frozen=True)
class GuardLine:
    """One guard of a form as its template shows it: the box, and the fields of its numbers."""

    question: GuardQuestion
    box: Any
    fields: Sequence[forms.BoundField]

    @property
    def is_open(self) -> bool:
        """Return whether something was typed, or is wrong, that should not be hidden."""
        return any(bool(field.errors) or _differs(field) for field in self.fields)


def _differs(field: forms.BoundField) -> bool:
    usual = str(field.field.widget.attrs.get("data-usual", ""))
    value = field.value()
    return str("" if value is None else value) != usual


def field_name(kind: str, name: str) -> str:
    """Return the name of a guard's field in a form that asks about several."""
    return f"guard-{kind}-{name}"


def make_number_field(parameter: GuardParameter) -> ScaledField:
    """Return the field of a guard's number, which is typed in the unit that people use."""
    field = ScaledField(
        scale=parameter.scale, required=False, label=parameter.label, initial=parameter.usual,
        min_value=parameter.low / parameter.scale, max_value=parameter.high / parameter.scale,
    )  # fmt: skip
    field.widget.attrs["data-usual"] = "" if parameter.usual is None else field.prepare_value(parameter.usual)
    return field


def make_wait_field() -> ScaledField:
    """Return the field of a guard's own wait: seconds, to the millisecond, which are typed in minutes."""
    return ScaledField(
        scale=60, step=0.001, required=False, label="Wait for it, min", min_value=0, max_value=LONGEST_WAIT / 60,
        help_text="at most; empty: as long as for the others",
    )  # fmt: skip


def add_guard_fields(form: forms.Form, questions: Sequence[GuardQuestion]) -> None:
    """Add to a form the fields of each guard's numbers, in the site's look."""
    for question in questions:
        if question.is_statement:
            continue
        requirement = forms.ChoiceField(
            required=False, label="Is it required?", choices=REQUIREMENTS, initial=REQUIRED,
            widget=forms.Select(attrs={"data-usual": REQUIRED, "class": CLASSES["select"]}),
        )  # fmt: skip
        form.fields[field_name(question.kind, "required")] = requirement
        numbers = {"wait": make_wait_field()} if question.wait else {}
        numbers |= {parameter.name: make_number_field(parameter) for parameter in question.parameters}
        for name, field in numbers.items():
            field.widget.attrs.setdefault("class", "form-control")
            form.fields[field_name(question.kind, name)] = field


def initial_of(guard: Mapping[str, Any], parameters: Sequence[GuardParameter]) -> dict[str, Any]:
    """Return what the fields of a guard begin with, of a guard as it is written: its wait and its numbers, in base units."""
    names = {parameter.name: parameter.name for parameter in parameters} | {"wait_s": "wait"}
    return {names[name]: guard[name] for name in names if guard.get(name) is not None}


def initial_of_fields(kind: str, guard: Mapping[str, Any], parameters: Sequence[GuardParameter]) -> dict[str, Any]:
    """Return what the fields of one of several guards begin with, by the fields' names (`add_guard_fields`)."""
    values = {"required": REQUIRED if guard.get("is_required", True) else NOT_REQUIRED, **initial_of(guard, parameters)}
    return {field_name(kind, name): value for name, value in values.items()}


def read_numbers(
    typed: Mapping[str, Any], parameters: Sequence[GuardParameter], name_of: Callable[[str], str]
) -> dict[str, Any]:
    """Return the numbers of a guard in base units, and its wait as `wait_s`; what was left empty is missing."""
    names = {parameter.name: parameter.name for parameter in parameters} | {"wait_s": "wait"}
    values = {name: typed.get(name_of(names[name])) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def read_guard(
    typed: Mapping[str, Any], question: GuardQuestion, written: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a wanted guard as it is written.

    Args:
        typed: The form's cleaned data.
        written: The guard that the form began with, whose numbers hold where nothing was typed.
    """

    def name_of(name: str) -> str:
        return field_name(question.kind, name)

    guard = {"kind": question.kind, **(written or {}), **read_numbers(typed, question.parameters, name_of)}
    if requirement := typed.get(name_of("required")):
        guard["is_required"] = requirement == REQUIRED
    return without_usual(guard, question.parameters)


def without_usual(guard: Mapping[str, Any], parameters: Sequence[GuardParameter]) -> dict[str, Any]:
    """Return a guard without the numbers that would be taken anyhow."""
    usual = {parameter.name: parameter.usual for parameter in parameters if parameter.usual is not None}
    return {name: value for name, value in guard.items() if name not in usual or value != usual[name]}


def list_guards(form: forms.Form, boxes: str, questions: Sequence[GuardQuestion]) -> list[GuardLine]:
    """Return the guards of a form for its template. `boxes`: the field of the check boxes, in the order of the questions."""
    asked = {question.kind: question for question in questions}
    lines = []
    for box in form[boxes]:
        question = asked[str(box.data["value"])]
        names = ("required", "wait", *(parameter.name for parameter in question.parameters))
        own = [field_name(question.kind, name) for name in names]
        lines.append(GuardLine(question, box, [form[name] for name in own if name in form.fields]))
    return lines
