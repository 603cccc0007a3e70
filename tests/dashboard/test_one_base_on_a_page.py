"""MB and MiB are never mixed on a page: what is measured and computed is in the base that its reader chose.

What is not looked at: quotations (of reports, tools and claims' authors), caveats that are about units, and titles, which say both. A size
that is whole is called by its name whoever reads (files of 4 KiB, disks of 250 GB).
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import product

import pytest
from django.test import Client

from apps.comparison.claims.models import Claim
from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Study
from apps.trends.evaluation import evaluate
from apps.trends.models import Watch
from tests.comparison.factories import MIB, run, sample
from tests.conftest import Cast
from tests.page_text import Attributes, page_text
from tests.sampling import in_turn
from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]
SignIn = Callable[[str], Client]
ABOUT_UNITS = ("caveat-unit_mismatch", "caveat-text_vs_table")
RATES = {1000: re.compile(r"\b[kMGTP]B/s\b"), 1024: re.compile(r"\b[KMGTP]iB/s\b")}
ROUNDED_SIZES = {1000: re.compile(r"\d\.\d+ [kMGTP]B\b(?!/)"), 1024: re.compile(r"\d\.\d+ [KMGTP]iB\b(?!/)")}
OTHER = {1000: 1024, 1024: 1000}
BOTH = pytest.mark.parametrize("base", [1000, 1024])


def is_quoted(tag: str, attributes: Attributes) -> bool:
    is_chooser = tag in ("option", "select") or attributes.get("class") == "site-footer"
    return is_chooser or "data-as-printed" in attributes or attributes.get("id") in ABOUT_UNITS


def said_in(html: str, written: str = "") -> str:
    """A page's words without what is quoted; `written`: by people, in JSON."""
    text = re.sub("“[^”]*”", "“”", page_text(html, is_quoted))
    for words in sorted(set(re.findall(r'"((?:[^"\\]|\\.)+)"', written)), key=len, reverse=True):
        if "B" in words:
            text = text.replace(json.loads(f'"{words}"'), "")
    return text


def mixed(text: str, base: int) -> list[str]:
    """What is in the other base, with the words around it."""
    rules = (RATES[OTHER[base]], ROUNDED_SIZES[OTHER[base]])
    return [text[max(0, found.start() - 40) : found.end()] for rule in rules for found in rule.finditer(text)]


def in_base(client: Client, base: int, address: str) -> str:
    client.cookies["spindle_base"] = str(base)
    answer = client.get(address)
    assert answer.status_code == 200, address
    html: str = answer.content.decode()
    assert "⟦" not in html, f"a quantity was not written on {address}"
    return html


def pages_of(study: Study) -> Iterator[str]:
    yield from (
        f"/studies/{study.slug}/",
        f"/studies/{study.slug}/claims/",
        f"/compare/side-by-side/?study={study.slug}",
    )
    for operation in ("write", "read", "net_send"):
        yield f"/compare/?study={study.slug}&operation={operation}"
    runs = Run.objects.filter(study_run__configuration__study=study).order_by("id")
    yield from (one.get_absolute_url() for one in runs[:3])


def places() -> Iterator[str]:
    yield from (
        "/",
        "/compare/",
        "/compare/free/",
        "/compare/?axis=log&chart=line",
        "/hosts/",
        "/targets/",
        "/findings/",
    )
    yield from (one.get_absolute_url() for one in [*Host.objects.all(), *Target.objects.all()])


@pytest.mark.slow
def test_no_page_of_the_loaded_studies_mixes_mb_and_mib(published: Lab, cast: Cast, sign_in: SignIn) -> None:
    """The short form asks for the pages of studies in one base and the other in turn, and for all others in both."""
    client = sign_in("viewer")
    with all_labs():
        of_studies = [address for study in Study.objects.order_by("id") for address in pages_of(study)]
        asked = [*product(OTHER, places()), *in_turn(OTHER, of_studies)]
    pages = {(base, address): in_base(client, base, address) for base, address in asked}
    found = {(base, address): mixed(said_in(html), base) for (base, address), html in pages.items()}
    assert {page: words for page, words in found.items() if words} == {}
    for base in OTHER:
        shown = [
            words for page, html in pages.items() if page[0] == base for words in RATES[base].findall(page_text(html))
        ]
        assert len(shown) > 250  # or the walk has seen nothing


@pytest.mark.slow
def test_no_claim_mixes_mb_and_mib(published: Lab, cast: Cast, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    with all_labs():
        claims = list(Claim.objects.order_by("id"))
    found = {}
    for base, claim in in_turn(OTHER, claims):
        written = json.dumps([claim.definition, claim.statement], ensure_ascii=False)
        html = in_base(client, base, claim.get_absolute_url())
        found[claim.study_id, claim.code, base] = mixed(said_in(html, written), base)
    assert {claim: words for claim, words in found.items() if words} == {}
    assert len(found) > 50


@BOTH
def test_a_trend_is_in_the_readers_base(cast: Cast, sign_in: SignIn, base: int) -> None:
    with lab_scope(cast.lab.pk):
        for repetition in range(14):
            one = run(cast.lab, repetition=repetition)
            sample(one, (100 if repetition < 7 else 60) * MIB + repetition, file_size=MIB)
        watch = Watch.objects.create(lab=cast.lab, name="nightly", query="metric=bandwidth&operation=write")
        evaluate(watch)
    for address in (watch.get_absolute_url(), "/trends/"):
        text = page_text(in_base(sign_in("viewer"), base, address), is_quoted)
        assert mixed(text, base) == []
        assert RATES[base].search(text)


def test_the_address_goes_before_the_choice_on_the_whole_page(published: Lab, cast: Cast, sign_in: SignIn) -> None:
    client = sign_in("viewer")
    html = in_base(client, 1000, "/compare/?study=dtn-ucsc&operation=write&base=1024")
    assert mixed(said_in(html), 1024) == []
    assert 'data-base="1024"' in html
