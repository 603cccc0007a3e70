"""The points of a run's chart over time as a table: a page, or what the run's page opens below the chart."""

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.comparison.run_charts import chart_over_time
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.lib.reader_base import base
from apps.runs.live_series import series_of
from apps.runs.metrics import METRICS
from apps.runs.models import Run


@member_required()
def over_time(request: LabRequest, pk: int, metric: str) -> HttpResponse:
    """The overview of an ended run; of one that goes on, what has arrived."""
    found = get_object_or_404(Run.objects.select_related("workload"), pk=pk)
    if metric not in METRICS:
        raise Http404(f"metric: found {metric!r}, expected one of: {', '.join(METRICS)}")
    chart = chart_over_time(found, metric, series_of(found), base=base())
    template = "runs/_points.html" if request.htmx else "runs/over-time.html"  # type: ignore[attr-defined]
    is_summed = any(point.n > 1 for _, point in chart.points)
    context = {"run": found, "metric": METRICS[metric], "chart": chart, "is_summed": is_summed}
    return render(request, template, context)
