"""Figures that reports quote for single samples in their prose, taken from claims that check text against tables.

quotes_of({"dtn-ucsc"}) → {sample: (Quote, …)}      two queries; none where there is no study
"""

from collections.abc import Collection, Iterator
from typing import Any

from apps.comparison.claims.checks.definition import AnyCheck, DefinitionError, SampleGroup, TextAgainstTable
from apps.comparison.claims.checks.shapes import half_a_step
from apps.comparison.claims.models import Claim
from apps.comparison.readings import Quote
from apps.comparison.saved_comparisons.references import Known, LostReferenceError, names_of_claims

KIND = "text_against_table"


def quotes_of(slugs: Collection[str]) -> dict[int, tuple[Quote, ...]]:
    """Return the figures that reports quote for single samples, by sample id.

    A comparison counts only where its number is that of one sample: a mean of several contradicts none of them.
    """
    quotes: dict[int, tuple[Quote, ...]] = {}
    if not slugs:
        return quotes
    claims = Claim.objects.filter(study__slug__in=slugs, definition__checks__contains=[{"kind": KIND}])
    claims = list(claims.only("definition", "computed", "refers_to"))
    known = names_of_claims(claim.refers_to for claim in claims)
    for claim in claims:
        for sample, quote in _of_claim(claim, known):
            quotes[sample] = (*quotes.get(sample, ()), quote)
    return quotes


def _of_claim(claim: Claim, known: Known) -> Iterator[tuple[int, Quote]]:
    try:
        checks = claim.form_with(known).checks
    except (
        DefinitionError,
        LostReferenceError,
    ):  # a word that a newer version no longer knows, or a thing that was deleted: its own page says so
        return
    for check, computed in zip(checks, claim.computed.get("checks", []), strict=False):
        if quote := _quote(check):
            yield from ((sample, quote) for sample in _samples(computed))


def _quote(check: AnyCheck) -> Quote | None:
    """Return the figure that a check quotes; what a claim denies the report denies too."""
    if not isinstance(check, TextAgainstTable) or not check.quoted or not isinstance(check.of, SampleGroup):
        return None
    quoted, of = check.quoted, check.of
    if check.is_denied or check.meanings or of.times != 1 or of.aggregate == "count":
        return None
    within = check.within if check.within is not None else half_a_step(quoted)
    text = quoted.text or f"{quoted.value} {quoted.unit}"
    return Quote(text, float(quoted.value), quoted.unit, float(within), quoted.line, of.take)


def _samples(computed: dict[str, Any]) -> list[int]:
    return [line["samples"][0] for line in computed.get("lines", []) if len(line["samples"]) == 1]
