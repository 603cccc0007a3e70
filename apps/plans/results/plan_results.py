"""What a plan's rule found out, as its page draws it: the curve of a search for saturation, the rounds of a steady state."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from apps.comparison.charts.json_payload import as_json
from apps.core.strict_json import to_json
from apps.core.unit_base import base
from apps.plans.results.charts import saturation_chart, steady_state_chart
from apps.plans.results.steady_state import SteadyCell, steady_cells
from apps.studies.plans.plan_page import PlanPage
from apps.studies.plans.saturation.row_ladders import RowLadder

MOST_CHARTS = 8  # of cells on one page; REST has all


@dataclass(frozen=True)
class SteadyPlot:
    """The plot of one cell; `address` has the same as data and as a picture."""

    steady: SteadyCell
    chart: dict[str, Any]
    id: str
    address: str
    file: str


class PlanResults:
    """The drawn results of a plan; empty for a plan whose rule finds nothing out beyond its cells.

    Args:
        page: The plan with its runs.
        is_live: Whether more may come, so that the page asks again.
    """

    def __init__(self, page: PlanPage, *, is_live: bool) -> None:
        self.page, self.plan, self.is_live = page, page.plan, is_live

    @property
    def ladders(self) -> list[RowLadder]:
        return self.page.ladders

    @property
    def percentile(self) -> int:
        return int(self.plan.rule.data.get("percentile", 0))

    @cached_property
    def saturation(self) -> dict[str, Any] | None:
        """Return the curve of all searches; None where no point is measured."""
        if not any(result.is_measured for found in self.ladders for result in found.ladder.results):
            return None
        return as_json(saturation_chart(self.ladders, f"Saturation of {self.plan.title}"))

    @property
    def saturation_address(self) -> str:
        return reverse("api-plan-saturation", args=[self.plan.pk])

    @cached_property
    def _steady_cells(self) -> list[SteadyCell]:
        return steady_cells(self.page)

    @cached_property
    def steady(self) -> list[SteadyPlot]:
        """Return the plots of the first cells that have a measured round."""
        plots = []
        for number, steady in enumerate(self._steady_cells[:MOST_CHARTS], 1):
            chosen = {"configuration": steady.cell.row.name, "point": steady.cell.point.name}
            query = urlencode(chosen | ({"operation": steady.operation} if len(steady.cell.operations) > 1 else {}))
            address = f"{reverse('api-plan-steady-state', args=[self.plan.pk])}?{query}"
            chart = as_json(steady_state_chart(steady, base()))
            plots.append(SteadyPlot(steady, chart, f"chart-steady-{number}", address, f"steady-state-{number}"))
        return plots

    @property
    def not_drawn(self) -> int:
        return max(0, len(self._steady_cells) - MOST_CHARTS)

    @cached_property
    def mark(self) -> str:
        """Return a text that changes with what is drawn, so that a page that has it already is not sent it again."""
        content = [
            self.is_live, base(), self.saturation, [found.statement for found in self.ladders],
            [plot.chart for plot in self.steady],
        ]  # fmt: skip
        return sha256(to_json(content)).hexdigest()[:16]
