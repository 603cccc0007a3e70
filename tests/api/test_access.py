"""Who may do what: tokens of four scopes, members of three roles, and nobody else."""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.test import Client, override_settings
from django.utils import timezone

from apps.api.throttles import TokenThrottle
from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from apps.runs.models import Run
from tests.api.conftest import Script
from tests.comparison.factories import MIB, run, target
from tests.conftest import Cast
from tests.sampling import for_each

Scripts = Callable[[str], Script]
JOB = {"rw": "write", "block_size": MIB, "file_size": 16 * MIB}
RESOURCES = ["hosts/", "targets/", "runs/", "samples/", "compare/"]


def start(lab: Any) -> dict[str, Any]:
    with lab_scope(lab.pk):
        return {"target": target(lab).pk, "workload": {"tool": "fio", "jobs": [JOB]}, "repetitions": 2}


@for_each("path", RESOURCES)
def test_nobody_reads_without_signing_in(client: Client, cast: Cast, path: str) -> None:
    response = client.get(f"/api/v1/{path}")
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="Spindle"'
    assert response.headers["Content-Type"] == "application/problem+json"


@for_each("path, scope", product(RESOURCES, ["read", "upload", "run", "admin"]))
def test_every_token_reads(script: Scripts, scope: str, path: str) -> None:
    assert script(scope).get(path).status_code == 200


@pytest.mark.parametrize(("scope", "status"), [("read", 403), ("upload", 403), ("run", 201), ("admin", 201)])
def test_only_run_and_admin_tokens_start_runs(cast: Cast, script: Scripts, scope: str, status: int) -> None:
    response = script(scope)("POST", "runs/", start(cast.lab))
    assert response.status_code == status
    if status == 403:
        assert response.json()["detail"] == f"This needs a token of scope run; this one has {scope}."


def test_a_started_run_is_queued_once_for_each_repetition(cast: Cast, script: Scripts) -> None:
    response = script("run")("POST", "runs/", start(cast.lab))
    found = response.json()
    assert response.headers["Location"] == found["url"]
    assert (found["state"], found["repetition"], len(found["runs"])) == ("queued", 1, 2)
    assert found["workload"]["file_size"] == 16 * MIB
    with lab_scope(cast.lab.pk):
        assert {one.created_by for one in Run.objects.filter(pk__in=found["runs"])} == {"token run token"}


def test_one_job_may_be_given_by_itself(cast: Cast, script: Scripts) -> None:
    body = start(cast.lab) | {"workload": JOB, "repetitions": 1}
    assert script("run")("POST", "runs/", body).status_code == 201


@pytest.mark.parametrize(
    ("change", "field", "expected"),
    [
        ({"workload": {"jobs": [{**JOB, "rw": "shred"}]}}, "jobs[0].rw", "one of read, write"),
        (
            {"workload": {"jobs": [{**JOB, "exec_prerun": "rm"}]}},
            "jobs[0].exec_prerun",
            "nothing, because it runs programs",
        ),
        ({"workload": {"jobs": [JOB], "nonsense": 1}}, "nonsense", "one of: tool, jobs"),
        (
            {"tags": {"kernel": "6.1"}},
            "tags",
            "one of: target, targets, workload, job_file, saved_workload, options, repetitions",
        ),
    ],
)
def test_a_workload_that_may_not_run_is_told_why(
    cast: Cast, script: Scripts, change: dict[str, Any], field: str, expected: str
) -> None:
    response = script("run")("POST", "runs/", start(cast.lab) | change)
    assert response.status_code == 400
    problem = response.json()
    assert (problem["title"], problem["status"], problem["field"]) == ("Bad Request", 400, field)
    assert problem["expected"].startswith(expected)
    assert "found" in problem


def test_an_option_that_there_is_not_is_told_in_one_sentence(cast: Cast, script: Scripts) -> None:
    def detail(**option: Any) -> Any:
        body = start(cast.lab) | {"workload": {"jobs": [{**JOB, **option}]}}
        return script("run")("POST", "runs/", body).json()["detail"]

    refused = detail(filename="/dev/vda")
    assert refused.startswith(
        "jobs[0]: found filename='/dev/vda': a workload cannot have this option: Spindle sets this"
    )
    unknown = detail(blok_size=512)
    assert unknown.startswith("jobs[0]: found blok_size=512: there is no such option; there are block_size, ")


def test_fields_of_the_wrong_kind_are_named(cast: Cast, script: Scripts) -> None:
    response = script("run")("POST", "runs/", {"target": "first", "repetitions": 0})
    assert response.status_code == 400
    assert {one["field"] for one in response.json()["errors"]} == {"target", "repetitions"}


def test_a_target_of_another_lab_is_not_there(cast: Cast, script: Scripts) -> None:
    response = script("run")("POST", "runs/", start(cast.other_lab))
    assert response.status_code == 404
    assert response.json()["field"] == "target"


@pytest.mark.parametrize(("person", "status"), [("viewer", 403), ("engineer", 201), ("owner", 201)])
def test_engineers_and_owners_start_runs_from_a_session(
    cast: Cast, sign_in: Callable[[str], Client], person: str, status: int
) -> None:
    response = sign_in(person).post("/api/v1/runs/", start(cast.lab), content_type="application/json")
    assert response.status_code == status


def test_a_session_changes_nothing_without_the_csrf_token(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.owner, backend="allauth.account.auth_backends.AuthenticationBackend")
    response = client.post("/api/v1/runs/", start(cast.lab), content_type="application/json")
    assert response.status_code == 403
    assert "CSRF" in response.json()["detail"]


def test_cancelling(cast: Cast, script: Scripts) -> None:
    with lab_scope(cast.lab.pk):
        queued, done = run(cast.lab, state="queued"), run(cast.lab)
    assert script("read")("POST", f"runs/{queued.pk}/cancel/", {}).status_code == 403
    assert script("run")("POST", f"runs/{queued.pk}/cancel/", {}).json()["state"] == "cancelled"
    response = script("run")("POST", f"runs/{done.pk}/cancel/", {})
    assert (response.status_code, response.json()["found"]) == (409, "finished")


@for_each("path", ["", "samples/", "series/", "histograms/", "artefacts/", "artefacts/result.json"])
def test_another_labs_run_is_not_there(reader: Script, secret_run: Run, path: str) -> None:
    response = reader.get(f"runs/{secret_run.pk}/{path}")
    assert response.status_code == 404
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json() == {
        "type": "about:blank", "title": "Not Found", "status": 404, "detail": "There is no such object in this lab.",
    }  # fmt: skip


def test_another_labs_run_is_not_cancelled(script: Scripts, secret_run: Run) -> None:
    assert script("admin")("POST", f"runs/{secret_run.pk}/cancel/", {}).status_code == 404


def test_lists_and_comparisons_hold_nothing_of_other_labs(reader: Script, own_runs: list[Run], secret_run: Run) -> None:
    for path in [*RESOURCES, "samples.csv", "samples.ndjson", "compare.csv"]:
        response = reader.get(path)
        body = b"".join(response.streaming_content) if response.streaming else response.content
        assert b"hidden" not in body, path
    assert reader.get("samples/?host=hidden").json()["results"] == []


def test_a_published_lab_is_read_by_all_and_changed_by_none(script: Scripts, report: Any) -> None:
    with lab_scope(report.pk):
        printed = Run.objects.first()
        body = {"target": target(report, "paper-host").pk, "workload": JOB, "repetitions": 1}
    assert script("read").get(f"runs/{printed.pk}/").status_code == 200
    assert script("admin")("POST", f"runs/{printed.pk}/cancel/", {}).status_code == 404
    assert script("admin")("POST", "runs/", body).status_code == 404


@pytest.mark.parametrize("secret", ["spl_unknown", "", "spa_1_agent"])
def test_an_unknown_token_is_refused(cast: Cast, secret: str) -> None:
    response = Script(secret).get("runs/")
    assert response.status_code == 401
    assert response.json()["detail"] == "This token is unknown, revoked or expired."


@pytest.mark.parametrize("field", ["revoked_at", "expires_at"])
def test_a_revoked_or_expired_token_is_refused(cast: Cast, reader: Script, field: str) -> None:
    assert reader.get("runs/").status_code == 200
    with lab_scope(cast.lab.pk):
        Token.objects.update(**{field: timezone.now() - timedelta(seconds=1)})
    assert reader.get("runs/").status_code == 401


def test_the_last_use_is_noted_at_most_once_a_minute(cast: Cast, reader: Script) -> None:
    def used() -> Any:
        with lab_scope(cast.lab.pk):
            return Token.objects.get().last_used_at

    reader.get("runs/")
    first = used()
    reader.get("runs/")
    assert used() == first is not None
    with lab_scope(cast.lab.pk):
        Token.objects.update(last_used_at=first - timedelta(minutes=2))
    reader.get("runs/")
    assert used() >= first


def test_a_token_counts_before_a_session(cast: Cast, own_runs: list[Run], reader: Script) -> None:
    client = Client()
    client.force_login(cast.stranger, backend="allauth.account.auth_backends.AuthenticationBackend")
    found = client.get("/api/v1/runs/", headers={"Authorization": f"Bearer {reader.secret}"}).json()["results"]
    assert {one["id"] for one in found} == {one.pk for one in own_runs}


def test_too_many_requests_are_told_when_to_come_again(reader: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TokenThrottle, "THROTTLE_RATES", {"token": "3/min"})
    clock = iter([1000.0, 1020.0, 1030.0, 1031.0, 1059.0, 1061.0])
    monkeypatch.setattr(TokenThrottle, "timer", lambda _: next(clock))
    answers = [reader.get("hosts/") for _ in range(6)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429, 429, 200]
    assert [one.headers.get("Retry-After") for one in answers[3:]] == ["29", "1", None]
    assert answers[3].json()["title"] == "Too Many Requests"
    assert answers[3].headers["Content-Type"] == "application/problem+json"


def test_each_token_and_each_person_has_a_count(
    script: Scripts, sign_in: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TokenThrottle, "THROTTLE_RATES", {"token": "2/min"})
    one, other = script("read"), script("run")
    assert [one.get("hosts/").status_code for _ in range(3)] == [200, 200, 429]
    assert [other.get("hosts/").status_code for _ in range(3)] == [200, 200, 429]
    viewer, engineer = sign_in("viewer"), sign_in("engineer")
    assert [viewer.get("/api/v1/hosts/").status_code for _ in range(3)] == [200, 200, 429]
    assert engineer.get("/api/v1/hosts/").status_code == 200


def test_while_redis_is_away_nobody_is_kept_out(reader: Script) -> None:
    away = {"default": {"BACKEND": "apps.core.cache.PatientRedisCache", "LOCATION": "redis://127.0.0.1:1/0"}}
    with override_settings(CACHES=away):
        assert reader.get("hosts/").status_code == 200


def test_other_sites_may_read_with_a_read_token_only(
    script: Scripts, cast: Cast, sign_in: Callable[[str], Client]
) -> None:
    allowed = "Access-Control-Allow-Origin"
    assert script("read").get("hosts/").headers[allowed] == "*"
    assert allowed not in script("run").get("hosts/").headers
    assert allowed not in script("read")("POST", "runs/", {}).headers
    assert allowed not in sign_in("owner").get("/api/v1/hosts/").headers


def test_a_browser_may_ask_before_whether_it_may_read(client: Client, cast: Cast) -> None:
    asks = {"Access-Control-Request-Method": "GET", "Origin": "https://wiki.example"}
    response = client.options("/api/v1/compare/", headers=asks)
    assert response.status_code == 204
    assert response.headers["Access-Control-Allow-Methods"] == "GET, HEAD"
    assert "Authorization" in response.headers["Access-Control-Allow-Headers"]
    writes = client.options("/api/v1/runs/", headers={**asks, "Access-Control-Request-Method": "POST"})
    assert "Access-Control-Allow-Origin" not in writes.headers


def test_a_wrong_method_says_so(reader: Script) -> None:
    response = reader("DELETE", "runs/")
    assert response.status_code == 405
    assert response.headers["Content-Type"] == "application/problem+json"


def test_an_address_that_leads_nowhere_leads_to_the_docs(reader: Script) -> None:
    response = reader.get("flights/")
    assert response.status_code == 404
    assert "/api/docs/" in response.json()["detail"]
