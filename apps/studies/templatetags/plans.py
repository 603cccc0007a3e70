"""A plan's points, reasons and links in templates."""

import json
from typing import Any
from urllib.parse import urlencode

from django import template
from django.urls import reverse

from apps.studies.plans.shown import CellShown, PlanShown, point_words

register = template.Library()
register.filter("point_words", point_words)


@register.simple_tag
def reason_number(shown: PlanShown, cell: CellShown) -> int:
    """Which of the plan's reasons this cell has, from 1."""
    return shown.reason_numbers[cell.reason]


@register.filter
def can_be_started(cell: CellShown) -> bool:
    """By hand: fio can run it, and its target is the directory that the host's agent offers."""
    configuration = cell.row.configuration
    return bool(
        not cell.reason
        and cell.workload
        and configuration
        and configuration.target
        and configuration.target.is_agents_own
    )


@register.filter
def new_run_address(cell: CellShown) -> str:
    """The run form, filled in."""
    configuration: Any = cell.row.configuration
    return f"{reverse('run-new')}?{urlencode({'target': configuration.target_id, 'jobs': json.dumps(cell.jobs)})}"
