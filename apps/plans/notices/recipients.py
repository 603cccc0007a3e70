"""Who is told what becomes of a plan's runs: notification channels of its lab, chosen at the start or in its schedule."""

from collections.abc import Sequence
from typing import Any

from apps.notifications.models import Destination
from apps.plans.models import PlanRecipient, ScheduleFiring
from apps.studies.models import Plan
from apps.studies.plans.problems import PlanError


def find_firing(plan: Plan) -> ScheduleFiring | None:
    """Return the due time that started a plan as a copy; None where it is the copy of no schedule."""
    firings = ScheduleFiring.objects.filter(started_plan=plan).select_related("plan__schedule", "plan__study")
    return firings.first()  # type: ignore[no-any-return]


def find_followed_plan(plan: Plan) -> Plan:
    """Return the plan whose recipients are told of this one: the plan that a schedule copied it from, else itself."""
    firing = find_firing(plan)
    return firing.plan if firing else plan


def recipients_of(plan: Plan) -> list[Destination]:
    """Return the notification channels that are told of a plan and are switched on."""
    followed = find_followed_plan(plan)
    return list(Destination.objects.filter(plan_recipients__plan=followed, is_active=True))


def set_recipients(plan: Plan, wanted: Sequence[int] | None) -> list[str]:
    """Store which notification channels follow a plan, by their ids; return their names. None: as before.

    Raises:
        PlanError: The plan's lab has no such channel.
    """
    if wanted is None:
        return []
    lab_id = plan.study.lab_id
    channels: dict[int, Any] = Destination.objects.filter(lab=lab_id).in_bulk(list(wanted))
    if unknown := [pk for pk in wanted if pk not in channels]:
        raise PlanError("recipients", unknown[0], "ids of notification channels of this lab")
    PlanRecipient.objects.filter(plan=plan).exclude(destination__in=channels).delete()
    PlanRecipient.objects.bulk_create(
        [PlanRecipient(lab_id=lab_id, plan=plan, destination=channel) for channel in channels.values()],
        ignore_conflicts=True,
    )
    return [channel.name for channel in channels.values()]


def find_chosen(plan: Plan, actor: str = "") -> list[int]:
    """Return the ids of the channels that a form begins with: the plan's, else those of the person's last plan.

    Args:
        actor: Who looks at the form of a plan that was never started; empty: only the plan's own.
    """
    own = PlanRecipient.objects.filter(plan=plan)
    if actor and not own.exists() and not hasattr(plan, "execution"):
        last = Plan.objects.filter(study__lab=plan.study.lab_id, execution__started_by=actor)
        own = PlanRecipient.objects.filter(plan=last.order_by("-execution__started_at").first())
    return list(own.order_by("destination__name").values_list("destination", flat=True))
