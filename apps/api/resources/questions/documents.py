"""Answers as documents for wikis."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext as _

from apps.api.documents import SHOWN_LINES, made
from apps.comparison.labels import label_of
from apps.comparison.like_for_like.answers import FactorAnswer
from apps.comparison.like_for_like.contrast_section import contrast_section
from apps.comparison.like_for_like.report import QuestionReport
from apps.comparison.like_for_like.sentences import (
    METHOD,
    all_missing_words,
    labels_of_strata,
    measure_words,
    nearest_words,
    reason,
    sentence,
)
from apps.comparison.like_for_like.set_caveats.findings import SetCaveats
from apps.comparison.like_for_like.set_caveats.words import caveat_rows, looked_words
from apps.comparison.questions import BY_NAME
from apps.core.quantities import all_written
from apps.core.tables import Cell, Document, Footer, Section, Table
from apps.core.unit_base import base

CSV_FIELDS = (
    "question", "operation", "metric", "level", "against", "stratum", "n", "n_against", "ratio", "low", "high",
    "log_ratio", "log_variance", "finding", "p", "p_adjusted", "method", "tau2", "i2",
)  # fmt: skip


def of_answer(answer: FactorAnswer, caveats: SetCaveats, permalink: str) -> Document:
    """Return one answer as a document: its sentence, what stands against its values, its strata, and what is missing."""
    factor = BY_NAME[answer.factor]
    rows = caveat_rows(caveats)
    return Document(
        title=f"{factor.title}: {measure_words(answer)}",
        paragraphs=(sentence(answer, factor), *(row.warning for row in rows if row.warning)),
        sections=tuple(_sections(answer, caveats)),
        footer=Footer(made(f"{answer.runs} runs in {answer.sets} matched sets", None), permalink),
        data=_table([answer]),
    )


def of_report(report: QuestionReport, permalink: str, newest: datetime | None = None) -> Document:
    """Return all questions as a document: a table of answers, and one of what is missing."""
    sections = []
    if report.answered:
        rows = [
            [str(BY_NAME[answer.factor].title), measure_words(answer), sentence(answer, BY_NAME[answer.factor])]
            for answer in report.answered
        ]
        sections.append(Section(_("Answers"), table=Table.of([_("Question"), _("Measure"), _("Answer")], rows)))
    if report.open:
        rows = [
            [
                str(BY_NAME[answer.factor].title),
                reason(answer, BY_NAME[answer.factor]),
                "; ".join(all_missing_words(answer, BY_NAME[answer.factor])),
            ]
            for answer in report.open
        ]
        titles = [_("Question"), _("Why"), _("What is missing")]
        sections.append(Section(_("Not answerable yet"), table=Table.of(titles, rows)))
    sections.append(Section(_("Method"), (str(METHOD),)))
    return Document(
        title=_("Questions with everything else held equal"),
        paragraphs=(),
        sections=tuple(sections),
        footer=Footer(made(f"{report.runs} runs", newest), permalink),
        data=_table(report.answers),
    )


def _sections(answer: FactorAnswer, caveats: SetCaveats) -> list[Section]:
    sections = [contrast_section(contrast, BY_NAME[answer.factor]) for contrast in answer.contrasts]
    if lines := _caveat_lines(caveats):
        sections.append(Section(_("Caveats"), tuple(lines)))
    if answer.nearest:
        sections.append(Section(_("Nearest pairs"), tuple(map(nearest_words, answer.nearest))))
    if missing := all_missing_words(answer, BY_NAME[answer.factor]):
        sections.append(Section(_("What is missing"), tuple(missing)))
    held = ", ".join(_(label_of(name)) for name in answer.held)
    if held:
        sections.append(Section(_("Held equal"), (held,)))
    if answer.nowhere:
        names = ", ".join(_(label_of(name)) for name in answer.nowhere)
        sections.append(Section(_("Could not be held, because no run tells them"), (names,)))
    return [*sections, Section(_("Method"), (str(METHOD),))]


def _caveat_lines(caveats: SetCaveats) -> list[str]:
    """Return a paragraph for each caveat, and where not all runs were looked at one that says so."""
    paragraphs = []
    for row in caveat_rows(caveats):
        lines = all_written(row.lines, base())
        more = len(lines) - SHOWN_LINES
        told = "; ".join([*lines[:SHOWN_LINES], *([_("and %(n)s more") % {"n": more}] if more > 0 else [])])
        paragraphs.append(f"{row.title} ({row.where}): {row.text} {told}")
    looked = looked_words(caveats)
    return [*paragraphs, looked] if looked else paragraphs


def _table(answers: Sequence[FactorAnswer]) -> Table:
    """Return one row for each stratum, and one for each combined effect, whose stratum is empty."""
    rows: list[list[Cell]] = []
    for answer in answers:
        for contrast in answer.contrasts:
            own = [answer.factor, answer.operation, answer.metric, contrast.level, contrast.against]
            labels = labels_of_strata(contrast.effects)
            for effect, label in zip(contrast.effects, labels, strict=True):
                low, high = effect.interval or (None, None)
                logs = [effect.logs.value, effect.logs.variance] if effect.logs else [None, None]
                rows.append([*own, label, *effect.n, effect.ratio, low, high, *logs, *[None] * 6])
            if combined := contrast.combination:
                logs = [combined.value, combined.error**2] if contrast.common else [None, None]
                figures = [contrast.ratio, *(contrast.interval or (None, None)), *logs]
                judged = [contrast.finding.value, combined.p, contrast.p_adjusted, combined.method]
                rows.append([*own, "", None, None, *figures, *judged, combined.tau2, combined.i2])
    return Table.of(CSV_FIELDS, rows)
