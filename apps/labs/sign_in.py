"""Sign-in: the limit on guesses, and its record in the audit trail.

Guesses are counted for an address and a network together, so that strangers elsewhere hold nobody up and one office behind one address goes on
working. Guesses that are spread over many networks are counted for the address as well, those over many addresses for the network as well; both
hold up only those who have never signed in to this account on this device or from this network.
"""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from apps.labs import audit, throttle
from apps.labs.devices import known_device
from apps.labs.models import User
from apps.labs.throttle import ThrottleRule

PAIR = ThrottleRule(free=5, longest=900)
ADDRESS = ThrottleRule(free=50, longest=300)
NETWORK = ThrottleRule(free=200, longest=30)


@dataclass(frozen=True)
class SignInAttempt:
    """One try to sign in that was let through to the password."""

    address: str
    network: str
    own: str
    wide: tuple[str, ...]

    def succeeded(self) -> None:
        throttle.give_back(self.wide, [self.own, _pair(self.address, self.network)])

    def failed(self) -> None:
        audit.record_failed_sign_in(self.address, self.network, refused=False)


class TooManyAttemptsError(Exception):
    """So many guesses have failed that the next one has to wait."""

    def __init__(self, seconds: int) -> None:
        super().__init__(
            f"Too many wrong passwords for this address, or from your network. Try again in {throttle.in_words(seconds)}. "
            "A device on which this address has signed in before is not held up by other people's tries."
        )
        self.seconds = seconds


def begin(request: HttpRequest, address: str) -> SignInAttempt:
    """Count a try to sign in before its password is looked at.

    Raises:
        TooManyAttemptsError: it has to wait; its password is not looked at.
    """
    address, network = address.strip().lower(), audit.client_network(request)
    pair, mark = _pair(address, network), known_device(request, address)
    if mark:
        attempt = SignInAttempt(address, network, throttle.key("device", mark), ())
    elif throttle.has_succeeded(pair):
        attempt = SignInAttempt(address, network, pair, ())
    else:
        wide = throttle.key("address", address), throttle.key("network", network)
        attempt = SignInAttempt(address, network, pair, wide)
    rules = {attempt.own: PAIR, **dict(zip(attempt.wide, (ADDRESS, NETWORK), strict=False))}
    if seconds := throttle.take(rules):
        audit.record_failed_sign_in(address, network, refused=True)
        raise TooManyAttemptsError(seconds)
    return attempt


def _pair(address: str, network: str) -> str:
    return throttle.key("address and network", address, network)


def signed_in(sender: object, request: HttpRequest | None, user: User, **_: Any) -> None:
    """Receive Django's own word that somebody has signed in, by whatever way."""
    if request is None or not hasattr(
        request, "user"
    ):  # a script that makes a session by itself, without our middleware
        return
    is_known = bool(known_device(request, user.email))
    request.proved_person = user  # type: ignore[attr-defined]
    audit.record_account_event(user, "signed in", request=request, device="known" if is_known else "new")
