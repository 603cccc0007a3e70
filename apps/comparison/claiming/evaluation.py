"""Claims against the data as they are now. What has not changed is not written."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from apps.comparison.claiming.models import Claim, VerdictChange
from apps.comparison.claiming.readings import TooManySamplesError, labels_of, readings_of
from apps.comparison.claims.doubts import sensitivity
from apps.comparison.claims.form import Definition, DefinitionError
from apps.comparison.claims.judging import digest, judge
from apps.comparison.claims.outcomes import NOT_CHECKABLE
from apps.comparison.claims.terms import Labels
from apps.comparison.readings import Reading
from apps.lib.quantities import written
from apps.studies.models import Study

NUMBERS = "numbers_sha256"  # of what was computed, without the words that people may change
DATA_CHANGED, CLAIM_CHANGED = "the data changed", "the claim was written"


def evaluate_study(study: Study, why: str = DATA_CHANGED) -> int:
    """All claims of a study. Says how many were written anew."""
    claims = list(Claim.objects.of_study(study))
    forms: dict[int, Definition] = {}
    for claim in claims:
        try:
            forms[claim.pk] = claim.form
        except DefinitionError as error:  # a word that a newer version no longer knows
            _cannot(claim, str(error))
    try:
        readings = readings_of(study, forms.values())
    except TooManySamplesError as error:
        return sum(_cannot(claim, str(error)) for claim in claims)
    labels = labels_of(study)
    return sum(_evaluate(claim, forms[claim.pk], readings, labels, why) for claim in claims if claim.pk in forms)


def evaluate(claim: Claim, why: str = CLAIM_CHANGED) -> bool:
    """One claim; whether anything was written."""
    form = claim.form
    try:
        return _evaluate(claim, form, readings_of(claim.study, [form]), labels_of(claim.study), why)
    except TooManySamplesError as error:
        return _cannot(claim, str(error))


def _evaluate(claim: Claim, form: Definition, readings: Sequence[Reading], labels: Labels, why: str) -> bool:
    mark = digest(form, readings, labels)
    if mark == claim.data_digest:
        return False
    plain, judged = judge(form, readings), judge(form, readings, labels)
    computed = {**judged.computed, NUMBERS: _numbers(plain.computed)}
    doubts = sensitivity(form, readings, judged.verdict)
    found = {"verdict": judged.verdict, "computed": computed, "sensitivity": doubts.shown(), "problem": ""}
    return _write(claim, mark, found, why)


def _cannot(claim: Claim, problem: str) -> bool:
    """It has no verdict, and says why."""
    if claim.problem == problem:
        return False
    found = {"verdict": NOT_CHECKABLE, "computed": {}, "sensitivity": {}, "problem": problem}
    return _write(claim, "", found, problem[:200])


def _write(claim: Claim, mark: str, found: dict[str, Any], why: str) -> bool:
    """Whoever evaluated the same claim meanwhile was there first, and the next change finds it again."""
    before, numbers = claim.verdict if claim.evaluated_at else "", _numbers(claim.computed)
    with transaction.atomic():
        same = Claim.objects.filter(pk=claim.pk, data_digest=claim.data_digest, definition=claim.definition)
        if not same.update(**found, data_digest=mark, evaluated_at=timezone.now()):
            return False
        if before != found["verdict"] or numbers != _numbers(found["computed"]):
            VerdictChange.objects.create(
                claim=claim, before=before, after=found["verdict"], why=why, computed=found["computed"]
            )
    claim.refresh_from_db()
    return True


def _numbers(computed: dict[str, Any]) -> str:
    """What of an evaluation is worth remembering, as its SHA-256: not which rows the same numbers are in, nor how a
    sentence keeps them, nor how people call the configurations.
    """
    if NUMBERS in computed:
        return str(computed[NUMBERS])
    told = [
        (written(check["sentence"]), [(line["at"], written(line["words"]), line["holds"]) for line in check["lines"]])
        for check in computed.get("checks", [])
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
