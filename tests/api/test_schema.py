"""The interface describes itself, without warnings and without any other site."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client


@pytest.mark.slow
def test_the_description_is_valid_and_free_of_warnings(tmp_path: Path) -> None:
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(tmp_path / "schema.yml"), stdout=StringIO())


def test_it_is_served(client: Client, db: None) -> None:
    response = client.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"})
    assert response.status_code == 200
    paths = response.json()["paths"]
    assert {"/api/v1/runs/", "/api/v1/samples/", "/api/v1/compare/", "/api/v1/runs/{id}/artefacts/{name}"} <= set(paths)
    assert "429" in paths["/api/v1/compare/"]["get"]["responses"]


@pytest.mark.parametrize(
    ("path", "component"),
    [
        ("/api/v1/samples/", "SamplePage"),
        ("/api/v1/runs/{id}/samples/", "SamplePage"),
        ("/api/v1/runs/{id}/series/", "SeriesList"),
        ("/api/v1/runs/{id}/histograms/", "HistogramList"),
        ("/api/v1/compare/side-by-side/", "SideBySide"),
        ("/api/v1/runs/", "RunPage"),
        ("/api/v1/trends/", "WatchPage"),
    ],
)
def test_a_shape_keeps_the_name_that_generated_clients_have_for_it(
    client: Client, db: None, path: str, component: str
) -> None:
    description = client.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"}).json()
    content = description["paths"][path]["get"]["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == {"$ref": f"#/components/schemas/{component}"}
    assert component in description["components"]["schemas"]


def test_the_readable_page_comes_from_here_alone(client: Client, db: None) -> None:
    page = client.get("/api/docs/")
    text = page.content.decode()
    assert page.status_code == 200
    assert "http://" not in text.replace("http://testserver", "")
    assert "https://" not in text
    assert "<script>" not in text
    assert "unsafe-inline" not in page.headers["Content-Security-Policy"].partition("script-src")[2].partition(";")[0]
