"""Forms of the lab's pages and of one-use links."""

from typing import Any

from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts, validate_password

from apps.core.forms import SiteForm
from apps.core.mail import check_mail_address
from apps.labs import addresses, passwords, throttle
from apps.labs.models import Invitation, Role, TokenScope, User


class InvitationForm(SiteForm):
    email = forms.EmailField(
        max_length=254, label="E-mail address", widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.VIEWER, label="Role")

    def clean_email(self) -> str:
        check_mail_address(self.cleaned_data["email"])
        return str(self.cleaned_data["email"]).lower()


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


class LabForm(SiteForm):
    name = forms.CharField(max_length=120, label="Name", widget=forms.TextInput(attrs={"autocomplete": "off"}))


class CodeForm(SiteForm):
    code = forms.CharField(
        max_length=200, label="The link's code: all that stands behind #",
        widget=forms.TextInput(attrs={"autocomplete": "off", "data-link-code": ""}),
    )  # fmt: skip

    def clean_code(self) -> str:
        """Take the whole link as well as its last part."""
        return str(self.cleaned_data["code"]).rpartition("#")[2].strip()


class PasswordForm(SiteForm):
    """A password that the person chooses, twice. `address` is what it must not resemble."""

    password = forms.CharField(
        strip=False, label="Password", help_text=" ".join(password_validators_help_texts()[:1]),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )  # fmt: skip
    again = forms.CharField(
        strip=False, label="The same again", widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    def __init__(self, address: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = address

    def clean_password(self) -> str:
        password = str(self.cleaned_data["password"])
        validate_password(password, User(email=self.address))
        return password

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if "password" in data and data.get("again") != data["password"]:
            self.add_error("again", "The two passwords differ.")
        return data


class NewAccountForm(PasswordForm):
    """The address that somebody new signs in with, and a password. A mailed link makes an account for its own address and asks for none."""

    email = forms.EmailField(
        max_length=254,
        label="E-mail address to sign in with",
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
    )
    field_order = ("email", "password", "again")

    def __init__(self, invitation: Invitation, *args: Any, **kwargs: Any) -> None:
        super().__init__(invitation.email, *args, **kwargs)
        if invitation.by_mail:
            del self.fields["email"]
        else:
            self.fields["email"].initial = invitation.email

    def clean_email(self) -> str:
        check_mail_address(self.cleaned_data["email"])
        self.address = str(self.cleaned_data["email"]).lower()
        return self.address


class TokenForm(SiteForm):
    name = forms.CharField(
        max_length=120, label="What it is for", widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    scope = forms.ChoiceField(choices=TokenScope.choices, label="Scope")
    days = forms.IntegerField(
        min_value=1, max_value=3650, required=False, label="Ends after, days", help_text="empty: when it is revoked"
    )


class AddressForm(SiteForm):
    """Another address for one's own account. Whether it has an account already is never said here."""

    email = forms.EmailField(label="New e-mail address", widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    password = forms.CharField(
        label="Your password", widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, user: User, is_proved: bool, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user, self.is_proved = user, is_proved
        if not is_proved:
            self.fields["email"].label, self.fields["email"].initial = "E-mail address", user.email

    def clean_email(self) -> str:
        check_mail_address(self.cleaned_data["email"])
        email = str(self.cleaned_data["email"]).lower()
        if email == self.user.email and self.is_proved:
            raise forms.ValidationError("This is your address already, and it is proved.")
        return email

    def clean(self) -> dict[str, Any]:
        """Look at the password last, and only of a form that is right otherwise, and count the mail."""
        data: dict[str, Any] = super().clean() or {}
        if not self.errors:
            try:
                passwords.check_password(self.user, data["password"])
            except forms.ValidationError as error:
                self.add_error("password", error)
                return data
            if seconds := addresses.may_ask(self.user):
                raise passwords.WaitError(f"Too many mails. Try again in {throttle.in_words(seconds)}.", seconds)
        return data
