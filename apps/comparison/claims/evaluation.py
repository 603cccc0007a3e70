"""Evaluation of claims against the current data; an unchanged result is not written."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.comparison.claims.checks.definition import ClaimDefinition, DefinitionError
from apps.comparison.claims.checks.doubts import sensitivity
from apps.comparison.claims.checks.outcomes import NOT_CHECKABLE
from apps.comparison.claims.checks.terms import Labels
from apps.comparison.claims.checks.verdicts import digest, judge
from apps.comparison.claims.evidence import evidence_of, whole_readings
from apps.comparison.claims.matched.evaluation import evaluate_question, without_sets
from apps.comparison.claims.models import Claim, VerdictChange
from apps.comparison.claims.readings import TooManyClaimSamplesError, labels_of, readings_of
from apps.comparison.readings import Reading
from apps.comparison.saved_comparisons.references import Known, LostReferenceError, names_of_claims
from apps.core.quantities import written
from apps.studies.models import Study

NUMBERS = "numbers_sha256"  # of what was computed, without the words that people may change
DATA_CHANGED, CLAIM_CHANGED = "the data changed", "the claim was written"


def evaluate_study(study: Study, why: str = DATA_CHANGED) -> int:
    """Evaluate all claims of a study and return how many were written anew."""
    every = list(Claim.objects.of_study(study).select_related("study"))
    known = names_of_claims(claim.refers_to for claim in every)
    claims = [claim for claim in every if not claim.is_about_question]
    changed = sum(_evaluate_question(claim, known, why) for claim in every if claim.is_about_question)
    forms: dict[int, ClaimDefinition] = {}
    for claim in claims:
        try:
            forms[claim.pk] = claim.form_with(known)
        except (
            DefinitionError,
            LostReferenceError,
        ) as error:  # a newer version knows a word no longer, or a thing was deleted
            _cannot(claim, str(error))
    try:
        readings = readings_of(study, forms.values())
    except TooManyClaimSamplesError as error:
        return changed + sum(_cannot(claim, str(error)) for claim in claims)
    labels = labels_of(study)
    return changed + sum(
        _evaluate(claim, forms[claim.pk], readings, labels, why) for claim in claims if claim.pk in forms
    )


def give_up(study: Study, problem: str) -> int:
    """Mark all claims of a study as not evaluated, with the problem.

    Returns:
        How many had another verdict before.
    """
    return sum(_cannot(claim, problem) for claim in Claim.objects.of_study(study))


def evaluate(claim: Claim, why: str = CLAIM_CHANGED) -> bool:
    """Evaluate a claim and return whether anything was written."""
    if claim.is_about_question:
        return _evaluate_question(claim, names_of_claims([claim.refers_to]), why)
    try:
        form = claim.form
        return _evaluate(claim, form, readings_of(claim.study, [form]), labels_of(claim.study), why)
    except (TooManyClaimSamplesError, LostReferenceError) as error:
        return _cannot(claim, str(error))


def _evaluate(claim: Claim, form: ClaimDefinition, readings: Sequence[Reading], labels: Labels, why: str) -> bool:
    mark = digest(form, readings, labels)
    if mark == claim.data_digest:
        return False
    plain, judged = judge(form, readings), judge(form, readings, labels)
    computed = {**judged.computed, NUMBERS: _numbers(plain.computed)}
    doubts = sensitivity(form, readings, judged.verdict)
    result = {
        "verdict": judged.verdict, "computed": computed, "sensitivity": doubts.shown(), "problem": "",
        "evidence": evidence_of(form, judged, readings, whole_readings(judged.samples), labels),
    }  # fmt: skip
    return _write(claim, mark, result, why)


def _evaluate_question(claim: Claim, known: Known, why: str) -> bool:
    try:
        claimed = claim.claimed_with(known)
    except (DefinitionError, LostReferenceError) as error:
        return _cannot(claim, str(error))
    found = evaluate_question(claimed, claim.study.lab_id)
    if found.digest == claim.data_digest:
        return False
    result = {
        "verdict": found.verdict, "computed": {**found.computed, NUMBERS: found.numbers}, "sensitivity": {},
        "problem": found.problem, "evidence": found.evidence,
    }  # fmt: skip
    return _write(claim, found.digest, result, why)


def _cannot(claim: Claim, problem: str) -> bool:
    """Store that the claim has no verdict, and why."""
    if claim.problem == problem:
        return False
    result = {"verdict": NOT_CHECKABLE, "computed": {}, "sensitivity": {}, "problem": problem, "evidence": {}}
    return _write(claim, "", result, problem[:200])


def _write(claim: Claim, mark: str, result: dict[str, Any], why: str) -> bool:
    """Store an evaluation, unless another worker stored one meanwhile; the next change evaluates it again."""
    before, numbers = claim.verdict if claim.evaluated_at else "", _numbers(claim.computed)
    with transaction.atomic():
        same = Claim.objects.filter(
            pk=claim.pk, data_digest=claim.data_digest, definition=claim.definition, question=claim.question
        )
        if not same.update(**result, data_digest=mark, evaluated_at=timezone.now()):
            return False
        if before != result["verdict"] or numbers != _numbers(result["computed"]):
            VerdictChange.objects.create(
                claim=claim,
                before=before,
                after=result["verdict"],
                why=why,
                computed=without_sets(result["computed"]),
            )
    claim.refresh_from_db()
    return True


def _numbers(computed: dict[str, Any]) -> str:
    """Return the SHA-256 of what is worth remembering of an evaluation.

    That excludes row ids, the wording of sentences, and the labels of configurations.
    """
    if NUMBERS in computed:
        return str(computed[NUMBERS])
    texts = [
        (written(check["sentence"]), [(line["at"], written(line["words"]), line["holds"]) for line in check["lines"]])
        for check in computed.get("checks", [])
    ]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
