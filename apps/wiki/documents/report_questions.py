"""What a published report asked, in its own words, with what its own data support: a section of its document."""

from dataclasses import replace

from django.utils.translation import gettext as _

from apps.comparison.labels import label_of
from apps.comparison.like_for_like.answers import FactorAnswer
from apps.comparison.like_for_like.report_questions import AskedQuestion, ReportQuestions
from apps.comparison.like_for_like.sentences import all_missing_words, sentence, unjudged_text
from apps.comparison.questions import BY_NAME
from apps.core import units
from apps.core.tables import Section, Table


def questions_section(report: ReportQuestions) -> Section:
    """Return the section: a row for each question."""
    titles = [_("Question"), _("In the report's own words"), _("What its data support"), _("What is missing")]
    rows = [_row(asked, answer) for asked, answer in zip(report.asked, report.answers, strict=True)]
    table = Table.of(titles, rows, row_heads=True)
    # the words are the report's own or already in the document's language: nothing for a translator
    return Section(_("What the report asked"), table=replace(table, is_quoted=True))


def _row(asked: AskedQuestion, answer: FactorAnswer) -> list[str]:
    factor = BY_NAME[asked.factor]
    support = [sentence(answer, factor), unjudged_text(answer, factor)]
    if answer.nowhere:
        names = ", ".join(_(label_of(name)) for name in answer.nowhere)
        support.append(f"{_('Could not be held, because no run tells them:')} {names}")
    missing = "; ".join(all_missing_words(answer, factor)) or units.NO_VALUE
    supported = ". ".join(text.rstrip(".") for text in support if text)  # some are sentences, with their full stop
    return [str(factor.title), _words_of_report(asked), supported, missing]


def _words_of_report(asked: AskedQuestion) -> str:
    """Return `“…” (a translation, lines 12-14)`."""
    place = _("lines %(lines)s") % {"lines": asked.lines}
    if "-" not in asked.lines:
        place = _("line %(line)s") % {"line": asked.lines}
    return f"“{asked.quote}” ({', '.join(filter(None, [asked.english, place]))})"
