"""Fields of forms as HTML in one pass. Django's templates for a list of choices include two more templates for each choice: of the sixty
hosts above the list of runs that is more than all else in its form. What is written is what those templates write, up to blanks.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.forms.renderers import DjangoTemplates
from django.utils.formats import localize
from django.utils.html import conditional_escape

FOLDER = "django/forms/widgets/"
OPTION = f"{FOLDER}select_option.html"
Widget = Mapping[str, Any]


class Written(DjangoTemplates):
    """Django's own renderer, but for the fields that are written here. A widget with a template of its own keeps it."""

    def render(self, template_name: str, context: dict[str, Any], request: Any = None) -> str:
        write = WRITERS.get(template_name)
        found = write(context["widget"]) if write else None
        return super().render(template_name, context, request) if found is None else found


def _input(widget: Widget) -> str:
    value = "" if widget["value"] is None else f' value="{_text(widget["value"])}"'
    return f'<input type="{_text(widget["type"])}" name="{_text(widget["name"])}"{value}{_attributes(widget)}>'


def _select(widget: Widget) -> str | None:
    """None where a choice has a template of its own."""
    if any(one["template_name"] != OPTION for _, choices, _ in widget["optgroups"] for one in choices):
        return None
    groups = "".join([_group(name, choices) for name, choices, _ in widget["optgroups"]])
    return f'<select name="{_text(widget["name"])}"{_attributes(widget)}>{groups}\n</select>'


def _group(name: Any, choices: list[Widget]) -> str:
    options = "".join([_option(one) for one in choices])
    return f'\n<optgroup label="{_text(name)}">{options}\n</optgroup>' if name else options


def _option(option: Widget) -> str:
    return f'\n<option value="{_text(option["value"])}"{_attributes(option)}>{_shown(option["label"])}</option>'


def _attributes(widget: Widget) -> str:
    """One that is True stands without a value, one that is False not at all."""
    return "".join(
        [
            f" {_text(name)}" if value is True else f' {_text(name)}="{_text(value)}"'
            for name, value in widget["attrs"].items()
            if value is not False
        ]
    )


def _shown(value: Any) -> str:
    return conditional_escape(value if isinstance(value, str) else localize(value))


def _text(value: Any) -> str:
    """As `stringformat:"s"` has it: a number as it is, not in the reader's language."""
    return conditional_escape(value if isinstance(value, str) else str(value))


WRITERS: dict[str, Callable[[Widget], str | None]] = {
    f"{FOLDER}select.html": _select,
    **{f"{FOLDER}{kind}.html": _input for kind in ("input", "text", "number", "hidden", "email", "url")},
}
WRITTEN = Written()
