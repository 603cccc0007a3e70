"""Models of studies and of their plans."""

from apps.studies.models.plan import (
    AS_REPORTED,
    NOT_CHECKED,
    Guard,
    Plan,
    PlanCell,
    PlanConfiguration,
    PlannedRun,
    PlanPoint,
    PlanQuerySet,
)
from apps.studies.models.study import Configuration, Study, StudyRun, Wording, study_of

__all__ = [
    "AS_REPORTED",
    "NOT_CHECKED",
    "Configuration",
    "Guard",
    "Plan",
    "PlanCell",
    "PlanConfiguration",
    "PlanPoint",
    "PlanQuerySet",
    "PlannedRun",
    "Study",
    "StudyRun",
    "Wording",
    "study_of",
]
