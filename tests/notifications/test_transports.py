"""Every transport is found, offered in the form, and has what the others rely on."""

import pytest
from django.core.exceptions import ValidationError

from apps.notifications.forms import DestinationForm
from apps.notifications.models import Destination
from apps.notifications.transports import load_transports


def test_the_modules_of_the_package_are_the_transports() -> None:
    assert list(load_transports()) == ["email", "webhook"]


@pytest.mark.parametrize("name", load_transports())
def test_a_transport_is_offered_and_fits_its_column(name: str) -> None:
    transport = load_transports()[name]
    field = Destination._meta.get_field("kind")
    assert len(name) <= field.max_length
    assert (name, transport.LABEL) in list(DestinationForm(1).fields["kind"].choices)
    assert isinstance(transport.HAS_SECRET, bool)
    assert callable(transport.send)


@pytest.mark.parametrize("name", load_transports())
def test_what_is_no_address_is_refused_with_what_was_found(name: str) -> None:
    with pytest.raises(ValidationError, match="nowhere"):
        load_transports()[name].check_address("nowhere at all")
