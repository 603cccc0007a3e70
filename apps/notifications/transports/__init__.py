"""The registry of transports: every module of this package is one and is found by itself.

A transport has `NAME` (stored with a destination), `LABEL` (for people), `HAS_SECRET` (its messages are signed),
`ADDRESS` (what its addresses are, for people), `check_address(text)` and `send(delivery)`.
"""

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from apps.notifications.models import Delivery


class Transport(Protocol):
    """What a module of this package offers."""

    NAME: str
    LABEL: str
    HAS_SECRET: bool
    ADDRESS: str

    def check_address(self, text: str) -> None:
        """Raise `ValidationError` where nothing can be sent to this address."""

    def send(self, delivery: "Delivery") -> str:
        """Send a message and return how that went, in words.

        Raises:
            RefusedAddressError: Nothing may be sent there, however often it is tried.
            DeliveryError, SMTPException, OSError: It did not arrive; a later try may.
        """


class DeliveryError(Exception):
    """The receiver did not accept a message; the text says why in one sentence."""


@cache
def load_transports() -> dict[str, Transport]:
    """Return all transports by name, in the order of their names."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name)
    ]
    return {transport.NAME: transport for transport in cast("list[Transport]", modules)}


def describe_addresses() -> str:
    """Return what an address may be: `an e-mail address, or https://…`."""
    return ", or ".join(transport.ADDRESS for transport in load_transports().values())


def get_choices() -> list[tuple[str, str]]:
    """Return (name, label) of all transports, for forms and the model."""
    return [(name, transport.LABEL) for name, transport in load_transports().items()]
