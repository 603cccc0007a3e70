"""Celery tasks of notifications. The rows hold the state, so a task that runs twice does no harm."""

from celery import shared_task
from django.utils import timezone

from apps.labs.isolation import all_labs, lab_scope
from apps.notifications.delivery import deliver
from apps.notifications.models import Delivery

MOST_AT_ONCE = 500


@shared_task(name="notifications.send_delivery")
def send_delivery(delivery_id: int) -> str:
    """Try a delivery once. A failure plans the next try in the row; the last one is a dead letter."""
    with all_labs():
        delivery = Delivery.objects.select_related("destination").filter(pk=delivery_id).first()
    if delivery is None:
        return "nothing to do"
    with lab_scope(delivery.lab_id):
        return deliver(delivery)


@shared_task(name="notifications.sweep")
def sweep_deliveries() -> int:
    """Publish the deliveries that are due and whose task was lost or never sent, and return their number."""
    with all_labs():
        due = list(Delivery.objects.due(timezone.now()).values_list("pk", flat=True)[:MOST_AT_ONCE])
    for pk in due:
        send_delivery.delay(pk)
    return len(due)
