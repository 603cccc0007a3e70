"""A study of two configurations, as in a report, in the own lab."""

from typing import Any

import pytest

from apps.comparison.claims.evaluation import evaluate
from apps.comparison.claims.models import Claim
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.studies.models import Study
from tests.comparison.factories import published
from tests.conftest import Cast

AHEAD = {
    "kind": "ranking",
    "per": ["file_size"],
    "chain": [{"is": "samples", "configurations": ["c0"]}, {"is": "samples", "configurations": ["c1"]}],
}


def make_study(lab: Lab) -> Study:
    with lab_scope(lab.pk):
        published(lab, "stripe", {1000: 2e8, 4000: 1.2e8}, raid_level="0")
        published(lab, "mirror", {1000: 1e8, 4000: 6e7}, raid_level="1")
        found: Study = Study.objects.get(slug="paper")
        return found


def make_claim(study: Study, code: str = "C01", **fields: Any) -> Claim:
    """Inside the lab's scope."""
    checks = fields.pop("checks", [AHEAD])
    given = {"statement": "the stripe is ahead", "kind": checks[0]["kind"], "definition": {"checks": checks}, **fields}
    claim = Claim.objects.create(study=study, code=code, position=Claim.objects.of_study(study).count(), **given)
    evaluate(claim)
    made: Claim = Claim.objects.get(pk=claim.pk)
    return made


@pytest.fixture
def study(cast: Cast) -> Study:
    return make_study(cast.lab)


@pytest.fixture
def claim(cast: Cast, study: Study) -> Claim:
    with lab_scope(cast.lab.pk):
        return make_claim(study)
