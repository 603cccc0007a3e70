"""`?base=` in the REST interface: sentences, documents and pictures in MB/s or MiB/s, values in base units whatever it says."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.comparison.claims.models import Claim
from apps.labs.isolation import all_labs
from apps.labs.models import Lab
from apps.runs.models import Run
from tests.conftest import Cast
from tests.studies.loading import all_loaded, published

__all__ = ["all_loaded", "published"]
COMPARED = "/api/v1/compare/?study=thumper-x4500&operation=write"
DECIMAL, BINARY = re.compile(r"\b[kMG]B/s\b"), re.compile(r"\b[KMG]iB/s\b")


@pytest.fixture
def client(published: Lab, cast: Cast, sign_in: Callable[[str], Client]) -> Client:
    return sign_in("viewer")


def sentences(found: dict[str, Any], rules: str = "above_ceiling throughput_conflict") -> str:
    return " ".join(line for one in found["caveats"] if one["rule"] in rules for line in one["arithmetic"])


def units_in(text: str) -> tuple[bool, bool]:
    assert "⟦" not in text
    return bool(DECIMAL.search(text)), bool(BINARY.search(text))


def test_a_comparisons_caveats_follow_the_address_and_its_values_do_not(client: Client) -> None:
    plain, binary = (client.get(f"{COMPARED}{base}").json() for base in ("", "&base=1024"))
    assert units_in(sentences(plain)) == (True, False)
    assert units_in(sentences(binary)) == (False, True)
    assert [cell["mean"] for cell in plain["cells"]] == [cell["mean"] for cell in binary["cells"]]


@pytest.mark.parametrize("dialect", ["mediawiki", "markdown"])
def test_so_do_wikis(client: Client, dialect: str) -> None:
    found = client.get(f"{COMPARED}&base=1024&format={dialect}").content.decode()
    said = found.replace("\\", "")
    above = said[said.index("Above what the topology") :].partition("Units do not agree")[0]
    assert units_in(above) == (False, True)


def test_a_run_and_its_document_do(client: Client) -> None:
    with all_labs():
        run = Run.objects.filter(study_run__configuration__study__slug="thumper-x4500", tool="iozone").first()
    assert run
    address = f"/api/v1/runs/{run.pk}/?base=1024"
    found = client.get(address).json()
    assert "⟦" not in str(found)
    assert DECIMAL.search(sentences(found)) is None
    document = client.get(f"{address}&format=markdown").getvalue().decode()
    table = document[document.index("Samples") :].partition("Caveats")[0]
    assert BINARY.search(table)


def test_a_claim_is_told_in_either_base(client: Client) -> None:
    with all_labs():
        claims = Claim.objects.filter(study__slug="tristan-sas-sata")
        claim = next(one for one in claims if "B/s" in str(one.computed))
    told = {}
    for base in ("1000", "1024"):
        found = client.get(f"/api/v1/claims/{claim.pk}/?base={base}").json()["computed"]
        told[base] = " ".join(line["words"] for check in found["checks"] for line in check["lines"])
    listed = client.get("/api/v1/claims/?study=tristan-sas-sata&base=1024").content.decode()
    assert (DECIMAL.search(told["1000"]) is None, BINARY.search(told["1024"]) is None) == (False, False)
    assert told["1000"] != told["1024"]
    assert "⟦" not in listed


@pytest.mark.slow
def test_the_whole_study_is_in_one_base(client: Client) -> None:
    for base, other in (("1000", BINARY), ("1024", DECIMAL)):
        found = client.get(f"/api/v1/studies/infn-10ge-chain/?base={base}").json()
        assert not other.search(sentences(found, "above_ceiling part_vs_chain wide_spread"))
        assert (
            "⟦" not in client.get(f"/api/v1/studies/infn-10ge-chain/?base={base}&format=mediawiki").getvalue().decode()
        )


def test_base_is_no_filter_of_runs(client: Client) -> None:
    assert len(client.get("/api/v1/runs/?study=thumper-x4500&base=1024").json()["results"]) > 1
