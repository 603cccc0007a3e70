"""Services of notifications: create a delivery, send it again, and limit the messages that people send by hand."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from apps.labs.models import AuditEvent, Lab
from apps.notifications.messages import TEST, Payload
from apps.notifications.models import Delivery, Destination
from apps.notifications.tasks import send_delivery

BY_HAND = "message sent by hand"
MOST_OF_LAB, MOST_TO_ONE = 20, 5  # messages by hand in an hour


class TooManyMessagesError(Exception):
    """A person asked for more messages than a lab may send by hand; the message gives what was found and expected."""


def send(
    destination: Destination,
    payload: Payload,
    watch: Model | None = None,
    change_point: Model | None = None,
) -> Delivery:
    """Record a delivery in the caller's transaction; its task starts when that is committed."""
    delivery: Delivery = Delivery.objects.create(
        lab_id=destination.lab_id, destination=destination, watch=watch, change_point=change_point, payload=payload
    )
    send_delivery.delay_on_commit(delivery.pk)
    return delivery


@transaction.atomic
def send_test(
    destination: Destination,
    actor: str,
    subject: str = "",
    watch: Model | None = None,
    watch_payload: Payload | None = None,
) -> Delivery:
    """Send a message that says that it is a test, on the way of all others.

    Args:
        subject: What the test is about, such as ` of the watch “nightly”`.
        watch_payload: What a webhook gets about the watch.

    Raises:
        TooManyMessagesError: The lab or the address has had its share of this hour.
    """
    count_message_by_hand(destination, actor)
    payload = {
        "event": TEST,
        "text": f"A test{subject}: {actor} asked Spindle to write to “{destination}”. Nothing has changed.",
        "watch": watch_payload,
    }
    return send(destination, payload, watch)


@transaction.atomic
def send_again(delivery: Delivery, actor: str) -> bool:
    """Send a dead letter once more, with all its tries. Return False where it is no dead letter any more.

    Raises:
        TooManyMessagesError: The lab or the address has had its share of this hour.
    """
    if not delivery.again():
        return False
    count_message_by_hand(delivery.destination, actor)
    send_delivery.delay_on_commit(delivery.pk)
    return True


def count_message_by_hand(destination: Destination, actor: str) -> None:
    """Record one more message that a person sends.

    The audit trail counts, so it makes no difference who asks and how often the destination was made anew.

    Raises:
        TooManyMessagesError: Within an hour `MOST_OF_LAB` messages of a lab or `MOST_TO_ONE` to one address.
    """
    Lab.objects.select_for_update(no_key=True).get(pk=destination.lab_id)  # one after the other
    sent = AuditEvent.objects.filter(lab=destination.lab_id, act=BY_HAND, at__gt=timezone.now() - timedelta(hours=1))
    to_address = sent.filter(detail__address=destination.address).count()
    if to_address >= MOST_TO_ONE:
        raise TooManyMessagesError(
            f"Found {to_address} messages to {destination.address} in an hour, expected at most {MOST_TO_ONE}."
        )
    if (of_lab := sent.count()) >= MOST_OF_LAB:
        raise TooManyMessagesError(
            f"Found {of_lab} messages by hand in an hour, expected at most {MOST_OF_LAB} of one lab."
        )
    AuditEvent.objects.record(destination.lab_id, BY_HAND, destination.name, actor=actor, address=destination.address)
