"""The load of published studies into the lab that everybody may read; a second load changes nothing and repairs changes.

load_all()               -> list[str]   every study with its claims; what changed, one sentence each
load_study(slug, lab)    -> list[str]   one study without its claims, into any lab
"""

from django.db import transaction

from apps.comparison.claims.report import import_claims
from apps.dashboard.published.published_import import bring_files
from apps.dashboard.published.run_facts import place_runs
from apps.dashboard.published.study_rows import DescribedStudy, Describing
from apps.dashboard.published.values import put_values_right
from apps.inventory.history.authors import by
from apps.inventory.vocabulary import Author
from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.studies.lookup import LAB_NAME, published_lab
from apps.studies.models import Study
from apps.studies.plans.plan_import import import_plans
from apps.studies.source import StudySource, slugs
from apps.studies.translations import save_wording


def load_all() -> list[str]:
    """Load every study in `data/` into its lab, which is created if missing, and return sentences about changes."""
    lab, is_new = published_lab()
    sentences = [f"lab {lab.name}: made"] if is_new else []
    for slug in slugs():
        sentences += load_study(slug, lab)
        sentences += load_claims_of(slug, lab)
    return sentences


def load_study(slug: str, lab: Lab) -> list[str]:
    """Load one study with its machines, files, runs and samples in one transaction.

    Returns:
        Sentences about what was created or changed; empty if nothing was.
    """
    source = StudySource(slug)
    with lab_scope(lab.pk), by(Author.IMPORT, LAB_NAME.lower()), transaction.atomic():
        # two servers that start at once load one after the other
        Lab.objects.select_for_update().get(pk=lab.pk)
        described = Describing(source, lab).enter()
        brought = bring_files(source, described)
        placed, told_of = place_runs(source, described)
        return [
            *described.sentences,
            *brought,
            *placed,
            *put_values_right(source, described, told_of),
            *(f"{slug}: {plan}" for plan in put_plans(source, described)),
            *put_words(source, described),
        ]


def put_plans(source: StudySource, described: DescribedStudy) -> list[str]:
    """Store the procedure that the report describes."""
    plans = source.plans()
    return import_plans(described.study, plans) if plans else []


def put_words(source: StudySource, described: DescribedStudy) -> list[str]:
    """Store the study's texts in the language of the report."""
    language, pairs = source.wording()
    changed = save_wording(described.study, language, pairs)
    return [f"{source.slug}: {changed} texts in {language}"] if changed else []


def load_claims_of(slug: str, lab: Lab) -> list[str]:
    """Store the study's claims, evaluated on the loaded data."""
    text = StudySource(slug).claims()
    if not text:
        return []
    with lab_scope(lab.pk):
        return [f"{slug}: {claim}" for claim in import_claims(Study.objects.get(lab=lab, slug=slug), text)]
