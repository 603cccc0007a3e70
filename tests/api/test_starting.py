"""A script starts runs: what it is answered, what is stored, and what is refused with nothing done."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.api.throttles import TokenThrottle
from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import Token
from apps.runs.models import Run, Workload
from tests.api.conftest import Script
from tests.comparison.factories import MIB, target
from tests.conftest import Cast
from tests.sampling import for_each

JOB = {"rw": "write", "block_size": MIB, "file_size": 16 * MIB}


@pytest.fixture
def place(cast: Cast) -> Target:
    with lab_scope(cast.lab.pk):
        return target(cast.lab)


def _ask(secret: str, body: Any, **headers: str) -> Any:
    return Script(secret)("POST", "runs/", body, **headers)


def _wish(place: Target, **more: Any) -> dict[str, Any]:
    return {"target": place.pk, "workload": {"tool": "fio", "jobs": [JOB]}, **more}


def _nothing_was_done() -> bool:
    with all_labs():
        return not Run.objects.exists() and not Workload.objects.exists()


def test_the_answer_is_the_first_run_and_the_ids_of_all(place: Target, token: Callable[[str], str]) -> None:
    answer = _ask(token("run"), _wish(place, repetitions=2))
    assert answer.status_code == 201
    found = answer.json()
    assert answer.headers["Location"] == found["url"]
    assert found["runs"][0] == found["id"]
    assert len(found["runs"]) == 2
    read = Script(token("read")).get(f"runs/{found['id']}/").json()
    assert {name for name in read if read[name] != found.get(name)} == {"waiting_because"}


def test_the_runs_are_there_with_their_starter(place: Target, token: Callable[[str], str], cast: Cast) -> None:
    found = _ask(token("run"), _wish(place, repetitions=3)).json()
    with lab_scope(cast.lab.pk):
        runs = Run.objects.filter(pk__in=found["runs"]).order_by("id")
        assert [(run.repetition, run.state, run.created_by) for run in runs] == [
            (number, "queued", "token run token") for number in (1, 2, 3)
        ]
        assert Token.objects.get().last_used_at is not None
        assert found["workload"]["file_size"] == 16 * MIB


def test_the_same_workload_is_stored_once_and_one_job_may_stand_alone(
    place: Target, token: Callable[[str], str]
) -> None:
    secret = token("admin")
    assert _ask(secret, _wish(place)).status_code == _ask(secret, _wish(place, workload=JOB)).status_code == 201
    with all_labs():
        assert Workload.objects.count() == 1


@pytest.mark.parametrize("scope", ["read", "upload"])
def test_a_token_of_another_scope_starts_nothing(place: Target, token: Callable[[str], str], scope: str) -> None:
    assert _ask(token(scope), _wish(place)).status_code == 403
    assert _nothing_was_done()


@pytest.mark.parametrize("change", [{"revoked_at": timezone.now()}, {"expires_at": timezone.now() - timedelta(days=1)}])
def test_a_dead_token_starts_nothing(place: Target, token: Callable[[str], str], change: dict[str, Any]) -> None:
    secret = token("run")
    with all_labs():
        Token.objects.update(**change)
    assert _ask(secret, _wish(place)).status_code == 401
    assert _nothing_was_done()


@for_each("authorization", ["", "Bearer ", "Bearer spl_unknown", "Basic eDp5", "spl_unknown"])
def test_who_has_no_token_starts_nothing(place: Target, authorization: str) -> None:
    assert _ask("", _wish(place), Authorization=authorization, Cookie="sessionid=whatever").status_code == 401
    assert _nothing_was_done()


def test_another_labs_target_is_not_there(cast: Cast, token: Callable[[str], str]) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = target(cast.other_lab)
    assert _ask(token("run"), _wish(theirs)).status_code == 404
    assert _nothing_was_done()


def test_a_host_in_maintenance_or_a_foreign_folder_is_refused(place: Target, token: Callable[[str], str]) -> None:
    secret = token("run")
    with all_labs():
        Host.objects.update(is_in_maintenance=True)
    assert _ask(secret, _wish(place)).status_code == 400
    with all_labs():
        Host.objects.update(is_in_maintenance=False)
        Target.objects.update(is_agents_own=False)
    assert _ask(secret, _wish(place)).status_code == 400
    assert _nothing_was_done()


@for_each(
    "change",
    [
        {"target": None}, {"target": True}, {"repetitions": 0}, {"repetitions": 101}, {"workload": None}, {"workload": {}},
        {"workload": {"jobs": [{**JOB, "rw": "shred"}]}}, {"workload": {**JOB, "exec_prerun": "rm"}}, {"other": 1},
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(place: Target, token: Callable[[str], str], change: dict[str, Any]) -> None:
    answer = _ask(token("run"), _wish(place) | change)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert _nothing_was_done()


@for_each("raw", [b"", b"[]", b"1", b"{", b'{"target": 1}', b"\xff"])
def test_what_is_no_wish_is_refused(token: Callable[[str], str], raw: bytes) -> None:
    assert _ask(token("run"), raw).status_code == 400


def test_a_host_name_that_is_not_served_is_refused(place: Target, token: Callable[[str], str]) -> None:
    assert _ask(token("run"), _wish(place), Host="elsewhere.example").status_code == 400
    assert _nothing_was_done()


def test_another_form_of_answer_is_refused(place: Target, token: Callable[[str], str]) -> None:
    assert _ask(token("run"), _wish(place), Accept="text/csv").status_code == 406
    assert _nothing_was_done()


def test_too_many_requests_are_refused(
    place: Target, token: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TokenThrottle, "THROTTLE_RATES", {"token": "3/min"})
    secret = token("run")
    assert [_ask(secret, _wish(place)).status_code for _ in range(5)] == [201, 201, 201, 429, 429]


@pytest.mark.parametrize(
    ("model", "change", "status"),
    [
        (Token, {"revoked_at": timezone.now()}, 401), (Token, {"expires_at": timezone.now() - timedelta(days=1)}, 401),
        (Token, {"scope": "read"}, 403), (Token, {"secret_sha256": "0" * 64}, 401), (Host, {"is_in_maintenance": True}, 400),
        (Target, {"is_agents_own": False}, 400),
    ],
)  # fmt: skip
def test_a_start_is_judged_by_what_is_so_now(
    place: Target, token: Callable[[str], str], model: Any, change: dict[str, Any], status: int
) -> None:
    secret = token("run")
    assert _ask(secret, _wish(place)).status_code == 201
    with all_labs():
        model.objects.update(**change)
    assert _ask(secret, _wish(place)).status_code == status
    with all_labs():
        assert Run.objects.count() == 1


def test_new_names_are_seen_at_the_next_start(place: Target, token: Callable[[str], str]) -> None:
    secret = token("run")
    _ask(secret, _wish(place))
    with all_labs():
        Host.objects.update(name="renamed")
        Token.objects.update(name="other")
    found = _ask(secret, _wish(place)).json()
    assert (found["host_name"], found["created_by"]) == ("renamed", "token other")


class TestSeveralTargets:
    @pytest.fixture
    def other(self, cast: Cast) -> Target:
        with lab_scope(cast.lab.pk):
            return target(cast.lab, "another", "second")

    def test_runs_start_on_all_of_them(self, place: Target, other: Target, token: Callable[[str], str]) -> None:
        wish = {**_wish(place), "targets": [other.pk, place.pk], "repetitions": 2}
        del wish["target"]
        answer = _ask(token("run"), wish)
        assert answer.status_code == 201, answer.content
        found = answer.json()
        with all_labs():
            runs = Run.objects.in_bulk(found["runs"])
        assert [(runs[pk].target_id, runs[pk].repetition) for pk in found["runs"]] == [
            (other.pk, 1), (other.pk, 2), (place.pk, 1), (place.pk, 2),
        ]  # fmt: skip
        assert (found["id"], found["target"]) == (found["runs"][0], other.pk)

    def test_one_that_takes_no_runs_stops_all_and_is_named(
        self, place: Target, other: Target, token: Callable[[str], str]
    ) -> None:
        with all_labs():
            Target.objects.filter(pk=other.pk).update(is_agents_own=False)
        answer = _ask(token("run"), {"targets": [place.pk, other.pk], "workload": JOB})
        assert (answer.status_code, answer.json()["found"]) == (400, "second")
        assert _nothing_was_done()

    def test_what_is_wrong_is_refused(self, place: Target, cast: Cast, token: Callable[[str], str]) -> None:
        secret = token("run")
        with lab_scope(cast.other_lab.pk):
            theirs = target(cast.other_lab)
        for targets, status in (
            ([], 400), ([place.pk] * 2, 400), ("1", 400), ([True], 400), ([[1]], 400), (list(range(1, 52)), 400),
            ([place.pk, theirs.pk], 404), ([place.pk, 2**40], 404),
        ):  # fmt: skip
            answer = _ask(secret, {"targets": targets, "workload": JOB})
            assert answer.status_code == status, (targets, answer.content)
        assert _ask(secret, {"workload": JOB}).status_code == 400
        assert _ask(secret, {**_wish(place), "targets": [place.pk]}).status_code == 400
        assert _nothing_was_done()


def test_a_target_says_why_it_takes_no_runs(place: Target, token: Callable[[str], str]) -> None:
    def read() -> tuple[bool, str]:
        found = Script(token("read")).get(f"targets/{place.pk}/").json()
        return found["takes_runs"], found["takes_no_runs_because"]

    assert read() == (True, "")
    with all_labs():
        Target.objects.update(is_agents_own=False)
        host = str(Host.objects.get())
    assert read() == (False, f"{host} has no agent")


def test_several_targets_never_go_into_one_configuration(
    place: Target, token: Callable[[str], str], cast: Cast
) -> None:
    with lab_scope(cast.lab.pk):
        other = target(cast.lab, "alpha", "second")
    wish = {"targets": [place.pk, other.pk], "workload": JOB, "study": "any", "configuration": "ext4"}
    answer = _ask(token("run"), wish)
    assert (answer.status_code, "each target decides" in answer.text) == (400, True)
    assert _nothing_was_done()
