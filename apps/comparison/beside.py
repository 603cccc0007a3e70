"""The comparison to begin with: a run's host beside the hosts of a published report."""

from django.urls import reverse

from apps.comparison.question import Question
from apps.runs.models import Run, Sample
from apps.studies.models import Configuration

REPORT = "crs4-sata-scsi"


def beside_published(run: Run, study: str = REPORT) -> str:
    """The address of the comparison page: bandwidth over file size, this run's host first, then the report's hosts."""
    hosts = Configuration.objects.filter(study__slug=study, host__isnull=False).values_list("host__name", flat=True)
    names = dict.fromkeys([run.host.name if run.host else "", *hosts.distinct().order_by("host__name")])
    question = Question(
        operation=_operation(run),
        scale="log",
        filters=tuple(("host", name) for name in names if name),
    )
    return f"{reverse('compare')}?{question.address}"


def _operation(run: Run) -> str:
    """What the run and the report both measured: writing first, else reading."""
    done = set(Sample.objects.filter(run=run, measure__metric="bandwidth").values_list("measure__operation", flat=True))
    return next((name for name in ("write", "read") if name in done), "write")
