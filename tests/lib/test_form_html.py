"""Fields written in one pass say what Django's own templates say."""

import re

import pytest
from django import forms
from django.forms.renderers import DjangoTemplates
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy

from apps.lib.form_html import WRITTEN
from apps.lib.forms import SiteForm

CHOICES = [
    ("", "any"),
    (1, '<b>"one"</b> & more'),
    (1234567, 1234567),
    (None, "nothing"),
    ("lazy", gettext_lazy("Search")),
    ("safe", mark_safe("&ndash;")),
    ("A <group>", [("a'b", "in it"), (2.5, "and this")]),
]


class OwnOption(forms.Select):
    option_template_name = "django/forms/widgets/radio_option.html"


FIELDS = {
    "select": forms.ChoiceField(choices=CHOICES),
    "many": forms.MultipleChoiceField(choices=CHOICES),
    "no_choice": forms.ChoiceField(choices=[], required=False),
    "disabled": forms.ChoiceField(choices=CHOICES, disabled=True),
    "own": forms.ChoiceField(choices=[("1", "one")], widget=OwnOption),
    "text": forms.CharField(max_length=10, help_text="of it", widget=forms.TextInput(attrs={"data-x": '"<&>', "y": False, "z": True})),
    "search": forms.CharField(required=False, widget=forms.TextInput(attrs={"type": "search"})),
    "number": forms.IntegerField(min_value=1, max_value=12345),
    "mail": forms.EmailField(),
    "hidden": forms.CharField(widget=forms.HiddenInput),
    "long": forms.CharField(widget=forms.Textarea),
    "tick": forms.BooleanField(),
}  # fmt: skip
VALUES = [None, "", "1", 1, "a'b", "lazy", "2.5", 1234567, True, '"><script>', ["1", "lazy"], ("1", "lazy")]


def html(field, value, renderer):
    form = type("Form", (forms.Form,), {"field": field})(initial={"field": value}, renderer=renderer)
    text = re.sub(r"\s+", " ", str(form["field"]))
    return re.sub(r"\s*(<[^>]*>)\s*", r"\1", text)


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_field_is_what_djangos_templates_make_of_it(name, value):
    assert html(FIELDS[name], value, WRITTEN) == html(FIELDS[name], value, DjangoTemplates())


def test_every_form_of_the_site_is_written_so():
    class Asked(SiteForm):
        host = forms.ChoiceField(choices=[("1", "<script>")])

    page = str(Asked()["host"])
    assert '<option value="1">&lt;script&gt;</option>' in page
    assert "form-select" in page
    assert Asked().renderer is WRITTEN
