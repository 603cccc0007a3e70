"""Forms in the site's look: the style classes that templates would otherwise repeat for every field."""

from decimal import Decimal
from typing import Any

from django import forms

FORM_KEY = "form_key"  # the field that tells one form from another, so that it counts once if it is sent twice
CLASSES = {"select": "form-select", "checkbox": "form-check-input"}


def dress(form: forms.BaseForm) -> None:
    for field in form.fields.values():
        widget: Any = field.widget
        if isinstance(widget, forms.CheckboxSelectMultiple):
            _dress_boxes(widget)
            continue
        if isinstance(widget, forms.Textarea):
            _end_lines_as_stored(widget)
        kind = "select" if isinstance(widget, forms.Select) else getattr(widget, "input_type", "")
        widget.attrs.setdefault("class", CLASSES.get(kind, "form-control"))


def _dress_boxes(widget: Any) -> None:
    """Give the class of boxes to those of a list: as an attribute of the widget the list itself would have it too."""
    create_option = widget.create_option

    def create_dressed(*args: Any, **kwargs: Any) -> dict[str, Any]:
        option: dict[str, Any] = create_option(*args, **kwargs)
        option["attrs"].setdefault("class", CLASSES["checkbox"])
        return option

    widget.create_option = create_dressed


def _end_lines_as_stored(widget: Any) -> None:
    """Read the lines of a text as they are stored: a browser sends each with a carriage return, which nobody typed."""
    read_sent = widget.value_from_datadict

    def read_lines(*args: Any, **kwargs: Any) -> Any:
        text = read_sent(*args, **kwargs)
        return text.replace("\r\n", "\n") if isinstance(text, str) else text

    widget.value_from_datadict = read_lines


class SiteForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)


class ScaledField(forms.FloatField):
    """A number that is stored in its base unit, and shown and typed in another, such as seconds in minutes.

    Its initial and its cleaned value are in the base unit. What it shows is read as the value that is stored, so that a
    form that is sent as it was opened changes nothing: 20 s are shown as 0.33 min, which is read as 20 s.

    Args:
        scale: How many base units one of those that people type is: 60 for minutes.
        step: What is typed is rounded to whole steps, in the base unit; None: it is taken as it is.
    """

    def __init__(self, *, scale: float, step: float | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.scale = Decimal(str(scale))
        self.step = None if step is None else Decimal(str(step))

    def clean(self, value: Any) -> Any:
        """Return the typed number in the base unit, None for none; whole ones as integers."""
        if super().clean(value) is None:
            return None
        return self.read(Decimal(str(value).strip()))  # a float has not all digits that were typed

    def read(self, typed: Decimal) -> float:
        """Return a number of people's unit in the base unit."""
        value = typed * self.scale
        if self.step is not None:
            value = round(value / self.step) * self.step
        return int(value) if value == int(value) else float(value)

    def prepare_value(self, value: Any) -> Any:
        """Return a stored number as it is shown, with as few decimals as are needed; what was typed stays as it is."""
        if not isinstance(value, int | float):
            return value
        typed = Decimal(str(value)) / self.scale
        texts = (f"{typed:.{decimals}f}" for decimals in range(20))
        return next((text for text in texts if self.read(Decimal(text)) == value), f"{typed:f}")


def make_minutes_field(**options: Any) -> ScaledField:
    """Return the field of a duration that is stored in whole seconds and typed in minutes, which may have decimals."""
    return ScaledField(scale=60, step=1, **options)


def describe_errors(form: forms.BaseForm) -> str:
    """Return the errors of a form as one text, each with the label of its field, as in `Title: too long`."""
    own = [" ".join(map(str, form.non_field_errors()))]
    fields = [f"{field.label}: {' '.join(map(str, field.errors))}" for field in form if field.errors]
    return "; ".join(filter(None, [*own, *fields]))
