"""Evaluation of a claim about a question: its answer as it is now, the verdict, and what may be behind it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.comparison.claims.checks.outcomes import NOT_CHECKABLE
from apps.comparison.claims.evidence import caveat_entry
from apps.comparison.claims.matched.claimed_question import ClaimedQuestion
from apps.comparison.claims.matched.stored_answer import contrast_of, stored_of
from apps.comparison.claims.matched.verdict import verdict_of_contrast
from apps.comparison.labels import IN_BYTES
from apps.comparison.like_for_like.answers import LevelContrast
from apps.comparison.like_for_like.fact_codes import matches
from apps.comparison.like_for_like.report import answer_pair
from apps.comparison.like_for_like.scope import labs_of
from apps.comparison.like_for_like.set_caveats.findings import AskedSets, find_caveats
from apps.comparison.like_for_like.strata import IDENTITIES
from apps.comparison.question import QuestionError
from apps.core import units
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab

Json = dict[str, Any]
RULES = 2  # raise it when the same answer may get another verdict, so that stored ones are made again
# What may be behind a difference, the worst first: `differs` although it was moved out of the way, `unknown` but on one
# target, `not_recorded` by any run, `implied` by the factor, `time`: one level was measured before the other.
KINDS = ("differs", "time", "unknown", "not_recorded", "implied")
DIGITS = 9  # significant ones, of what decides whether an answer is another one


@dataclass(frozen=True)
class MatchedResult:
    """What was computed for a claim, with a digest of all that it depends on."""

    verdict: str
    computed: Json
    evidence: Json
    problem: str
    digest: str
    numbers: str  # digest of what is worth remembering


def evaluate_question(claimed: ClaimedQuestion, lab_id: int) -> MatchedResult:
    """Return the verdict from the runs of this lab, and of published reports where the claim adds them."""
    selection = claimed.selection
    with lab_scope(lab_id, *Lab.objects.published_ids()):
        try:
            answer, contrast = answer_pair(labs_of(lab_id, selection), claimed.factor, selection, claimed.level)
        except QuestionError as error:
            return _cannot(claimed, f"No run counts: {error}.")
        stored = stored_of(answer, contrast)
        kept = contrast_of(stored)
        evidence = {
            "confounders": confounders_of(claimed, stored),
            "caveats": _caveats(kept, answer.operation, answer.metric),
        }
    verdict = verdict_of_contrast(claimed, contrast)
    mark, numbers = _digest([RULES, claimed.data, verdict, stored, evidence]), _digest(_remembered(verdict, contrast))
    return MatchedResult(verdict, {"answer": stored}, evidence, "", mark, numbers)


def _cannot(claimed: ClaimedQuestion, problem: str) -> MatchedResult:
    mark = _digest([RULES, claimed.data, problem])
    return MatchedResult(NOT_CHECKABLE, {}, {}, problem, mark, mark)


def without_sets(computed: Json) -> Json:
    """Return what is computed without the sets and their runs, for the history, which has a row for each change."""
    answer = computed.get("answer")
    if not answer:
        return computed
    contrast = {**answer["contrast"], "sets": []} if answer["contrast"] else None
    return {**computed, "answer": {**answer, "contrast": contrast, "nearest": [], "missing": []}}


def _remembered(verdict: str, contrast: LevelContrast | None) -> list[Any]:
    interval = contrast.interval if contrast else None
    sets = sum(effect.logs is not None for effect in contrast.effects) if contrast else 0
    return [verdict, *(interval or ()), contrast.ratio if contrast else None, sets, contrast and contrast.finding.value]


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(_rounded(data), sort_keys=True, default=str).encode()).hexdigest()


def _rounded(data: Any) -> Any:
    """Return the data with floats to so many digits: sums in another order are no other answer."""
    if isinstance(data, float):
        return float(f"{data:.{DIGITS}g}")
    if isinstance(data, dict):
        return {str(name): _rounded(value) for name, value in data.items()}
    return [_rounded(item) for item in data] if isinstance(data, list | tuple) else data


def confounders_of(claimed: ClaimedQuestion, stored: Mapping[str, Any]) -> list[Json]:
    """Return what differs beside the factor, or may: `[{fact, kind, text, comparisons}]`, once for each fact.

    `text` has the values of both sides in the first set; `comparisons` are the sets in which it is so.
    """
    sets = (stored["contrast"] or {}).get("sets", [])
    factor = claimed.rules
    hidden = {*factor.facts, *IDENTITIES, "points"}
    free = (*factor.implied, *factor.implied_between(*sorted((claimed.level, claimed.against))))
    entries: dict[tuple[str, str], Json] = {}

    def add(kind: str, fact: str, text: str) -> None:
        entry = entries.setdefault((kind, fact), {"fact": fact, "kind": kind, "text": text, "comparisons": 0})
        entry["comparisons"] += 1

    for one in sets:
        for name, values in one["differs"].items():
            if name not in hidden and not any(values):
                add("unknown", name, "")  # on neither side
            elif name not in hidden:
                is_implied = name not in claimed.ignore and matches(name, free)
                add("implied" if is_implied else "differs", name, " / ".join(_side_text(name, side) for side in values))
        for name in one["unknown"]:
            add("unknown", name, "")
    contrast = contrast_of(stored)
    for effect in contrast.effects if contrast else ():
        if effect.is_apart_in_time:
            add("time", "time", "")
    for name in stored["nowhere"] if sets else ():
        add("not_recorded", name, "")
        entries["not_recorded", name]["comparisons"] = len(sets)
    return sorted(entries.values(), key=lambda entry: (KINDS.index(entry["kind"]), entry["fact"]))


def _side_text(name: str, values: list[str]) -> str:
    sizes = (units.size(int(value)) if name in IN_BYTES and value.isdigit() else value for value in values)
    return ", ".join(sizes) or "?"


def _caveats(contrast: LevelContrast | None, operation: str, metric: str) -> list[Json]:
    """Return the caveats of the runs in the sets, side by side."""
    if contrast is None:
        return []
    (found,) = find_caveats([AskedSets((contrast,), (operation, metric))])
    return [caveat_entry(one.caveat) for one in found.found]
