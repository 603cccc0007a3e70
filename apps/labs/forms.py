"""What an owner types on the lab's pages."""

from typing import Any

from django import forms

from apps.labs.models import Lab, Member, Role, Scope
from apps.lib.forms import SiteForm


class MemberForm(SiteForm):
    email = forms.EmailField(label="E-mail address", widget=forms.EmailInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(choices=Role.choices, initial=Role.VIEWER, label="Role")

    def __init__(self, lab: Lab, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lab = lab

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).lower()
        if Member.objects.filter(lab=self.lab, user__email=email).exists():
            raise forms.ValidationError(f"{email} is a member of {self.lab} already.")
        return email


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class TokenForm(SiteForm):
    name = forms.CharField(
        max_length=120, label="What it is for", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    scope = forms.ChoiceField(choices=Scope.choices, label="Scope")
    days = forms.IntegerField(
        min_value=1, max_value=3650, required=False, label="Ends after, days", help_text="empty: when it is revoked"
    )
