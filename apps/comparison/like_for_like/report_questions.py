"""The questions that published reports asked, in their own words, with what their own data support.

Which questions a report asked, and its words for each, stand under `asked` in its study.yaml.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from apps.comparison.like_for_like.answers import FactorAnswer, judge
from apps.comparison.like_for_like.fact_codes import FactCodes
from apps.comparison.like_for_like.report import ALWAYS, first_answer
from apps.comparison.like_for_like.run_group import RunGroup
from apps.comparison.like_for_like.selection import FactorSelection
from apps.comparison.queries.run_groups import load_groups
from apps.comparison.questions import BY_NAME, MEASURES
from apps.comparison.questions.factor import Measure
from apps.studies.models import Study
from apps.studies.report_files import report_of


@dataclass(frozen=True)
class AskedQuestion:
    """One question of a report: the factor, the report's words, a translation, and the lines where they stand."""

    factor: str
    quote: str
    english: str
    lines: str


@dataclass(frozen=True)
class ReportQuestions:
    """One report: what it asked, and the answers that its runs give, in the same order."""

    study: Study
    asked: tuple[AskedQuestion, ...]
    answers: tuple[FactorAnswer, ...]


def asked_of(study: Study) -> tuple[AskedQuestion, ...]:
    """Return what a published report asked; nothing for a lab's own study."""
    found = report_of(study)
    entries = found.told.get("asked", []) if found else []
    return tuple(
        AskedQuestion(
            entry["question"], str(entry["quote"]).strip(), str(entry.get("english", "")).strip(), str(entry["lines"])
        )
        for entry in entries
    )


def questions_of_reports(labs: Collection[int]) -> list[ReportQuestions]:
    """Return the questions of the reports in these labs; a constant number of statements."""
    studies = Study.objects.filter(lab__in=labs, lab__is_published=True).select_related("lab").order_by("slug")
    asking = [study for study in studies if asked_of(study)]
    if not asking:
        return []
    groups = load_groups(labs, MEASURES)
    return [_questions(study, groups) for study in asking]


def questions_of_report(study: Study) -> ReportQuestions | None:
    """Return the questions of one report; None where it asked none, or is a lab's own study."""
    return _questions(study, load_groups([study.lab_id], MEASURES, study.slug)) if asked_of(study) else None


def _questions(study: Study, groups: Mapping[Measure, Sequence[RunGroup]]) -> ReportQuestions:
    asked = asked_of(study)
    own = {m: [one for one in some if one.texts.get("study") == study.slug] for m, some in groups.items()}
    codes: dict[Measure, FactCodes] = {m: FactCodes(some, ALWAYS) for m, some in own.items()}
    answers = judge([first_answer(BY_NAME[one.factor], own, FactorSelection(), codes) for one in asked])
    return ReportQuestions(study, asked, tuple(answers))
