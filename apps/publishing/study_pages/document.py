"""The document of a study: title, source, set-up, procedure, results, claims, caveats, remarks, and where it is from."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.conf import settings
from django.db.models import Count, Max, QuerySet
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from apps.comparison.caveats.rule import Caveat
from apps.comparison.claiming.models import Claim
from apps.lib.tables import Document, Footer, LongTable, Picture, Section, Table, columns_of
from apps.publishing.rows import FIELDS, Extent, flat, header
from apps.publishing.study_pages.contents import Contents
from apps.publishing.study_pages.machines import Machines, sections_of
from apps.publishing.study_pages.printed import printed_sections
from apps.publishing.study_pages.procedure import procedure_of
from apps.publishing.study_pages.results import measured_sections, own_sections
from apps.publishing.study_pages.worded import worded
from apps.publishing.study_pages.words import ENGLISH, date, language_name, verdict
from apps.runs.models import Run, Sample
from apps.studies.models import Study
from apps.studies.wording import in_words, pairs_of

DIGITS = 12  # of the data's SHA-256 in the footer


@dataclass(frozen=True)
class Addresses:
    """`picture(name)`: absolute address of a chart of the study as PNG; `file(name)`: its name as a file of the wiki, empty
    where the wiki has it not.
    """

    permalink: str
    picture: Callable[[str], str]
    file: Callable[[str], str] = lambda _name: ""

    def picture_of(self, name: str, words: str) -> Picture:
        return Picture(self.picture(name), words, self.file(name))


@dataclass(frozen=True)
class Evidence:
    """What all numbers are from. `digest` changes with every sample, and with nothing else; `content` with their facts too."""

    extent: Extent
    runs: int
    newest: datetime | None
    digest: str
    content: str


def document_of(study: Study, language: str, addresses: Addresses) -> Document:
    """In `language` (one of `words.LANGUAGES`), the study's own texts too where they were put in its words; inside the scope of its lab."""
    evidence, said = evidence_of(study), in_words(pairs_of(study, language))
    text = worded(written(Contents(study), language, addresses), said)
    with translation.override(language):
        footer = Footer(_made(evidence), addresses.permalink, _("Permalink"))
    return replace(text, footer=footer, data=_data(samples_of(study), evidence))


def written(contents: Contents, language: str, addresses: Addresses) -> Document:
    """What people read: headings and labels in `language`, the study's own texts as they were written. Without samples."""
    study = contents.study
    with translation.override(language):
        sections = [
            *_set_up(contents.machines),
            *procedure_of(contents.procedure),
            *_results(contents, addresses),
            *_claims(contents, language),
            *_caveats(contents.caveats),
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
    """The samples without anything that is said of them: all that CSV has of a document, in constant memory."""
    data = _data(samples_of(study), evidence_of(study))
    return Document(title_of(study, language), (), (), Footer("", addresses.permalink), data)


def title_of(study: Study, language: str) -> str:
    """In English where that is asked for, else as the study has it."""
    return study.title_english or study.title if language == ENGLISH else study.title


def content_digest(document: Document) -> str:
    """Of everything but the footer, which knows the clock."""
    return hashlib.sha256(repr(replace(document, footer=Footer("", ""))).encode()).hexdigest()


def samples_of(study: Study) -> QuerySet[Sample]:
    found: QuerySet[Sample] = Sample.objects.filter(run__study_run__configuration__study=study)
    return found


def evidence_of(study: Study) -> Evidence:
    """Reads all samples, and keeps none."""
    runs = Run.objects.filter(study_run__configuration__study=study)
    found = runs.aggregate(n=Count("pk"), finished=Max("finished_at"), made=Max("created_at"))
    newest = max((at for at in (found["finished"], found["made"]) if at), default=None)
    samples = samples_of(study)
    extent = Extent.of(samples)
    digest, content = hashlib.sha256(b"["), hashlib.sha256()
    for number, row in enumerate(extent.rows(samples)):  # the first is that of one long list
        digest.update(f"{', ' if number else ''}{[row[name] for name in FIELDS]!r}".encode())
        content.update(repr(flat(row)).encode())
    digest.update(b"]")
    return Evidence(extent, found["n"], newest, digest.hexdigest(), content.hexdigest())


def _introduction(study: Study, language: str) -> list[str]:
    other = study.title if language == ENGLISH else study.title_english
    told = [
        (_("Original title") if language == ENGLISH else _("English title"), other if other != title_of(study, language) else ""),
        (_("Question"), study.question),
        (_("Site"), study.site),
        (_("Year"), study.year),
        (_("Language of the report"), language_name(study.language)),
        (_("Source"), "; ".join(line for line in study.source.splitlines() if line.strip())),
    ]  # fmt: skip
    return [f"{name}: {text}" for name, text in told if text]


def _set_up(machines: Machines) -> list[Section]:
    found = sections_of(machines)
    return [Section(_("Set-up")), *found] if found else []


def _results(contents: Contents, addresses: Addresses) -> list[Section]:
    """What the report printed and what people compared; where there is neither, all that was measured."""
    picture_of = addresses.picture_of
    reported = [*printed_sections(contents.results, picture_of), *own_sections(contents.compared, picture_of)]
    found = reported or measured_sections(contents.measured)
    return [Section(_("Results"), paragraphs=() if found else (_("Nothing has been measured yet."),)), *found]


def _claims(contents: Contents, language: str) -> list[Section]:
    claims = contents.claims
    rows = [[one.code, _statement(one, language), verdict(one.verdict), one.source_lines] for one in claims]
    titles = [_("Claim"), _("Statement"), _("Verdict"), _("Lines of the report")]
    if not any(one.source_lines for one in claims):  # a study of one's own has no report
        titles, rows = titles[:-1], [row[:-1] for row in rows]
    counted = [verdict(word) + f": {n}" for word, n in contents.verdicts.items()]
    said = (_("Verdicts are computed from the data as they are now.") + " " + "; ".join(counted) + ".",)
    return [Section(_("Claims"), paragraphs=said, table=Table.of(titles, rows))] if claims else []


def _statement(claim: Claim, language: str) -> str:
    is_foreign = language == ENGLISH and bool(claim.statement_english)
    return claim.statement_english if is_foreign else claim.statement


def _caveats(found: Iterable[Caveat]) -> list[Section]:
    items = tuple(f"{_(one.title)}: {_(one.text)}" for one in found)
    return [Section(_("Caveats"), items)] if items else []


def _remarks(study: Study) -> list[Section]:
    items = tuple(line.strip() for line in study.notes.splitlines() if line.strip())
    return [Section(_("Remarks and contradictions"), items)] if items else []


def _made(evidence: Evidence) -> str:
    words = {
        "date": date(timezone.now()), "version": settings.VERSION, "samples": evidence.extent.count, "runs": evidence.runs,
        "digest": evidence.digest[:DIGITS],
    }  # fmt: skip
    made = _("Made %(date)s by Spindle %(version)s. Samples: %(samples)s, runs: %(runs)s.") % words
    newest = _("The newest came %(date)s.") % {"date": date(evidence.newest)} if evidence.newest else ""
    return " ".join(filter(None, [made, newest, _("Digest of the data: %(digest)s.") % words]))


def _data(samples: QuerySet[Sample], evidence: Evidence) -> LongTable:
    """All samples in base units: what CSV is."""
    return LongTable(
        columns_of(header()),
        (),
        make=lambda: (tuple(flat(row)) for row in evidence.extent.rows(samples)),
        digest=evidence.content,
    )
