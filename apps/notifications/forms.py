"""The form of a destination."""

from typing import Any

from django import forms

from apps.core.forms import SiteForm
from apps.notifications.models import Destination
from apps.notifications.transports import describe_addresses, get_choices, load_transports


class DestinationForm(SiteForm):
    kind = forms.ChoiceField(choices=get_choices, label="Kind")
    name = forms.CharField(max_length=120, label="Name", widget=forms.TextInput(attrs={"autocomplete": "off"}))
    address = forms.CharField(max_length=500, label="Address", widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, lab_id: int, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lab_id = lab_id
        self.fields["address"].help_text = describe_addresses()

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        kind, address = data.get("kind"), data.get("address")
        if kind and address:
            self._check(kind, address)
            if Destination.objects.filter(lab=self.lab_id, kind=kind, address=address).exists():
                self.add_error("address", f"{address} is a destination of this lab already.")
        return data

    def _check(self, kind: str, address: str) -> None:
        try:
            load_transports()[kind].check_address(address)
        except forms.ValidationError as error:
            self.add_error("address", error)
