"""Forms in the site's look: the style classes that templates would otherwise repeat for every field."""

from typing import Any

from django import forms

CLASSES = {"select": "form-select", "checkbox": "form-check-input"}


def dress(form: forms.BaseForm) -> None:
    for field in form.fields.values():
        widget: Any = field.widget
        if isinstance(widget, forms.CheckboxSelectMultiple):
            continue  # a class would go to the list as well as to its boxes; the page dresses them
        kind = "select" if isinstance(widget, forms.Select) else getattr(widget, "input_type", "")
        widget.attrs.setdefault("class", CLASSES.get(kind, "form-control"))


class SiteForm(forms.Form):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        dress(self)


def describe_errors(form: forms.BaseForm) -> str:
    """Return the errors of a form as one text, each with the label of its field, as in `Title: too long`."""
    own = [" ".join(map(str, form.non_field_errors()))]
    fields = [f"{field.label}: {' '.join(map(str, field.errors))}" for field in form if field.errors]
    return "; ".join(filter(None, [*own, *fields]))
