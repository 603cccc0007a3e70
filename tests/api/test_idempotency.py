"""A POST with an Idempotency-Key is done once, and answered as the first time."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import FormSubmission, Token
from apps.labs.services import ANSWERS_LAST
from apps.runs.models import Run
from apps.studies.models import Plan
from tests.api.conftest import Script
from tests.comparison.factories import target
from tests.conftest import Cast

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]
JOB = {"tool": "fio", "jobs": [{"rw": "read", "file_size": 1 << 20, "block_size": 4096}]}


@pytest.fixture
def place(cast: Cast) -> Any:
    with lab_scope(cast.lab.pk):
        made = target(cast.lab)
        made.is_agents_own, made.path = True, "/data"
        made.save()
        return made


def counted() -> tuple[int, int]:
    with all_labs():
        return Run.objects.count(), Plan.objects.count()


def send(script: Script, path: str, body: Any, key: str) -> Any:
    return script("POST", path, body, **{"Idempotency-Key": key})


def test_runs_plans_and_starts_are_made_once(place: Any, script: Callable[[str], Script]) -> None:
    client = script("run")
    plan = {"title": "Depths", "targets": [place.pk], "preset": "queue-depth", "iodepths": "1,2", "file_sizes": "1g"}
    for path, body, status in (
        ("runs/", {"target": place.pk, "workload": JOB}, 201),
        ("plans/", plan, 201),
        ("plans/{}/start/", {}, 202),
        ("plans/{}/pause/", {}, 202),
    ):
        with all_labs():
            path = path.format(getattr(Plan.objects.first(), "pk", 0))
        first = send(client, path, body, f"key of {path}")
        assert first.status_code == status, first.content
        before = counted()
        again = send(client, path, body, f"key of {path}")
        assert (again.status_code, again.content) == (status, first.content), path
        assert again.headers.get("Location") == first.headers.get("Location")
        assert ("Idempotency-Replayed" in first.headers, again.headers["Idempotency-Replayed"]) == (False, "true")
        assert counted() == before, path
    assert counted() == (1, 1)
    assert send(client, "runs/", {"target": place.pk, "workload": JOB}, "another key").status_code == 201
    assert client("POST", "runs/", {"target": place.pk, "workload": JOB}).status_code == 201, "without a key"
    assert counted()[0] == 3


def test_a_key_is_for_one_request_alone(place: Any, script: Callable[[str], Script]) -> None:
    client = script("run")
    body = {"target": place.pk, "workload": JOB}
    assert send(client, "runs/", body, "k").status_code == 201
    for path, other in (("runs/", {**body, "repetitions": 2}), ("plans/", body), ("runs/?base=1024", body)):
        refused = send(client, path, other, "k")
        assert refused.status_code == 422, path
        assert refused.json()["detail"].startswith("This key was sent with another request at ")
    assert counted() == (1, 0)
    for wrong in ("", "x" * 256):
        assert send(client, "runs/", body, wrong).status_code == 400


def test_what_was_refused_is_tried_again_with_the_same_key(place: Any, script: Callable[[str], Script]) -> None:
    client = script("run")
    body = {"target": place.pk, "workload": JOB}
    with all_labs():
        type(place).objects.update(is_agents_own=False)
    assert send(client, "runs/", body, "k").status_code == 400
    with all_labs():
        assert not FormSubmission.objects.exists()
        type(place).objects.update(is_agents_own=True)
    assert send(client, "runs/", body, "k").status_code == 201
    assert counted()[0] == 1


def test_each_token_has_keys_of_its_own_and_needs_its_scope_again(
    place: Any, script: Callable[[str], Script], cast: Cast
) -> None:
    body = {"target": place.pk, "workload": JOB}
    client = script("run")
    assert send(client, "runs/", body, "k").status_code == 201
    assert send(script("admin"), "runs/", body, "k").status_code == 201, "another token"
    assert counted()[0] == 2
    assert send(script("read"), "runs/", body, "k").status_code == 403
    with all_labs():
        Token.objects.all().delete()
    assert send(client, "runs/", body, "k").status_code == 401


def test_it_is_known_for_a_day(place: Any, script: Callable[[str], Script]) -> None:
    client, body = script("run"), {"target": place.pk, "workload": JOB}
    send(client, "runs/", body, "k")
    with all_labs():
        FormSubmission.objects.update(created_at=timezone.now() - ANSWERS_LAST + timedelta(minutes=1))
    assert "Idempotency-Replayed" in send(client, "runs/", body, "k").headers
    with all_labs():
        FormSubmission.objects.update(created_at=timezone.now() - ANSWERS_LAST - timedelta(minutes=1))
    assert "Idempotency-Replayed" not in send(client, "runs/", body, "k").headers
    assert counted()[0] == 2


def test_of_several_at_the_same_moment_one_does_it(place: Any, script: Callable[[str], Script]) -> None:
    client, answers = script("run"), []
    body = {"target": place.pk, "workload": JOB}

    def send_one() -> None:
        try:
            answers.append(send(client, "runs/", body, "k"))
        finally:
            connection.close()

    threads = [threading.Thread(target=send_one) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [answer.status_code for answer in answers] == [201] * 5
    assert len({answer.content for answer in answers}) == 1
    assert counted()[0] == 1


def test_an_answer_with_a_secret_is_never_kept(script: Callable[[str], Script], cast: Cast) -> None:
    send(script("admin"), "tokens/", {"name": "ci", "scope": "read"}, "k")
    with all_labs():
        assert not FormSubmission.objects.exists()


def test_the_description_names_the_header(script: Callable[[str], Script]) -> None:
    schema = script("read").get("/api/schema/?format=json").json()
    named = {
        path
        for path, operations in schema["paths"].items()
        if any(one["name"] == "Idempotency-Key" for one in operations.get("post", {}).get("parameters", ()))
    }
    assert {"/api/v1/runs/", "/api/v1/plans/", "/api/v1/plans/{id}/start/", "/api/v1/targets/"} <= named
    assert not {path for path in named if "token" in path or "invitation" in path or "upload" in path}
    assert "422" in schema["paths"]["/api/v1/runs/"]["post"]["responses"]
