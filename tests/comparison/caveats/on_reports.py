"""A loaded report's comparisons, caveats and studies, by the way of the pages."""

from typing import Any

from apps.comparison.answer import answer
from apps.comparison.caveats.rule import Caveat
from apps.comparison.compare import Comparison
from apps.comparison.in_studies.caveats import caveats_of
from apps.comparison.question import Question
from apps.comparison.readings import Reading
from apps.core.quantities import written
from apps.studies.models import Study
from tests.comparison.caveats.machines import plain

CRS4, THUMPER, INFN, DTN, TRISTAN = "crs4-sata-scsi", "thumper-x4500", "infn-10ge-chain", "dtn-ucsc", "tristan-sas-sata"


def asked(slug: str, *filters: tuple[str, str], **question: Any) -> tuple[Comparison, list[Reading]]:
    return answer(Question(filters=(("study", slug), *filters), **question))


def caveat(rule: str, slug: str, *filters: tuple[str, str], **question: Any) -> Caveat | None:
    found = asked(slug, *filters, **question)[0].caveats
    return next((one for one in found if one.rule == rule), None)


def lines(found: Caveat | None) -> list[str]:
    return [plain(written(line)) for line in found.arithmetic] if found else []


def of_study(rule: str, slug: str) -> list[str]:
    study = Study.objects.get(slug=slug)
    return [line for one in caveats_of([study])[study.pk] if one.rule == rule for line in lines(one)]
