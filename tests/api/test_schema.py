"""The interface describes itself, without warnings and without any other site."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from django.core.management import call_command
from django.test import Client
from rest_framework.serializers import BaseSerializer, Field

import apps.api


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


def described_methods() -> Iterator[tuple[str, Any, Any]]:
    """Yield the methods that compute a field and say how it is described: name, described field, annotated result."""
    for module in pkgutil.walk_packages(apps.api.__path__, "apps.api."):
        importlib.import_module(module.name)
    waiting: list[type] = [BaseSerializer]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        for name, method in vars(kind).items() if kind.__module__.startswith("apps.") else ():
            if name.startswith("get_") and "field" in getattr(method, "_spectacular_annotation", {}):
                field = method._spectacular_annotation["field"]
                is_class = inspect.isclass(field) and issubclass(field, Field)
                result = get_type_hints(method).get("return")
                yield f"{kind.__name__}.{name}", field() if is_class else field, result


def test_a_computed_field_is_described_as_null_exactly_where_it_can_be() -> None:
    """A generated client fails on a null that its description does not have."""
    wrong, count = [], 0
    for name, field, result in described_methods():
        if isinstance(field, Field) and result is not Any:
            count += 1
            if bool(field.allow_null) != (type(None) in get_args(result)):
                wrong.append(f"{name}: {field!r} for {result}")
    assert wrong == []
    assert count > 40


def test_what_is_not_sent_again_is_described_where_a_page_of_text_or_a_drawing_can_be_had(
    client: Client, db: None
) -> None:
    paths = client.get("/api/schema/", headers={"Accept": "application/vnd.oai.openapi+json"}).json()["paths"]
    for path in ("/api/v1/compare/", "/api/v1/trends/{id}/", "/api/v1/studies/{slug}/"):
        assert "304" in paths[path]["get"]["responses"], path
    for path in ("/api/v1/queue/", "/api/v1/labs/", "/api/v1/samples/"):
        assert "304" not in paths[path]["get"]["responses"], path
