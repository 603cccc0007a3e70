"""Marks of studies: digests that change with whatever the verdicts of claims depend on.

The sweeper compares them with those of the last evaluation, which lie in the cache: when one is lost, the claims are evaluated
once more and nothing is written.
"""

from collections.abc import Collection, Iterable, Mapping

from django.contrib.postgres.aggregates import StringAgg
from django.core.cache import cache
from django.db.models import Count, F, Max, Sum, TextField
from django.db.models.functions import MD5, Cast, Concat

from apps.comparison.claims.checks.verdicts import RULES
from apps.comparison.claims.matched.evaluation import RULES as QUESTION_RULES
from apps.comparison.claims.models import Claim
from apps.labs.isolation import all_labs
from apps.labs.models import Lab
from apps.runs.models import Run, Sample
from apps.runs.states import State
from apps.studies.models import StudyRun

MARK_LIFE_S = 7 * 24 * 3600
STUDY = "configuration__study"


def begun(study_id: int) -> None:
    """Note that an evaluation begins, so that a later change requests another one."""
    cache.delete(cache_key("called", study_id))


def marks(studies: Iterable[int]) -> dict[int, str]:
    """Return a digest for each study that changes with its samples, names, facts, labels, states, or the rules of claims."""
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
    of_labs = _marks_of_questions(wanted)
    return {study: f"{RULES}:{of_runs.get(study)}:{of_samples.get(study)}{of_labs.get(study, '')}" for study in wanted}


def _marks_of_questions(studies: Collection[int]) -> dict[int, str]:
    """Return a digest for each study with claims about questions, which count runs outside of the study as well.

    It changes with every finished run of the lab and of published reports, with what a configuration's facts are, and
    with every new sample: one of another lab costs an evaluation that writes nothing.
    """
    asking = dict(Claim.objects.about_questions().filter(study__in=studies).values_list("study", "study__lab"))
    if not asking:
        return {}
    published = Lab.objects.published_ids()
    runs = Run.objects.filter(state=State.FINISHED, lab__in={*asking.values(), *published}).order_by().values("lab")
    counted = runs.annotate(n=Count("id"), newest=Max("id"), keys=Sum("configuration_key"))
    of_lab = {lab: f"{n}:{newest}:{keys}" for lab, n, newest, keys in counted.values_list("lab", "n", "newest", "keys")}
    newest = Sample.objects.order_by("-pk").values_list("pk", flat=True).first()
    return {
        study: f":{QUESTION_RULES}:{newest}:{';'.join(of_lab.get(one, '') for one in (lab, *sorted(published)))}"
        for study, lab in asking.items()
    }


def remember(digests: Mapping[int, str]) -> None:
    for study, mark in digests.items():
        cache.set(cache_key("mark", study), mark, MARK_LIFE_S)


def unseen() -> list[int]:
    """Return the studies with claims whose data have changed since the last evaluation."""
    with all_labs():
        studies = list(Claim.objects.order_by("study").values_list("study", flat=True).distinct())
        return [study for study, mark in marks(studies).items() if cache.get(cache_key("mark", study)) != mark]


def cache_key(what: str, study_id: int) -> str:
    return f"claims-{what}-{study_id}"
