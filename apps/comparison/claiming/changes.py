"""When a study's data change, its claims are looked at again.

Runs that arrive and places of runs in studies say so at once; what nobody says (facts edited in bulk, samples read again) is
found by the sweeper, which compares marks of studies. A mark lies in the cache: when it is lost, the claims are
evaluated once more and nothing is written.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib.postgres.aggregates import StringAgg
from django.core.cache import cache
from django.db import transaction
from django.db.models import Count, F, Max, TextField
from django.db.models.functions import MD5, Cast, Concat

from apps.comparison.claiming.models import Claim
from apps.comparison.claims.judging import RULES
from apps.labs.isolation import all_labs
from apps.lib.handing_over import publish
from apps.runs.models import Sample
from apps.studies.models import Configuration, StudyRun

DEBOUNCE_S = 3
MARK_LIFE_S = 7 * 24 * 3600
STUDY = "configuration__study"


def runs_arrived(sender: object, lab_id: int, runs: Sequence[int], **_: Any) -> None:
    with all_labs():
        places = StudyRun.objects.filter(run__in=runs, configuration__study__claims__isnull=False)
        for study_id in places.values_list(STUDY, flat=True).distinct():
            call(study_id)


def place_changed(sender: object, instance: StudyRun, **_: Any) -> None:
    """A run came into a study, or left it."""
    with all_labs():  # its configuration may be on its way out too
        of = Configuration.objects.filter(pk=instance.configuration_id).values_list("study", flat=True).first()
    if of is not None:
        transaction.on_commit(lambda: _call_where_claims_are(of), robust=True)


def _call_where_claims_are(study_id: int) -> None:
    if not cache.get(_key("called", study_id)):
        with all_labs():
            if Claim.objects.filter(study=study_id).exists():
                call(study_id)


def call(study_id: int) -> None:
    """A worker is to look at the study's claims, once for all that changes within a few seconds."""
    from apps.comparison.claiming.tasks import evaluate_claims

    if cache.add(_key("called", study_id), 1, 10 * DEBOUNCE_S):
        publish(evaluate_claims, study_id, countdown=DEBOUNCE_S)  # or the sweeper sees another mark


def begun(study_id: int) -> None:
    """From here on a change is another one."""
    cache.delete(_key("called", study_id))


def marks(studies: Iterable[int]) -> dict[int, str]:
    """Study → what changes when its samples, its configurations' names, or its runs' facts, labels or states do, or the rules of claims."""
    wanted = list(studies)
    runs = StudyRun.objects.filter(configuration__study__in=wanted).values(STUDY)
    words = Concat(
        Cast("run_id", TextField()), F("run__state"), F("configuration__name"), F("configuration__label"),
        Cast("run__facts", TextField()), Cast("run__labels", TextField()),
        output_field=TextField(),
    )  # fmt: skip
    of_runs = dict(runs.annotate(mark=MD5(StringAgg(words, ";", order_by="run_id"))).values_list(STUDY, "mark"))
    path = f"run__study_run__{STUDY}"
    samples = Sample.objects.filter(**{f"{path}__in": wanted}).values(path).annotate(n=Count("id"), newest=Max("id"))
    of_samples = {study: f"{n}:{newest}" for study, n, newest in samples.values_list(path, "n", "newest")}
    return {study: f"{RULES}:{of_runs.get(study)}:{of_samples.get(study)}" for study in wanted}


def remember(found: Mapping[int, str]) -> None:
    for study, mark in found.items():
        cache.set(_key("mark", study), mark, MARK_LIFE_S)


def unseen() -> list[int]:
    """Studies with claims whose data are other than those that were last looked at."""
    with all_labs():
        studies = list(Claim.objects.order_by("study").values_list("study", flat=True).distinct())
        return [study for study, mark in marks(studies).items() if cache.get(_key("mark", study)) != mark]


def _key(what: str, study_id: int) -> str:
    return f"claims-{what}-{study_id}"
