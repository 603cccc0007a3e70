"""A lab with three finished runs of its own, a published report beside it, and a script that asks with a token."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.labs.isolation import lab_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from tests.comparison.factories import MIB, measured, published
from tests.conftest import Cast


@dataclass
class Script:
    """Asks with a lab token; knows no cookies."""

    secret: str

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        call = getattr(Client(), method.lower())
        more = {"data": body, "content_type": "application/json"} if body is not None else {}
        address = path if path.startswith("/") else f"/api/v1/{path}"
        return call(address, headers={"Authorization": f"Bearer {self.secret}", **headers}, **more)

    def get(self, path: str, **headers: str) -> Any:
        return self("GET", path, **headers)


def content(response: Any) -> bytes:
    """All of an answer, streamed or whole."""
    return b"".join(response.streaming_content) if response.streaming else bytes(response.content)


@pytest.fixture
def script(token: Callable[[str], str]) -> Callable[[str], Script]:
    return lambda scope="read": Script(token(scope))


@pytest.fixture
def reader(script: Callable[[str], Script]) -> Script:
    return script("read")


@pytest.fixture
def own_runs(cast: Cast) -> list[Run]:
    with lab_scope(cast.lab.pk):
        return measured(cast.lab, "alpha", [9.0e7, 9.2e7, 9.1e7], file_size=100 * MIB, raid_level="1")


@pytest.fixture
def report(cast: Cast) -> Lab:
    lab = Lab.objects.create(name="Published", slug="published", is_published=True)
    with lab_scope(lab.pk):
        published(lab, "SATA | RAID 5 {{x}}", {100: 1.8e8, 2000: 2.4e7}, raid_level="5", sync="none")
    return lab


@pytest.fixture
def secret_run(cast: Cast) -> Run:
    """Of another lab."""
    with lab_scope(cast.other_lab.pk):
        return measured(cast.other_lab, "hidden", [1e8])[0]


@pytest.fixture(autouse=True)
def fresh_counts(settings: Any) -> None:
    """Requests are counted in Redis, which tests beside this one share."""
    settings.CACHES = {"default": {**settings.CACHES["default"], "KEY_PREFIX": f"test-{uuid4()}"}}
