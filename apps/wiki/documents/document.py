"""The document of a study: title, source, set-up, procedure, results, questions, claims, caveats, remarks and provenance."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from django.conf import settings
from django.db.models import Count, Max, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from apps.comparison.caveats.rule import Caveat
from apps.comparison.claims.models import Claim
from apps.comparison.claims.presentation import matched_of
from apps.comparison.in_studies.caveats import caveats_of
from apps.comparison.in_studies.printed_results import Results, results_of
from apps.comparison.like_for_like.contrast_section import contrast_section
from apps.comparison.like_for_like.report_questions import ReportQuestions, questions_of_report
from apps.comparison.question import Question
from apps.core import units
from apps.core.tables import Document, Footer, LongTable, Picture, Section, Table, columns_of
from apps.runs.models import Run, Sample
from apps.studies.models import Study
from apps.studies.translations import in_words, pairs_of
from apps.wiki.documents.formats import ENGLISH, date, language_name, verdict
from apps.wiki.documents.machines import StudyMachines, sections_of
from apps.wiki.documents.procedure import Procedure, procedure_of
from apps.wiki.documents.report_questions import questions_section
from apps.wiki.documents.results import (
    Found,
    Own,
    measured_of,
    measured_sections,
    own_of,
    own_sections,
    printed_sections,
)
from apps.wiki.documents.translation import worded
from apps.wiki.sample_rows import FIELDS, Extent, flat, header

DIGITS = 12  # of the data's SHA-256 in the footer


@dataclass(frozen=True)
class Contents:
    """Inside the scope of the study's lab."""

    study: Study

    @cached_property
    def machines(self) -> StudyMachines:
        return StudyMachines.of(self.study)

    @cached_property
    def procedure(self) -> Procedure:
        return Procedure.of(self.study)

    @cached_property
    def results(self) -> Results:
        return results_of(self.study)

    @cached_property
    def compared(self) -> Sequence[Own]:
        return own_of(self.study)

    @cached_property
    def measured(self) -> Sequence[tuple[Question, Found]]:
        return measured_of(self.study)

    @cached_property
    def asked(self) -> ReportQuestions | None:
        return questions_of_report(self.study)

    @cached_property
    def claims(self) -> Sequence[Claim]:
        return list(Claim.objects.of_study(self.study).defer("computed", "sensitivity", "definition"))

    @cached_property
    def matched_claims(self) -> Sequence[Claim]:
        """Return the claims about questions with their answers."""
        about = [claim.pk for claim in self.claims if claim.is_about_question]
        return list(Claim.objects.filter(pk__in=about)) if about else []

    @cached_property
    def verdicts(self) -> dict[str, int]:
        counts: dict[str, int] = Claim.objects.of_study(self.study).verdicts()
        return counts

    @cached_property
    def caveats(self) -> Sequence[Caveat]:
        return caveats_of([self.study])[self.study.pk]


@dataclass(frozen=True)
class Addresses:
    """The addresses of a document's pictures and files.

    `picture(name)`: absolute address of a chart of the study as PNG; `file(name)`: its name as a file of the wiki,
    empty where the wiki has it not.
    """

    permalink: str
    picture: Callable[[str], str]
    file: Callable[[str], str] = lambda _name: ""

    def picture_of(self, name: str, words: str) -> Picture:
        return Picture(self.picture(name), words, self.file(name))


@dataclass(frozen=True)
class DocumentEvidence:
    """What all numbers are from. `digest` changes with every sample, and with nothing else; `content` with their facts too."""

    extent: Extent
    runs: int
    newest: datetime | None
    digest: str
    content: str


def document_of(study: Study, language: str, addresses: Addresses) -> Document:
    """Build the document in `language` (one of `formats.LANGUAGES`), with the study's own texts translated where they are.

    Called inside the scope of the study's lab.
    """
    evidence, translate = evidence_of(study), in_words(pairs_of(study, language))
    text = worded(written(Contents(study), language, addresses), translate)
    with translation.override(language):
        footer = Footer(_footer_text(evidence), addresses.permalink, _("Permalink"))
    return replace(text, footer=footer, data=_data(samples_of(study), evidence))


def written(contents: Contents, language: str, addresses: Addresses) -> Document:
    """Build what people read: headings and labels in `language`, the study's texts as written, without samples."""
    study = contents.study
    with translation.override(language):
        sections = [
            *_set_up(contents.machines),
            *procedure_of(contents.procedure),
            *_results(contents, addresses),
            *_questions(contents),
            *_claims(contents, language),
            *_caveats(contents),
            *_remarks(study),
        ]
        return Document(
            title=title_of(study, language),
            paragraphs=tuple(_introduction(study, language)),
            sections=tuple(sections),
            footer=Footer("", addresses.permalink),
            data=Table((), ()),
        )


def samples_alone(study: Study, language: str, addresses: Addresses) -> Document:
    """Build a document of samples alone, which is all that CSV needs, in constant memory."""
    data = _data(samples_of(study), evidence_of(study))
    return Document(title_of(study, language), (), (), Footer("", addresses.permalink), data)


def title_of(study: Study, language: str) -> str:
    """Return the title in English where that is asked for, else as the study has it."""
    return study.title_english or study.title if language == ENGLISH else study.title


def content_digest(document: Document) -> str:
    """Return the digest of everything but the footer, which has the time."""
    return hashlib.sha256(repr(replace(document, footer=Footer("", ""))).encode()).hexdigest()


def samples_of(study: Study) -> QuerySet[Sample]:
    samples: QuerySet[Sample] = Sample.objects.filter(run__study_run__configuration__study=study)
    return samples


def evidence_of(study: Study) -> DocumentEvidence:
    """Return what the numbers are from; reads all samples and keeps none in memory."""
    runs = Run.objects.filter(study_run__configuration__study=study)
    totals = runs.aggregate(n=Count("pk"), finished=Max("finished_at"), made=Max("created_at"))
    newest = max((at for at in (totals["finished"], totals["made"]) if at), default=None)
    samples = samples_of(study)
    extent = Extent.of(samples)
    digest, content = hashlib.sha256(b"["), hashlib.sha256()
    for number, row in enumerate(extent.rows(samples)):  # the first is that of one long list
        digest.update(f"{', ' if number else ''}{[row[name] for name in FIELDS]!r}".encode())
        content.update(repr(flat(row)).encode())
    digest.update(b"]")
    return DocumentEvidence(extent, totals["n"], newest, digest.hexdigest(), content.hexdigest())


def _introduction(study: Study, language: str) -> list[str]:
    other = study.title if language == ENGLISH else study.title_english
    facts = [
        (_("Original title") if language == ENGLISH else _("English title"), other if other != title_of(study, language) else ""),
        (_("Question"), study.question),
        (_("Site"), study.site),
        (_("Year"), study.year),
        (_("Language of the report"), language_name(study.language)),
        (_("Source"), "; ".join(line for line in study.source.splitlines() if line.strip())),
    ]  # fmt: skip
    return [f"{name}: {text}" for name, text in facts if text]


def _set_up(machines: StudyMachines) -> list[Section]:
    parts = sections_of(machines)
    return [Section(_("Set-up")), *parts] if parts else []


def _results(contents: Contents, addresses: Addresses) -> list[Section]:
    """Return the report's and people's results, or else all that was measured."""
    picture_of = addresses.picture_of
    reported = [*printed_sections(contents.results, picture_of), *own_sections(contents.compared, picture_of)]
    sections = reported or measured_sections(contents.measured)
    return [Section(_("Results"), paragraphs=() if sections else (_("Nothing has been measured yet."),)), *sections]


def _questions(contents: Contents) -> list[Section]:
    """Return what a published report asked with what its data support; nothing for a lab's own study."""
    return [questions_section(contents.asked)] if contents.asked else []


def _claims(contents: Contents, language: str) -> list[Section]:
    claims = contents.claims
    rows = [
        [
            claim.code,
            _statement(claim, language),
            verdict(claim.verdict),
            "; ".join(claim.reservations) or units.NO_VALUE,
            claim.source_lines,
        ]
        for claim in claims
    ]
    titles = [_("Claim"), _("Statement"), _("Verdict"), _("Confounders and caveats"), _("Lines of the report")]
    if not any(claim.source_lines for claim in claims):  # a study of one's own has no report
        titles, rows = titles[:-1], [row[:-1] for row in rows]
    counted = [verdict(word) + f": {n}" for word, n in contents.verdicts.items()]
    paragraphs = (_("Verdicts are computed from the data as they are now.") + " " + "; ".join(counted) + ".",)
    if not claims:
        return []
    return [
        Section(_("Claims"), paragraphs=paragraphs, table=Table.of(titles, rows)),
        *(section for claim in contents.matched_claims for section in _matched(claim)),
    ]


def _matched(claim: Claim) -> list[Section]:
    """Return the matched sets that a claim about a question rests on, with what differs beside the factor."""
    matched = matched_of(claim)
    if matched is None or matched.answer is None:
        return []
    code = f"{claim.code}: "
    answered = f"{matched.wanted}. {matched.sentence}"
    beside = tuple(f"{words}, {sets}" for words, sets in matched.confounders)
    sections = [Section(f"{code}{matched.title}, {matched.measure}", (answered, *beside, *matched.missing))]
    return [*sections, *(contrast_section(contrast, matched.factor, code) for contrast in matched.answer.contrasts)]


def _statement(claim: Claim, language: str) -> str:
    is_foreign = language == ENGLISH and bool(claim.statement_english)
    return claim.statement_english if is_foreign else claim.statement


def _caveats(contents: Contents) -> list[Section]:
    """Return the caveats of the whole study; those of claims and comparisons stand with these."""
    items = tuple(f"{_(caveat.title)}: {_(caveat.text)}" for caveat in contents.caveats)
    return [Section(_("Caveats"), items)] if items else []


def _remarks(study: Study) -> list[Section]:
    items = tuple(line.strip() for line in study.notes.splitlines() if line.strip())
    return [Section(_("Remarks and contradictions"), items)] if items else []


def _footer_text(evidence: DocumentEvidence) -> str:
    words = {
        "date": date(timezone.now()), "version": settings.VERSION, "samples": evidence.extent.count, "runs": evidence.runs,
        "digest": evidence.digest[:DIGITS],
    }  # fmt: skip
    made = _("Made %(date)s by Spindle %(version)s. Samples: %(samples)s, runs: %(runs)s.") % words
    newest = _("The newest came %(date)s.") % {"date": date(evidence.newest)} if evidence.newest else ""
    return " ".join(filter(None, [made, newest, _("Digest of the data: %(digest)s.") % words]))


def _data(samples: QuerySet[Sample], evidence: DocumentEvidence) -> LongTable:
    """Return all samples in base units, as in CSV."""
    return LongTable(
        columns_of(header()),
        (),
        make=lambda: (tuple(flat(row)) for row in evidence.extent.rows(samples)),
        digest=evidence.content,
    )
