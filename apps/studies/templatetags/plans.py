"""A plan's points, reasons and links in templates."""

import json
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse

from apps.studies.plans.plan_page import (
    PlanPage,
    PlanPageCell,
    guard_text,
    not_counted_text,
)

register = template.Library()
register.filter("not_counted_text", not_counted_text)
register.filter("guard_text", guard_text)


@register.simple_tag
def reason_number(plan_shown: PlanPage, cell: PlanPageCell) -> int:
    """Return the number of the cell's reason among the plan's, from 1."""
    return plan_shown.reason_numbers[cell.reason]


@register.filter
def not_counted_of(plan_shown: PlanPage, cell: PlanPageCell) -> int:
    """Return how many runs are nearest to this cell and count for none."""
    return plan_shown.not_counted_of.get((cell.row.pk, cell.point.pk), 0)


@register.filter
def new_run_address(cell: PlanPageCell) -> str:
    """Return the address of the run form with its fields filled in."""
    configuration: Any = cell.row.configuration
    return f"{reverse('run-new')}?{urlencode({'target': configuration.target_id, 'jobs': json.dumps(cell.jobs)})}"
