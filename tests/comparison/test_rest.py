"""The REST interface and wikis say what the page says: methods, corrections, effects, odd cells, pairs."""

import csv
import html
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.labs.models import Lab
from tests.comparison.factories import measured

SignIn = Callable[[str], Client]
QUERY = "series=environment,interface"
BY_NAME = "series=environment,interface,host"  # every series is of one host, so that nothing else differs


@pytest.fixture
def spread(lab: Lab) -> None:
    measured(lab, "alpha", [1e8, 1.02e8, 0.98e8, 1.01e8, 0.3e8], interface="SAS", environment="native")
    measured(lab, "beta", [5e7, 5.1e7, 4.9e7, 5.02e7, 4.8e7], interface="SATA", environment="native")
    measured(lab, "gamma", [2e7, 4e7] * 5, interface="SATA", environment="guest")
    measured(lab, "delta", [1.01e8, 1.03e8, 0.97e8], interface="SAS", environment="guest")


def answer(client: Client, query: str = QUERY, baseline: str = "native · SAS") -> dict[str, Any]:
    response = client.get(f"/api/v1/compare/?{query}&baseline={baseline}")
    assert response.status_code == 200
    found: dict[str, Any] = response.json()
    return found


@pytest.mark.usefixtures("spread")
def test_a_cell_has_its_method_its_p_its_effect_and_what_is_odd(sign_in: SignIn) -> None:
    found = answer(sign_in("viewer"), BY_NAME, "native · SAS · alpha")
    cells = {cell["series"]: cell for cell in found["cells"]}
    own, modal = cells["native · SAS · alpha"], cells["guest · SATA · gamma"]
    assert (own["method"], own["p"], own["p_adjusted"], own["effect_size"]) == ("", None, None, None)
    assert [outlier["value"] for outlier in own["outliers"]] == [0.3e8]
    assert own["outliers"][0]["run"] in own["runs"]
    assert modal["modes"] == [{"n": 5, "value": 2e7}, {"n": 5, "value": 4e7}]
    assert modal["method"] in ("welch", "bootstrap")
    assert 0 < modal["p"] <= modal["p_adjusted"]
    assert modal["effect_size"] < 0
    near = cells["guest · SAS · delta"]
    assert near["advice"].startswith(f"{near['more_runs']} more runs of each")


@pytest.mark.usefixtures("spread")
def test_factors_that_come_with_another_host_are_not_tested(sign_in: SignIn) -> None:
    found = answer(sign_in("viewer"))
    others = [cell for cell in found["cells"] if cell["series"] != "native · SAS"]
    assert {(cell["verdict"], cell["ratio_low"], cell["withheld"]) for cell in others} == {
        (None, None, "other facts differ")
    }
    assert all(cell["confounders"] == ["host"] and cell["ratio"] for cell in others)
    assert found["correction"] is None
    assert "nor have cells that differ from the baseline's" in found["method"]


@pytest.mark.usefixtures("spread")
def test_the_answer_says_its_correction_and_its_method(sign_in: SignIn) -> None:
    found = answer(sign_in("viewer"), BY_NAME, "native · SAS · alpha")
    assert found["correction"] == {"method": "Holm", "tests": 3, "level": 0.05}
    assert "after Holm's correction for 3 cells" in found["method"]


@pytest.mark.usefixtures("spread")
def test_pairs_the_most_equal_one_and_the_factors_are_told(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    found = answer(client)
    assert len(found["contrasts"]) == 6
    assert {one["series"][1] for one in found["contrasts"][:3]} == {"native · SAS"}
    assert {(one["factor"], one["level"], one["against"]) for one in found["effects"]} >= {("interface", "SAS", "SATA")}
    (_, interface) = found["effects"]
    assert {tuple(held["at"]) for held in interface["held"]} == {("native",), ("guest",)}
    equal = client.get("/api/v1/compare/?series=interface").json()["most_equal"]
    assert len(equal["contrast"]["series"]) == 2
    assert {one["name"] for one in equal["filters"]} == {"host"}


@pytest.mark.usefixtures("spread")
def test_the_same_address_has_the_same_bytes_again(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    assert answer(client) == answer(client)


@pytest.mark.usefixtures("spread")
def test_csv_and_wiki_carry_outliers_and_modes(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    rows = list(csv.DictReader(io.StringIO(client.get(f"/api/v1/compare/?{QUERY}&format=csv").content.decode())))
    by_series = {row["series"]: row for row in rows}
    assert by_series["guest · SATA"]["modes"] == "20000000 40000000"
    assert len(by_series["native · SAS"]["outliers"].split()) == 1
    wiki = client.get(f"/api/v1/compare/?{QUERY}&format=markdown").content.decode()
    wiki = html.unescape(wiki).replace(
        "<!-- -->", ""
    )  # where the dialect breaks a word that a renderer would take for markup
    assert "two modes: 20.0" in wiki
    assert "1 outlier" in wiki
    assert "Factor by factor" in wiki
    assert "Holm" in html.unescape(client.get(f"/api/v1/compare/?{BY_NAME}&format=markdown").content.decode())
