"""Confounders and caveats of a claim's samples, shown beside its verdict."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.comparison import caveats
from apps.comparison.claims.checks.definition import AnyCheck, ClaimDefinition, Monotony, SampleGroup
from apps.comparison.claims.checks.selection import chosen
from apps.comparison.claims.checks.terms import Labels, name_of
from apps.comparison.claims.checks.validation import samples_in
from apps.comparison.claims.checks.verdicts import JudgedClaim
from apps.comparison.confounders import KINDS, confounders, table
from apps.comparison.queries.samples import OWN_COLUMNS, as_dicts, beside_of, readings_of
from apps.comparison.readings import LABEL, Reading
from apps.runs.models import Sample

MOST_LINES = 8  # of a caveat's arithmetic
CONFIGURATIONS = (LABEL, "configuration")


def whole_readings(samples: Iterable[int]) -> dict[int, Reading]:
    """Return samples with all that caveats look at, by id. A constant number of queries."""
    rows_found = Sample.objects.filter(pk__in=list(samples)).order_by("id").values_list(*OWN_COLUMNS)
    rows = as_dicts(rows_found)
    return {reading.id: reading for reading in readings_of(rows, beside_of(rows))} if rows else {}


def evidence_of(
    definition: ClaimDefinition,
    judged: JudgedClaim,
    readings: Sequence[Reading],
    whole: Mapping[int, Reading],
    labels: Labels,
) -> dict[str, Any]:
    """Return the confounders and caveats of a judged claim.

    Shape: `{"confounders": [{fact, kind, text, distinct, comparisons}], "caveats": [{rule, title, text,
    arithmetic}]}`, each once. Differences are looked for inside each comparison of a check, since what is matched
    there is no confounder. `text` is of the first of the `comparisons` in which the fact differs.

    `readings` are those the claim was judged on, `whole` the same samples with what caveats need.
    """
    entries: dict[str, dict[str, Any]] = {}
    cells: dict[tuple[Any, str], list[Reading]] = {}
    whole = _with_their_jobs(whole, readings)
    for number, (check, outcome) in enumerate(zip(definition.checks, judged.outcomes, strict=True)):
        groups = _groups(check, readings, labels)
        compared = _compared(check)
        for place, line in enumerate(outcome.lines):
            used = {
                name: [whole[pk] for pk in line.samples if pk in ids and pk in whole] for name, ids in groups.items()
            }
            used = {name: some for name, some in used.items() if some}
            for confounder in confounders(table(used, compared)):
                known = entries.setdefault(
                    confounder.fact,
                    {
                        "fact": confounder.fact,
                        "kind": confounder.kind,
                        "text": confounder.text,
                        "distinct": confounder.distinct,
                        "comparisons": 0,
                    },
                )
                known["comparisons"] += 1
            cells |= {((number, place), name): some for name, some in used.items()}
    ordered = sorted(entries.values(), key=lambda entry: (KINDS.index(entry["kind"]), entry["fact"]))
    return {"confounders": ordered, "caveats": [caveat_entry(caveat) for caveat in caveats.of_cells(cells)]}


def _with_their_jobs(whole: Mapping[int, Reading], readings: Sequence[Reading]) -> dict[int, Reading]:
    """Return the readings with the job of each among its facts where its run has several, so that unlike jobs are confounders."""
    jobs = {reading.id: reading.part for reading in readings if reading.part}
    return {
        pk: replace(reading, facts={**reading.facts, **jobs[pk]}) if pk in jobs else reading
        for pk, reading in whole.items()
    }


def _groups(check: AnyCheck, readings: Sequence[Reading], labels: Labels) -> dict[str, set[int]]:
    """Return the sample ids of each term of a check by the term's name; two terms of one name are told apart."""
    groups: dict[str, set[int]] = {}
    for samples in samples_in(ClaimDefinition([check])):
        name = name_of(samples, labels)
        groups[f"{name} ({len(groups) + 1})" if name in groups else name] = {
            reading.id for reading in chosen(samples, readings)
        }
    return groups


def _compared(check: AnyCheck) -> set[str]:
    """Return the names that the check itself selects by, or makes its comparisons for."""
    terms: list[SampleGroup] = list(samples_in(ClaimDefinition([check])))
    names = {condition.name for samples in terms for condition in samples.where} | set(check.per)
    names |= {samples.take for samples in terms if samples.take != "value"}
    if isinstance(check, Monotony):
        names.add(check.along)
    return names | (set(CONFIGURATIONS) if any(samples.configurations for samples in terms) else set())


def caveat_entry(caveat: Any) -> dict[str, Any]:
    lines = list(caveat.arithmetic)
    more = len(lines) - MOST_LINES
    return {
        "rule": caveat.rule, "title": caveat.title, "text": caveat.text,
        "arithmetic": [*lines[:MOST_LINES], *([f"and {more} more"] if more > 0 else [])],
    }  # fmt: skip
