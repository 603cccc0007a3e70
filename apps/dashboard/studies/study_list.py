"""The list of studies: question, contents and caveats of each, in a constant number of queries."""

from dataclasses import dataclass

from django.db.models import Count, Q

from apps.comparison.caveats.rule import Caveat
from apps.comparison.claims.models import Claim
from apps.comparison.in_studies.caveats import caveats_of
from apps.runs.states import State
from apps.studies.models import Study

MOST_CAVEATS = 3


@dataclass(frozen=True)
class ListedStudy:
    study: Study
    configurations: int
    runs: int
    verdicts: dict[str, int]
    caveats: list[Caveat]

    @property
    def claims(self) -> int:
        return sum(self.verdicts.values())

    @property
    def first_caveats(self) -> list[Caveat]:
        return self.caveats[:MOST_CAVEATS]

    @property
    def more_caveats(self) -> int:
        return max(0, len(self.caveats) - MOST_CAVEATS)


def listed(studies: list[Study]) -> list[ListedStudy]:
    keys = [study.pk for study in studies]
    counts = {pk: (configurations, runs) for pk, configurations, runs in _counts(keys)}
    verdicts: dict[int, dict[str, int]] = {pk: {} for pk in keys}
    claims = Claim.objects.filter(study__in=keys).order_by().values_list("study", "verdict").annotate(Count("id"))
    for pk, verdict, number in claims:
        verdicts[pk][verdict] = number
    caveats = caveats_of(studies)
    return [ListedStudy(study, *counts[study.pk], verdicts[study.pk], caveats[study.pk]) for study in studies]


def _counts(keys: list[int]) -> list[tuple[int, int, int]]:
    finished = Q(configurations__study_runs__run__state=State.FINISHED)
    studies = Study.objects.filter(pk__in=keys).annotate(
        held=Count("configurations", distinct=True),
        runs=Count("configurations__study_runs", distinct=True, filter=finished),
    )
    return list(studies.values_list("pk", "held", "runs"))
