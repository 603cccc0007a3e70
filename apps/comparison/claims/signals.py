"""Receivers of signals after which a study's claims are evaluated again.

Runs that arrive and places of runs in studies signal at once; changes without a signal (facts edited in bulk, samples parsed
again) are found by the sweeper through `marks`.
"""

from collections.abc import Sequence
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.db.models import Q

from apps.comparison.claims.marks import STUDY, cache_key
from apps.comparison.claims.models import Claim
from apps.comparison.claims.tasks import request_evaluation
from apps.labs.isolation import all_labs
from apps.labs.models import Lab
from apps.studies.models import Configuration, StudyRun


def runs_arrived(sender: object, lab_id: int, runs: Sequence[int], **_: Any) -> None:
    with all_labs():
        places = StudyRun.objects.filter(run__in=runs, configuration__study__claims__isnull=False)
        studies = {*places.values_list(STUDY, flat=True).distinct(), *_asking(lab_id)}
    for study_id in studies:
        request_evaluation(study_id)


def _asking(lab_id: int) -> set[int]:
    """Return the studies with claims whose question counts runs of this lab, whether they are in a study or not."""
    own = Q(study__lab_id=lab_id)
    if Lab.objects.filter(pk=lab_id, is_published=True).exists():
        own |= Q(question__published=True) | Q(question__where__contains=[{"name": "study"}])
    return set(Claim.objects.about_questions().filter(own).values_list("study", flat=True))


def place_changed(sender: object, instance: StudyRun, **_: Any) -> None:
    """Request evaluation when a run came into a study, or left it."""
    with all_labs():  # its configuration may be on its way out too
        of = Configuration.objects.filter(pk=instance.configuration_id).values_list("study", flat=True).first()
    if of is not None:
        transaction.on_commit(lambda: _call_where_claims_are(of), robust=True)


def configuration_changed(sender: object, instance: Configuration, created: bool, **_: Any) -> None:
    """Request evaluation when a configuration may have another name, because verdicts name it."""
    if not created:
        transaction.on_commit(lambda: _call_where_claims_are(instance.study_id), robust=True)


def _call_where_claims_are(study_id: int) -> None:
    if not cache.get(cache_key("called", study_id)):
        with all_labs():
            if Claim.objects.filter(study=study_id).exists():
                request_evaluation(study_id)
