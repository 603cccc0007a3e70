"""Celery tasks of trends: an id in, one call. The rows hold the state, so twice does no harm."""

from celery import shared_task
from django.utils import timezone

from apps.comparison.question import QuestionError
from apps.comparison.trends.delivering import deliver
from apps.comparison.trends.destinations import Delivery
from apps.comparison.trends.evaluation import evaluate
from apps.comparison.trends.models import Watch
from apps.labs.isolation import all_labs, lab_scope

AT_ONCE = 500


@shared_task(name="trends.evaluate_watch")
def evaluate_watch(watch_id: int) -> str:
    """Look at a watch that is due."""
    with all_labs():
        watch = Watch.objects.filter(pk=watch_id).first()
    if watch is None:
        return "nothing to do"
    with lab_scope(watch.lab_id):
        lease = watch.claim()
        if lease is None:
            return "nothing to do"
        said = _look(watch)
        watch.done(lease)
    return said


def _look(watch: Watch) -> str:
    try:
        evaluate(watch)
    except QuestionError as error:  # a word that a newer version no longer knows: the page says so
        return f"cannot be asked: {error}"
    return "done"


@shared_task(name="trends.send_delivery")
def send_delivery(delivery_id: int) -> str:
    """One try. A failure plans the next one in the row; the last one is a dead letter."""
    with all_labs():
        delivery = Delivery.objects.select_related("destination").filter(pk=delivery_id).first()
    if delivery is None:
        return "nothing to do"
    with lab_scope(delivery.lab_id):
        return deliver(delivery)


@shared_task(name="trends.sweep")
def sweep_trends() -> dict[str, int]:
    """Every 30 s: watches and deliveries that are due, and whose task was lost or never sent, are published."""
    now = timezone.now()
    with all_labs():
        watches = list(Watch.objects.due(now).values_list("pk", flat=True)[:AT_ONCE])
        deliveries = list(Delivery.objects.due(now).values_list("pk", flat=True)[:AT_ONCE])
    for pk in watches:
        evaluate_watch.delay(pk)
    for pk in deliveries:
        send_delivery.delay(pk)
    return {"watches": len(watches), "deliveries": len(deliveries)}


@shared_task(name="trends.nightly")
def look_at_all() -> int:
    """Every night: all watches, whatever arrived. The sweeper publishes them."""
    with all_labs():
        called: int = Watch.objects.call(timezone.now())
    return called
