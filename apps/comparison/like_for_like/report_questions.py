"""The questions that published reports asked, with what their own data support."""

from collections.abc import Collection
from dataclasses import dataclass

from apps.comparison.like_for_like.answers import FactorAnswer, judge
from apps.comparison.like_for_like.fact_codes import FactCodes
from apps.comparison.like_for_like.report import ALWAYS, first_answer
from apps.comparison.like_for_like.selection import FactorSelection
from apps.comparison.queries.run_groups import load_groups
from apps.comparison.questions import BY_NAME, MEASURES
from apps.comparison.questions.factor import Measure
from apps.studies.models import Study

# A report → the questions that it asked, in its order.
ASKED = {
    "crs4-sata-scsi": ("interface", "raid_level", "raid_implementation"),
    "thumper-x4500": ("filesystem", "raid_level"),
    "tristan-sas-sata": ("interface", "environment", "controller_cache"),
}


@dataclass(frozen=True)
class ReportQuestions:
    """One report: what it asked in its own words, and the answers that its runs give."""

    study: Study
    answers: tuple[FactorAnswer, ...]


def questions_of_reports(labs: Collection[int]) -> list[ReportQuestions]:
    """Return the questions of the reports in these labs; a constant number of statements."""
    studies = {
        study.slug: study for study in Study.objects.filter(lab__in=labs, slug__in=ASKED, lab__is_published=True)
    }
    if not studies:
        return []
    groups = load_groups(labs, MEASURES)
    reports = []
    for slug, names in ASKED.items():
        if slug in studies:
            own = {m: [one for one in some if one.texts.get("study") == slug] for m, some in groups.items()}
            codes: dict[Measure, FactCodes] = {m: FactCodes(some, ALWAYS) for m, some in own.items()}
            answers = judge([first_answer(BY_NAME[name], own, FactorSelection(), codes) for name in names])
            reports.append(ReportQuestions(studies[slug], tuple(answers)))
    return reports
