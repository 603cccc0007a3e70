"""The table of a run's chart over time, as a page and as the part that the run's page opens."""

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render

from apps.comparison.queries.run_charts import chart_over_time
from apps.core.unit_base import base
from apps.labs.access import member_required
from apps.labs.middleware import LabRequest
from apps.runs.metrics import METRICS
from apps.runs.models import Run
from apps.runs.series.progress import series_of


@member_required()
def over_time(request: LabRequest, pk: int, metric: str) -> HttpResponse:
    """Show the overview of a series of an ended run, or what has arrived of a running one."""
    run = get_object_or_404(Run.objects.select_related("workload"), pk=pk)
    if metric not in METRICS:
        raise Http404(f"metric: found {metric!r}, expected one of: {', '.join(METRICS)}")
    chart = chart_over_time(run, metric, series_of(run), base=base())
    template = "runs/_points.html" if request.htmx else "runs/over-time.html"  # type: ignore[attr-defined]
    is_summed = any(point.n > 1 for _, point in chart.points)
    context = {"run": run, "metric": METRICS[metric], "chart": chart, "is_summed": is_summed}
    return render(request, template, context)
