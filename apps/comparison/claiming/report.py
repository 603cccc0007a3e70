"""A report's own claims into its study. Doing it again changes nothing."""

from django.db import transaction

from apps.comparison.claiming.evaluation import CLAIM_CHANGED, evaluate_study
from apps.comparison.claiming.models import Claim
from apps.comparison.claims.form import as_data
from apps.comparison.claims.written import WrittenClaim, claims_of
from apps.labs.isolation import all_labs, lab_scope
from apps.studies.load import LAB_SLUG
from apps.studies.models import Study
from apps.studies.source import DATA

LOADED_BY = "published report"


def put_claims(study: Study, claims_yaml: str) -> list[str]:
    """The claims of a claims.yaml (its text), written and evaluated. Says what was made, changed or taken away, one
    sentence each; nothing, when nothing was. Claims that people added to the study stay. Inside the scope of its lab.
    """
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        written = claims_of(claims_yaml)
        said = [sentence for position, one in enumerate(written) if (sentence := _put(study, position, one))]
        gone = Claim.objects.of_study(study).filter(is_from_report=True).exclude(code__in=[one.code for one in written])
        for claim in gone:
            said.append(f"claim {claim.code}: taken away")
            claim.delete()
        evaluate_study(study, CLAIM_CHANGED)
    return said


def _put(study: Study, position: int, one: WrittenClaim) -> str:
    fields = {
        "position": position, "statement": one.statement, "language": one.language,
        "statement_english": one.statement_english, "source_lines": one.source_lines, "quote": one.quote,
        "comment": one.comment, "kind": one.definition.kind, "definition": as_data(one.definition),
        "is_from_report": True, "changed_by": LOADED_BY,
    }  # fmt: skip
    claim = Claim.objects.filter(study=study, code=one.code).first()
    if claim is None:
        Claim.objects.create(study=study, code=one.code, **fields)
        return f"claim {one.code}: made"
    changed = [name for name, value in fields.items() if getattr(claim, name) != value]
    for name in changed:
        setattr(claim, name, fields[name])
    if changed:
        claim.save(update_fields=[*changed, "changed_at"])
    return f"claim {one.code}: changed {', '.join(changed)}" if changed else ""


def load_all() -> list[str]:
    """The claims of every published study that is in the database and has a claims.yaml."""
    with all_labs():
        studies = list(Study.objects.filter(lab__slug=LAB_SLUG))
    said = []
    for study in studies:
        path = DATA / study.slug / "claims.yaml"
        if path.exists():
            with lab_scope(study.lab_id):
                said += [f"{study.slug}: {one}" for one in put_claims(study, path.read_text(encoding="utf-8"))]
    return said
