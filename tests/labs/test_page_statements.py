"""Every page sends as many statements for a lab with much as for one with little (D2)."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.labs.isolation import lab_scope
from apps.parsers.core.models import ParsedSample
from apps.runs.models import Run
from apps.runs.samples import save_samples
from apps.studies.models import Configuration, StudyRun
from tests.conftest import Cast
from tests.labs.test_routes import WALKED, address_of
from tests.labs.world import build
from tests.sampling import SEED, sample

pytestmark = [pytest.mark.slow]
STREAMS = ("stream", "events", "poll")  # of what never ends
FEW, MANY = range(2), range(2, 6)


def test_pages_send_the_same_statements_for_few_things_and_for_many(
    cast: Cast, sign_in: Callable[[str], Client]
) -> None:
    client = sign_in("owner")
    keys = build(cast.lab).keys
    _grow(cast, keys, FEW)
    few = {path: found for path in _paths(keys) if (found := _statements(client, path)) is not None}
    assert len(few) > 60
    _grow(cast, keys, MANY)
    grown = {path: (before, after) for path, before in few.items() if (after := _again(client, path, before)) != before}
    assert not grown, f"drawn with SPINDLE_SEED={SEED}: {grown}"


def _paths(keys: dict[str, int]) -> list[str]:
    """Return the addresses of all lists and of a sample of the pages of one thing; of all pages in the long form."""
    routes = [route for route in WALKED if not any(word in route[0] for word in STREAMS)]
    lists = [route for route in routes if "<" not in route[1]]
    of_one = sample([route for route in routes if "<" in route[1]], 90, "statements")
    return sorted({address_of(name, path, keys) for name, path in [*lists, *of_one]})


def _statements(client: Client, path: str) -> int | None:
    """Return how many statements a page takes the second time; None where there is no page."""
    return None if client.get(path).status_code != 200 else _count(client, path)


def _again(client: Client, path: str, before: int) -> int:
    """Return how many it takes now: one look is enough where they are as many as before, with nothing new to be kept."""
    return after if (after := _count(client, path)) == before else _count(client, path)


def _count(client: Client, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get(path)
    return len(captured)


def _grow(cast: Cast, keys: dict[str, int], numbers: range) -> None:
    """Add things of every kind, and runs to the first host, target and study."""
    for number in numbers:
        build(cast.lab, number + 1)
        with lab_scope(cast.lab.pk):
            for size in (1 << 20, 1 << 21):
                run = Run.objects.create(
                    lab=cast.lab, tool="fio", origin="uploaded", host_id=keys["host"], target_id=keys["target"],
                    state="finished", facts={"raid_level": str(number)}, finished_at=timezone.now(),
                )  # fmt: skip
                save_samples(run, [ParsedSample("read", "bandwidth", 1e6 + number, file_size=size)], None)
            row = Configuration.objects.create(
                study_id=Configuration.objects.get(pk=keys["configuration"]).study_id, name=f"row-{number}", label="row"
            )
            StudyRun.objects.create(run=run, configuration=row)
