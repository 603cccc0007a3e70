"""Import of a report's own claims into its study; a second import changes nothing."""

from django.db import transaction

from apps.comparison.claims.checks.definition import as_data
from apps.comparison.claims.checks.yaml_file import WrittenClaim, claims_of
from apps.comparison.claims.evaluation import CLAIM_CHANGED, evaluate_study
from apps.comparison.claims.models import Claim
from apps.labs.isolation import all_labs, lab_scope
from apps.studies.lookup import LAB_SLUG
from apps.studies.models import Study
from apps.studies.source import DATA

LOADED_BY = "published report"


def import_claims(study: Study, claims_yaml: str) -> list[str]:
    """Write and evaluate the claims of a claims.yaml and return a sentence for each that was made, changed or removed.

    Claims that people added to the study stay. Called inside the scope of the study's lab.
    """
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        written = claims_of(claims_yaml)
        sentences = [
            sentence for position, claim in enumerate(written) if (sentence := _import_claim(study, position, claim))
        ]
        gone = (
            Claim.objects.of_study(study)
            .filter(is_from_report=True)
            .exclude(code__in=[claim.code for claim in written])
        )
        for claim in gone:
            sentences.append(f"claim {claim.code}: taken away")
            claim.delete()
        evaluate_study(study, CLAIM_CHANGED)
    return sentences


def _import_claim(study: Study, position: int, written_claim: WrittenClaim) -> str:
    fields = {
        "position": position, "statement": written_claim.statement, "language": written_claim.language,
        "statement_english": written_claim.statement_english, "source_lines": written_claim.source_lines, "quote": written_claim.quote,
        "comment": written_claim.comment, "kind": written_claim.definition.kind, "definition": as_data(written_claim.definition),
        "is_from_report": True, "changed_by": LOADED_BY,
    }  # fmt: skip
    claim = Claim.objects.filter(study=study, code=written_claim.code).first()
    if claim is None:
        Claim.objects.create(study=study, code=written_claim.code, **fields)
        return f"claim {written_claim.code}: made"
    changed = [name for name, value in fields.items() if getattr(claim, name) != value]
    for name in changed:
        setattr(claim, name, fields[name])
    if changed:
        claim.save(update_fields=[*changed, "changed_at"])
    return f"claim {written_claim.code}: changed {', '.join(changed)}" if changed else ""


def load_all() -> list[str]:
    """Load the claims of every published study that is in the database and has a claims.yaml."""
    with all_labs():
        studies = list(Study.objects.filter(lab__slug=LAB_SLUG))
    sentences = []
    for study in studies:
        path = DATA / study.slug / "claims.yaml"
        if path.exists():
            with lab_scope(study.lab_id):
                sentences += [
                    f"{study.slug}: {sentence}" for sentence in import_claims(study, path.read_text(encoding="utf-8"))
                ]
    return sentences
