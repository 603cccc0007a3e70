"""The five reports' claims on samples in the database: the same verdicts and the same doubts as in memory."""

import pytest

from apps.comparison.claims.checks.doubts import sensitivity
from apps.comparison.claims.models import Claim
from apps.comparison.claims.report import import_claims
from apps.labs.models import Lab
from apps.parsers.core.models import ParsedSample
from apps.runs.models import Run
from apps.runs.samples import save_all_samples
from apps.studies.models import Configuration, Study, StudyRun
from apps.studies.source import DATA
from tests.comparison.claims.published import STUDIES, description, readings
from tests.comparison.claims.test_reports import WRITTEN


def stored(lab: Lab, slug: str) -> Study:
    """One run for each reading: a report's rows know no more of each other."""
    study: Study = Study.objects.create(lab=lab, slug=slug, title=slug)
    columns = {
        one["name"]: Configuration.objects.create(study=study, name=one["name"], label=one["label"], position=position)
        for position, one in enumerate(description(slug)["configurations"])
    }
    rows = readings(slug)
    runs = Run.objects.bulk_create(
        Run(
            lab=lab, tool="report", origin="published", state="finished",
            facts={name: value for name, value in one.facts.items() if name not in ("configuration", "study")},
        )
        for one in rows
    )  # fmt: skip
    StudyRun.objects.bulk_create(
        StudyRun(run=run, configuration=columns[one.facts["configuration"]])
        for run, one in zip(runs, rows, strict=True)
    )
    names = ParsedSample.__struct_fields__
    save_all_samples(
        [
            (run.pk, None, [ParsedSample(**{name: getattr(one, name) for name in names if hasattr(one, name)})])
            for run, one in zip(runs, rows, strict=True)
        ]
    )
    return study


@pytest.mark.slow
@pytest.mark.parametrize("slug", STUDIES)
def test_verdicts_and_doubts_are_those_of_the_files(lab: Lab, slug: str) -> None:
    study = stored(lab, slug)
    import_claims(study, (DATA / slug / "claims.yaml").read_text(encoding="utf-8"))
    found = {claim.code: claim for claim in Claim.objects.of_study(study)}
    assert {code: claim.verdict for code, claim in found.items()} == {one.code: one.expected for one in WRITTEN[slug]}
    for one in WRITTEN[slug]:
        claim = found[one.code]
        doubts = sensitivity(one.definition, readings(slug), one.expected).doubts
        assert [doubt["value"] for doubt in claim.overturned_by] == [doubt.value for doubt in doubts], one.code
        assert claim.problem == ""
