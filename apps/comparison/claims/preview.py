"""The preview of a draft: the samples that its groups match, its comparisons and its verdict."""

from dataclasses import dataclass, field

from apps.comparison.claims.checks.definition import ClaimDefinition
from apps.comparison.claims.checks.doubts import sensitivity
from apps.comparison.claims.checks.selection import chosen
from apps.comparison.claims.checks.terms import Labels, name_of
from apps.comparison.claims.checks.validation import samples_in
from apps.comparison.claims.checks.verdicts import judge
from apps.comparison.claims.draft import ClaimDraft
from apps.comparison.claims.evidence import evidence_of, whole_readings
from apps.comparison.claims.presentation import CheckTable, table_of
from apps.comparison.claims.readings import TooManyClaimSamplesError, labels_of, readings_of
from apps.comparison.labels import operation_of, text_of
from apps.comparison.readings import Reading
from apps.core.quantities import quantity
from apps.runs.metrics import METRICS

MOST_NAMED = 4


@dataclass(frozen=True)
class Matched:
    """A group of samples: how many it matches, and the first of them."""

    name: str
    count: int
    first: list[str]

    @property
    def more(self) -> int:
        return self.count - len(self.first)


@dataclass(frozen=True)
class ClaimPreview:
    problems: list[str] = field(default_factory=list)
    verdict: str = ""
    checks: list[tuple[CheckTable, list[Matched]]] = field(default_factory=list)
    overturned_by: int = 0
    tried: int = 0
    beside: list[str] = field(default_factory=list)  # confounders and caveats, a few words each


def preview_of(draft: ClaimDraft) -> ClaimPreview:
    if draft.posted is None and draft.claim is None:
        return ClaimPreview()
    problems = [f"Check {part.place + 1}: {part.problem}" for part in draft.parts if part.problem]
    definition = draft.definition if draft.posted is not None else draft.claim.form if draft.claim else None
    if definition is None:
        return ClaimPreview(problems or ["A claim has at least one check."])
    try:
        readings = readings_of(draft.study, [definition])
    except TooManyClaimSamplesError as error:
        return ClaimPreview([str(error)])
    labels = labels_of(draft.study)
    judged = judge(definition, readings, labels)
    doubts = sensitivity(definition, readings, judged.verdict)
    tables = [table_of(check, {}) for check in judged.computed["checks"]]
    matched = [_matched(ClaimDefinition([check]), readings, labels) for check in definition.checks]
    context = evidence_of(definition, judged, readings, whole_readings(judged.samples), labels)
    beside = [*(entry["text"] for entry in context["confounders"]), *(entry["title"] for entry in context["caveats"])]
    checks = list(zip(tables, matched, strict=True))
    return ClaimPreview([], judged.verdict, checks, len(doubts.doubts), doubts.tried, beside)


def _matched(of: ClaimDefinition, readings: list[Reading], labels: Labels) -> list[Matched]:
    groups = []
    for samples in samples_in(of):
        matches = chosen(samples, readings)
        groups.append(
            Matched(name_of(samples, labels), len(matches), [_words(reading) for reading in matches[:MOST_NAMED]])
        )
    return groups


def _words(reading: Reading) -> str:
    """Return a sample in words, such as `write 2000 MiB, single SATA disk: 84.0 MB/s`."""
    size = f" {text_of('file_size', reading.file_size)}" if reading.file_size else ""
    value = (
        quantity(reading.value, METRICS[reading.metric].unit)
        if reading.value is not None
        else reading.missing_reason or "a range"
    )
    return f"{operation_of(reading.operation)}{size}, {reading.facts.get('label', '')}: {value}"
