"""What would come of a claim as it is typed now: the samples that its groups match, its comparisons and its verdict."""

from dataclasses import dataclass, field

from apps.comparison.claiming.draft import ClaimDraft
from apps.comparison.claiming.readings import TooManySamplesError, labels_of, readings_of
from apps.comparison.claiming.shown import CheckTable, table_of
from apps.comparison.claims.checked import samples_in
from apps.comparison.claims.doubts import sensitivity
from apps.comparison.claims.form import Definition
from apps.comparison.claims.judging import judge
from apps.comparison.claims.selection import chosen
from apps.comparison.claims.terms import Labels, name_of
from apps.comparison.readings import Reading
from apps.comparison.words import operation_of, text_of
from apps.lib.quantities import quantity
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
class Preview:
    problems: list[str] = field(default_factory=list)
    verdict: str = ""
    checks: list[tuple[CheckTable, list[Matched]]] = field(default_factory=list)
    overturned_by: int = 0
    tried: int = 0


def preview_of(draft: ClaimDraft) -> Preview:
    if draft.posted is None and draft.claim is None:
        return Preview()
    problems = [f"Check {part.place + 1}: {part.problem}" for part in draft.parts if part.problem]
    definition = draft.definition if draft.posted is not None else draft.claim.form if draft.claim else None
    if definition is None:
        return Preview(problems or ["A claim has at least one check."])
    try:
        readings = readings_of(draft.study, [definition])
    except TooManySamplesError as error:
        return Preview([str(error)])
    labels = labels_of(draft.study)
    judged = judge(definition, readings, labels)
    doubts = sensitivity(definition, readings, judged.verdict)
    tables = [table_of(check, {}) for check in judged.computed["checks"]]
    matched = [_matched(Definition([check]), readings, labels) for check in definition.checks]
    return Preview([], judged.verdict, list(zip(tables, matched, strict=True)), len(doubts.doubts), doubts.tried)


def _matched(of: Definition, readings: list[Reading], labels: Labels) -> list[Matched]:
    groups = []
    for samples in samples_in(of):
        found = chosen(samples, readings)
        groups.append(Matched(name_of(samples, labels), len(found), [_words(one) for one in found[:MOST_NAMED]]))
    return groups


def _words(one: Reading) -> str:
    """`write 2000 MiB, single SATA disk: 84.0 MB/s`."""
    size = f" {text_of('file_size', one.file_size)}" if one.file_size else ""
    value = quantity(one.value, METRICS[one.metric].unit) if one.value is not None else one.missing_reason or "a range"
    return f"{operation_of(one.operation)}{size}, {one.facts.get('label', '')}: {value}"
