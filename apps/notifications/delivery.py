"""One try of a delivery through the transport of its destination."""

import logging
from smtplib import SMTPException

from apps.notifications.models import MOST_TRIES, Delivery
from apps.notifications.safe_address import RefusedAddressError
from apps.notifications.transports import DeliveryError, load_transports

log = logging.getLogger(__name__)


def deliver(delivery: Delivery) -> str:
    """Try a delivery once, record how it went, and return that in a word or two.

    A refused address is given up at once: another try would change nothing. Other failures plan the next try in the
    row; the last one leaves a dead letter.
    """
    if not delivery.claim():
        return "nothing to do"
    if delivery.tries > MOST_TRIES:
        delivery.failed("Every try was cut short.", for_good=True)
        return "given up"
    if not delivery.destination.is_active:
        delivery.failed("The notification channel is switched off.", for_good=True)
        return "switched off"
    try:
        delivery.arrived(load_transports()[delivery.destination.kind].send(delivery))
    except RefusedAddressError as error:
        delivery.failed(f"refused: {error}", for_good=True)
        return "refused"
    except (DeliveryError, SMTPException, OSError) as error:
        log.warning("delivery %s, try %s: %s", delivery.pk, delivery.tries, error)
        delivery.failed(str(error) or type(error).__name__)
        return "failed"
    return "sent"
