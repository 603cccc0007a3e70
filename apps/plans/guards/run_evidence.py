"""All evidence of a run's guards, for its page and REST: by the inventory before the step, on its host, and around the run."""

from collections.abc import Sequence

from apps.runs.host_guards.evidence import Evidence, evidence_of
from apps.runs.models import Attempt, Run
from apps.studies.models import PlannedRun


def find_evidence(run: Run, attempts: Sequence[Attempt]) -> list[Evidence]:
    """Return the evidence of a run: as its plan has judged it, or as far as it is there while the run has not ended.

    Args:
        attempts: Those of the run, oldest first.
    """
    planned: PlannedRun | None = PlannedRun.objects.filter(run=run).first()
    if planned and planned.judged_at:
        return list(planned.evidence)
    return [*(planned.evidence if planned else ()), *evidence_of(run, attempts)]
