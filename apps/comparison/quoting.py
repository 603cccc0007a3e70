"""What reports say of single samples in their prose, from the claims that hold a figure of the text against the table.

quotes_of({"dtn-ucsc"}) → {sample: (Quote, …)}      one query; none where there is no study
"""

from collections.abc import Collection, Iterator
from typing import Any

from apps.comparison.claiming.models import Claim
from apps.comparison.claims.form import AnyCheck, DefinitionError, Samples, TextAgainstTable
from apps.comparison.claims.shapes import half_a_step
from apps.comparison.readings import Quote

KIND = "text_against_table"


def quotes_of(slugs: Collection[str]) -> dict[int, tuple[Quote, ...]]:
    """Of a claim's comparison only where its number is that of one sample: a mean of several contradicts none of them."""
    found: dict[int, tuple[Quote, ...]] = {}
    if not slugs:
        return found
    claims = Claim.objects.filter(study__slug__in=slugs, definition__checks__contains=[{"kind": KIND}])
    for claim in claims.only("definition", "computed"):
        for sample, quote in _of_claim(claim):
            found[sample] = (*found.get(sample, ()), quote)
    return found


def _of_claim(claim: Claim) -> Iterator[tuple[int, Quote]]:
    try:
        checks = claim.form.checks
    except DefinitionError:  # a word that a newer version no longer knows; its own page says so
        return
    for check, computed in zip(checks, claim.computed.get("checks", []), strict=False):
        if quote := _quote(check):
            yield from ((sample, quote) for sample in _samples(computed))


def _quote(check: AnyCheck) -> Quote | None:
    """What a claim denies the report denies too."""
    if not isinstance(check, TextAgainstTable) or not check.quoted or not isinstance(check.of, Samples):
        return None
    quoted, of = check.quoted, check.of
    if check.is_denied or check.meanings or of.times != 1 or of.aggregate == "count":
        return None
    within = check.within if check.within is not None else half_a_step(quoted)
    text = quoted.text or f"{quoted.value} {quoted.unit}"
    return Quote(text, float(quoted.value), quoted.unit, float(within), quoted.line, of.take)


def _samples(computed: dict[str, Any]) -> list[int]:
    return [line["samples"][0] for line in computed.get("lines", []) if len(line["samples"]) == 1]
