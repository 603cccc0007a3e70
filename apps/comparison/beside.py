"""The comparison to begin with: a run's host beside the hosts of a published report."""

from django.urls import reverse

from apps.comparison.question import Question
from apps.runs.models import Run
from apps.studies.models import Configuration

REPORT = "crs4-sata-scsi"


def beside_published(run: Run, operation: str, study: str = REPORT) -> str:
    """The address of the comparison page: bandwidth over file size, this run's host and the report's hosts."""
    hosts = Configuration.objects.filter(study__slug=study, host__isnull=False).values_list("host__name", flat=True)
    names = {run.host.name if run.host else "", *hosts}
    filters = tuple(("host", name) for name in sorted(names) if name)
    question = Question(operation=operation, scale="log", filters=filters)
    return f"{reverse('compare')}?{question.address}"
