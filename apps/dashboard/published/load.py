"""Published studies into the lab that everybody may read. Doing it again changes nothing; what was altered is put right.

load_all()               -> list[str]   every study with its claims; what changed, one sentence each
load_study(slug, lab)    -> list[str]   one study without its claims, into any lab
"""

from django.db import transaction

from apps.comparison.claiming.report import put_claims
from apps.dashboard.published.bringing import bring_files
from apps.dashboard.published.describing import Described, Describing
from apps.dashboard.published.placing import place_runs
from apps.dashboard.published.values import put_values_right
from apps.inventory.editing.authors import by
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.studies.load import LAB_NAME, published_lab
from apps.studies.models import Study
from apps.studies.plans.put import put_plan
from apps.studies.source import StudySource, slugs
from apps.studies.wording import put_wording


def load_all() -> list[str]:
    """Every study in `data/`; the lab is made if it is not there."""
    lab, is_new = published_lab()
    said = [f"lab {lab.name}: made"] if is_new else []
    for slug in slugs():
        said += load_study(slug, lab)
        said += load_claims_of(slug, lab)
    return said


def load_study(slug: str, lab: Lab) -> list[str]:
    """One study with its machines, files, runs and samples, in one transaction. Says what was made or changed; nothing,
    when nothing was. Raises `StudyDataError` where its files disagree.
    """
    source = StudySource(slug)
    with lab_scope(lab.pk), by(Author.IMPORT, LAB_NAME.lower()), transaction.atomic():
        # two servers that start at once load one after the other
        Lab.objects.select_for_update().get(pk=lab.pk)
        described = Describing(source, lab).enter()
        brought = bring_files(source, described)
        placed, told_of = place_runs(source, described)
        return [
            *described.said,
            *brought,
            *placed,
            *put_values_right(source, described, told_of),
            *(f"{slug}: {one}" for one in put_plans(source, described)),
            *put_words(source, described),
        ]


def put_plans(source: StudySource, described: Described) -> list[str]:
    """The procedure that the report describes."""
    plans = source.plans()
    return put_plan(described.study, plans) if plans else []


def put_words(source: StudySource, described: Described) -> list[str]:
    """The study's own texts in the language of the report."""
    language, pairs = source.wording()
    changed = put_wording(described.study, language, pairs)
    return [f"{source.slug}: {changed} texts in {language}"] if changed else []


def load_claims_of(slug: str, lab: Lab) -> list[str]:
    """The study's own claims, evaluated on what is loaded."""
    text = StudySource(slug).claims()
    if not text:
        return []
    with lab_scope(lab.pk):
        return [f"{slug}: {one}" for one in put_claims(Study.objects.get(lab=lab, slug=slug), text)]
