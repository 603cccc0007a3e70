"""A claim's stored numbers as tables for pages."""

from dataclasses import dataclass
from typing import Any

from apps.comparison.claims.checks.definition import DefinitionError
from apps.comparison.claims.matched.presentation import MatchedClaim
from apps.comparison.claims.models import Claim
from apps.comparison.saved_comparisons.references import LostReferenceError
from apps.core.quantities import quantity
from apps.core.units import NO_VALUE
from apps.runs.metrics import METRICS
from apps.runs.models import Sample

MOST_LINES, MOST_RUNS = 60, 6
STATES = {"holds": "holds", "partly": "holds in part", "fails": "does not hold", "no data": "not checkable"}


@dataclass(frozen=True)
class CheckRow:
    """One comparison; `runs` are those whose samples it is from, the first few of them."""

    at: str
    words: str
    holds: bool | None
    runs: list[int]
    more_runs: int


@dataclass(frozen=True)
class CheckTable:
    sentence: str
    name: str
    state: str
    words: str
    rows: list[CheckRow]
    holds: int
    made: int
    total: int
    left_out: int

    @property
    def hidden(self) -> int:
        return self.total - len(self.rows)

    @property
    def has_places(self) -> bool:
        return any(row.at for row in self.rows)


def check_tables(claim: Claim) -> list[CheckTable]:
    """Return the tables of a claim's checks; one query for the runs of all samples."""
    runs = dict(Sample.objects.filter(pk__in=claim.samples).values_list("pk", "run_id"))
    return [table_of(check, runs) for check in claim.computed.get("checks", [])]


def matched_of(claim: Claim) -> MatchedClaim | None:
    """Return a claim about a question with its matched sets; None for one with checks, or whose question is lost."""
    if not claim.is_about_question:
        return None
    try:
        claimed = claim.claimed
    except (DefinitionError, LostReferenceError):
        return None
    return MatchedClaim(claimed, claim.computed, claim.evidence, claim.verdict)


def table_of(check: dict[str, Any], runs: dict[int, int]) -> CheckTable:
    lines = sorted(check["lines"], key=lambda line: line["holds"] is not False)  # what fails is what people look for
    return CheckTable(
        check["sentence"], check["name"], check["state"], STATES[check["state"]],
        [_row(line, runs) for line in lines[:MOST_LINES]],
        check["holds"], check["made"], len(lines), check["left_out"],
    )  # fmt: skip


def _row(line: dict[str, Any], runs: dict[int, int]) -> CheckRow:
    run_ids = list(dict.fromkeys(runs[pk] for pk in line["samples"] if pk in runs))
    return CheckRow(line["at"], line["words"], line["holds"], run_ids[:MOST_RUNS], max(0, len(run_ids) - MOST_RUNS))


def doubt_rows(claim: Claim) -> list[dict[str, Any]]:
    """Return the alternative readings that would change the verdict, as quantities that the page formats."""
    samples = [doubt["sample"] for doubt in claim.overturned_by]
    metrics = dict(Sample.objects.filter(pk__in=samples).values_list("pk", "measure__metric"))
    return [
        {
            **doubt,
            "taken": _value(doubt["instead_of"], metrics.get(doubt["sample"])),
            "other": _value(doubt["value"], metrics.get(doubt["sample"])),
        }
        for doubt in claim.overturned_by
    ]


def _value(value: float | None, metric: str | None) -> str:
    return NO_VALUE if value is None else quantity(value, METRICS[metric].unit if metric in METRICS else "")
