"""What the plans that runs belong to ask of their files.

cache_rules({run: (plan, configuration)}) → {run: CacheRule}      one query; none where no run is of a study
"""

from collections.abc import Mapping

from django.db.models import Q

from apps.studies.planning.guards import CacheRule
from apps.studies.plans.models import Guard

# Of a run: the plan that it was made for, and the configuration of a study that it is kept under.
PLACES = ("planned_run__row__plan_id", "study_run__configuration_id")
Place = tuple[int | None, int | None]


def cache_rules(places: Mapping[int, Place]) -> dict[int, CacheRule]:
    """A run that was brought is of every plan with its configuration: of several rules the one that asks least."""
    plans = {plan for plan, _ in places.values() if plan}
    configurations = {configuration for plan, configuration in places.values() if configuration and not plan}
    if not plans and not configurations:
        return {}
    of_plan: dict[int, CacheRule] = {}
    of_configuration: dict[int, CacheRule] = {}
    for plan, configuration, rule in _rules(plans, configurations):
        of_plan[plan] = rule
        if configuration:
            known = of_configuration.get(configuration, rule)
            of_configuration[configuration] = min(rule, known, key=lambda one: one.least)
    found = {
        run: of_plan.get(plan) if plan else of_configuration.get(configuration or 0)
        for run, (plan, configuration) in places.items()
    }
    return {run: rule for run, rule in found.items() if rule}


def _rules(plans: set[int], configurations: set[int]) -> list[tuple[int, int | None, CacheRule]]:
    """(plan, configuration of one of its rows, rule)."""
    wanted = Q(plan__in=plans) | Q(plan__rows__configuration__in=configurations)
    rows = Guard.objects.filter(wanted, kind="cache_rule").order_by()
    return [
        (plan, configuration, CacheRule(told["factor"], told.get("tolerance", 0.0)))
        for plan, configuration, told in rows.values_list("plan_id", "plan__rows__configuration_id", "parameters")
    ]
