"""What the document of a study is made of: asked for once, in however many languages it is then written."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from apps.comparison.caveats.rule import Caveat
from apps.comparison.claiming.models import Claim
from apps.comparison.in_studies.models import StudyComparison
from apps.comparison.question import Question
from apps.comparison.study_caveats import caveats_of
from apps.comparison.study_results import Results, results_of
from apps.publishing.study_pages.machines import Machines
from apps.publishing.study_pages.procedure import Procedure
from apps.publishing.study_pages.results import Found, measured_of, own_of
from apps.studies.models import Study


@dataclass(frozen=True)
class Contents:
    """Inside the scope of the study's lab."""

    study: Study

    @cached_property
    def machines(self) -> Machines:
        return Machines.of(self.study)

    @cached_property
    def procedure(self) -> Procedure:
        return Procedure.of(self.study)

    @cached_property
    def results(self) -> Results:
        return results_of(self.study)

    @cached_property
    def compared(self) -> Sequence[tuple[StudyComparison, Found]]:
        return own_of(self.study)

    @cached_property
    def measured(self) -> Sequence[tuple[Question, Found]]:
        return measured_of(self.study)

    @cached_property
    def claims(self) -> Sequence[Claim]:
        return list(Claim.objects.of_study(self.study).defer("computed", "sensitivity", "definition"))

    @cached_property
    def verdicts(self) -> dict[str, int]:
        found: dict[str, int] = Claim.objects.of_study(self.study).verdicts()
        return found

    @cached_property
    def caveats(self) -> Sequence[Caveat]:
        return caveats_of([self.study])[self.study.pk]
