"""Every route × every role × another lab's object: never seen, never named, never changed.

The routes are taken from the URL configuration itself, so a new one is tested from the day it is there.
"""

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.urls import URLPattern, get_resolver

from apps.api.urls import EDITED
from apps.labs.isolation import LabScoped, ThroughParent, lab_scope
from apps.labs.models import Lab
from tests.agents.conftest import agent  # noqa: F401  (an approved agent of our lab)
from tests.labs.world import SECRET_WORD, build
from tests.sampling import SEED, sample

# Routes of a person's own account, or that hold no lab's object; everything else is walked.
WITHOUT_OBJECTS = (
    "account_",
    "healthz",
    "api-schema",
    "api-docs",
    "api-nowhere",
    "agent-program",
    "agent-install",
    "agent-service",
    "agent-probe-service",
    "agent-probe-timer",
    "agent-drop-service",
    "agent-drop-path",
    "agent-self",
)
# route name, or its beginning → which object its number means
MEANING = {
    "agent-awaited": "enrolment",
    "agent-decide": "agent",
    "agent-accept": "attempt",
    "agent-refuse": "attempt",
    "agent-running": "attempt",
    "agent-chunk": "attempt",
    "agent-finish": "attempt",
    "member": "member",
    "token": "token",
    "tool-output": "tool-output",
    "uploaded-file": "file",
    "saved-comparison": "saved-comparison",
    "api-comparison": "saved-comparison",
    "saved-workload": "saved-workload",
    "api-saved-workload": "saved-workload",
    "found-inventory": "found-inventory",
    "inventory-import": "inventory-import",
    "api-inventory-import": "inventory-import",
    "trend": "watch",
    "trend-mark-remove": "trend-mark",
    "change-point": "change-point",
    "destination": "destination",
    "delivery": "delivery",
    "api-trend": "watch",
    "api-upload": "upload",
    **{f"api-{name}": name for name in EDITED},
    "api-lab": "lab",
    "api-host": "host",
    "api-target": "target",
    "api-snapshot": "snapshot",
    "api-run": "run",
    "api-claim": "claim",
    "study-comparison": "study-comparison",
    "api-plan": "plan",
}
WORDS = {
    "name": "result.json",
    "act": "approve",
    "format": "csv",
    "stream": "result",
    "sequence": 0,
    "slug": "their-study",
    "metric": "bandwidth",
    "factor": "filesystem",
    "configuration": "one",
    "point": "p",
}
ROLES = ["viewer", "engineer", "owner"]
METHODS = ["get", "post", "put", "patch", "delete"]
SCOPES = ["read", "upload", "run", "admin"]


def routes(patterns: list[Any] | None = None, before: str = "") -> Iterator[tuple[str, str]]:
    """(name, path with its parameters) of every route."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield pattern.name or "", path
        else:
            yield from routes(pattern.url_patterns, path)


WALKED = [(name, path) for name, path in routes() if not name.startswith(WITHOUT_OBJECTS)]
WITH_OBJECT = [(name, path) for name, path in WALKED if "<int:pk>" in path]


def _means(name: str, keys: dict[str, int]) -> int:
    """Whose number a route takes: the longest beginning in MEANING, else the part of its name before the hyphen."""
    begins = [begin for begin in MEANING if name.startswith(begin)]
    return keys[MEANING[max(begins, key=len)] if begins else name.split("-")[0]]


def address_of(name: str, path: str, keys: dict[str, int]) -> str:
    if "<int:pk>" in path:
        path = path.replace("<int:pk>", str(_means(name, keys)))
    for word, value in {
        **WORDS,
        "upload": keys["upload"],
        "other": keys["snapshot"],
        "kind": "disks",
        "member": keys["member"],
        "invitation": keys["invitation"],
    }.items():
        for kind in ("str", "slug", "path", "int"):
            path = path.replace(f"<{kind}:{word}>", str(value))
    path = path.replace("<path:rest>", "nothing")
    assert "<" not in path, f"{name}: tell this test what {path} means"
    return "/" + path


def _census(lab: Lab) -> dict[str, list[Any]]:
    """Every row of the lab, to see that nothing changed."""
    with lab_scope(lab.pk):
        return {
            model.__name__: list(model._default_manager.order_by("pk").values())
            for model in apps.get_models()
            if issubclass(model, LabScoped | ThroughParent)
        }


def _ask(client: Client, method: str, address: str, headers: dict[str, str]) -> Any:
    body = json.dumps({"token": 1, "role": "owner", "outputs": []})
    if method == "get":
        return client.get(address, headers=headers)
    return getattr(client, method)(address, body, content_type="application/json", headers=headers)


def _text(response: Any) -> str:
    content = b"".join(response.streaming_content) if response.streaming else response.content
    return str(content.decode("utf-8", "replace"))


def _faults(client: Client, headers: dict[str, str], keys: dict[str, int], caller: str) -> list[str]:
    """Return what is wrong with the answers to requests for the objects of `keys`.

    The short form takes a part of routes and methods, another one for each caller, and for an owner all that are read.
    """
    faults = []
    requests = sample(product(METHODS, WALKED), 60, caller)
    if caller == "owner":
        requests = list(dict.fromkeys([*(("get", route) for route in WALKED), *requests]))
    for method, (name, path) in requests:
        address = address_of(name, path, keys)
        answer = _ask(client, method, address, headers)
        where = f"{caller}: {method.upper()} {address} ({name}) answered {answer.status_code}"
        is_refused = answer.status_code in (302, 401, 403, 404, 405, 415)
        if answer.status_code == 302 and "login" not in answer.headers["Location"]:
            is_refused = False
        if answer.status_code >= 500 or ((name, path) in WITH_OBJECT and not is_refused):
            faults.append(where)
        if SECRET_WORD in _text(answer):
            faults.append(f"{where} and shows the other lab's words")
    return faults


def test_the_walk_meets_all_routes() -> None:
    assert len(WALKED) > 50
    assert len(WITH_OBJECT) > 25


def test_another_labs_object_is_not_there_for_anybody(cast, sign_in, token, agent) -> None:  # noqa: F811
    callers: dict[str, tuple[Client, dict[str, str]]] = {
        "nobody": (Client(), {}),
        **{role: (sign_in(role), {}) for role in ROLES},
        **{f"{scope} token": (Client(), {"Authorization": f"Bearer {token(scope)}"}) for scope in SCOPES},
        "agent": (Client(), agent.headers),
    }
    theirs = build(cast.other_lab)
    before = _census(cast.other_lab)
    faults = [
        fault
        for caller, (client, headers) in callers.items()
        for fault in _faults(client, headers, theirs.keys, caller)
    ]
    assert not faults, f"drawn with SPINDLE_SEED={SEED}"
    assert _census(cast.other_lab) == before


SHOWN = {
    "host",
    "disk",
    "run",
    "api-run",
    "api-host",
    "api-run-samples",
    "target",
    "upload",
    "uploaded-file",
    "trend",
    "api-trend",
}


@pytest.mark.parametrize("role", sample(["viewer", "engineer", "owner"], 1))
def test_the_same_routes_do_answer_in_the_own_lab(cast, sign_in, role) -> None:
    """Otherwise the walk above would pass on a product that answers nothing."""
    ours = build(cast.lab)
    client = sign_in(role)
    seen = []
    walked = [route for route in WITH_OBJECT if not route[0].startswith(("agent", "member", "token"))]
    others = sample([route for route in walked if route[0] not in SHOWN and route[0] != "run-cancel"], 40)
    for name, path in [*(route for route in walked if route[0] in SHOWN), *others]:
        answer = client.get(address_of(name, path, ours.keys))
        if answer.status_code == 200 and SECRET_WORD in _text(answer):
            seen.append(name)
    assert set(seen) >= SHOWN


def test_a_published_lab_may_be_read_and_not_changed(cast, sign_in) -> None:
    theirs = build(cast.other_lab)
    Lab.objects.filter(pk=cast.other_lab.pk).update(is_published=True)
    before = _census(cast.other_lab)
    client = sign_in("owner")
    assert client.get(f"/runs/{theirs.keys['run']}/").status_code == 200
    assert client.post(f"/runs/{theirs.keys['run']}/cancel/").status_code == 404
    assert client.post(f"/api/v1/runs/{theirs.keys['run']}/cancel/").status_code == 404
    assert _census(cast.other_lab) == before
