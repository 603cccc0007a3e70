"""The files that a study's values come from, and the quality of its values."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Min, Value
from django.db.models.functions import Coalesce

from apps.runs.models import Quality, Run, RunArtefact, Sample
from apps.studies.models import Study
from apps.uploads.models import UploadedFile

MOST_FILES = 200


@dataclass(frozen=True)
class MeasuredFiles:
    """One row of what was measured: an operation and metric with how many values each configuration has."""

    operation: str
    metric: str
    count: int
    configurations: int


@dataclass(frozen=True)
class StudyProvenance:
    samples: int
    runs: int
    qualities: dict[str, int]
    missing: int
    first: datetime | None
    last: datetime | None


def uploaded_files(study: Study) -> Any:
    files = UploadedFile.objects.filter(upload__study=study, archive=None).select_related("upload", "artefact")
    return files.order_by("name", "id")[:MOST_FILES]


def kept_files(study: Study) -> list[RunArtefact]:
    """Return each attached file once, however many runs were read from it, without files of uploads."""
    artefacts = RunArtefact.objects.filter(run__study_run__configuration__study=study, kind="published")
    once = (
        artefacts.order_by("name", "artefact_id", "run_id").distinct("name", "artefact_id").select_related("artefact")
    )
    return list(once[:MOST_FILES])


def measured(study: Study) -> list[MeasuredFiles]:
    rows = _samples(study).values_list("measure__operation", "measure__metric")
    counted = rows.annotate(Count("id"), Count("run__study_run__configuration", distinct=True)).order_by(
        "measure__metric", "measure__operation"
    )
    return [MeasuredFiles(*row) for row in counted]


def provenance(study: Study) -> StudyProvenance:
    """Return the files that a study's values come from, in three queries."""
    quality = Coalesce("provenance__quality", Value(Quality.EXACT))
    qualities = dict(_samples(study).values_list(quality).annotate(Count("id")).order_by("-id__count"))
    missing = _samples(study).filter(value=None).count()
    runs = Run.objects.filter(study_run__configuration__study=study)
    when = runs.aggregate(Count("id"), Min("created_at"), Max("created_at"))
    return StudyProvenance(
        sum(qualities.values()), when["id__count"], {str(Quality(name).label): n for name, n in qualities.items()}, missing,
        when["created_at__min"], when["created_at__max"],
    )  # fmt: skip


def _samples(study: Study) -> Any:
    return Sample.objects.filter(run__study_run__configuration__study=study)
