"""Since when an answer is as it is: a bot that asks by date gets what changed, whatever it was, and nothing twice."""

from typing import Any

import pytest
from django.utils.http import parse_http_date

from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.runs.models import Run
from tests.api.conftest import Script
from tests.conftest import Cast

COMPARE = "compare/?metric=bandwidth&operation=write&x=file_size"


def since(response: Any) -> int:
    return parse_http_date(response.headers["Last-Modified"])


@pytest.mark.slow
@pytest.mark.usefixtures("report")
@pytest.mark.parametrize("form", ["json", "markdown", "svg"])
def test_asked_by_date_the_same_is_not_sent_again(reader: Script, cast: Cast, own_runs: list[Run], form: str) -> None:
    """Whatever changes: here the host's name, which no date of a run tells."""
    address = f"{COMPARE}&format={form}"
    first = reader.get(address)
    date_of_first = {"If-Modified-Since": first.headers["Last-Modified"]}
    again = reader.get(address, **date_of_first)
    assert (again.status_code, again.content, since(again)) == (304, b"", since(first))
    assert reader.get(address, **date_of_first, **{"If-None-Match": '"other"'}).status_code == 200
    with lab_scope(cast.lab.pk):
        Host.objects.filter(pk=own_runs[0].host_id).update(name="gamma")
    changed = reader.get(address, **date_of_first)
    assert changed.status_code == 200
    assert since(changed) > since(first)


@pytest.mark.parametrize("date", ["nonsense", "Thu, 01 Jan 1970 00:00:00 GMT"])
def test_a_run_has_the_date_of_its_last_change(reader: Script, own_runs: list[Run], date: str) -> None:
    address = f"runs/{own_runs[0].pk}/"
    first = reader.get(address)
    date_of_first = {"If-Modified-Since": first.headers["Last-Modified"]}
    assert reader.get(address, **date_of_first).status_code == 304
    assert reader.get(address, **{"If-Modified-Since": date}).status_code == 200
    with lab_scope(own_runs[0].lab_id):
        Run.objects.filter(pk=own_runs[0].pk).update(labels={"kernel": "6.1"})
    assert reader.get(address, **date_of_first).status_code == 200


def test_a_change_within_one_second_has_a_later_date(reader: Script, own_runs: list[Run]) -> None:
    address, found = f"runs/{own_runs[0].pk}/", []
    for kernel in ("6.1", "6.2", "6.1"):
        with lab_scope(own_runs[0].lab_id):
            Run.objects.filter(pk=own_runs[0].pk).update(labels={"kernel": kernel})
        found.append(since(reader.get(address)))
    assert found[0] < found[1] < found[2]


def test_each_address_and_form_has_a_date_of_its_own(reader: Script, own_runs: list[Run]) -> None:
    address = f"runs/{own_runs[0].pk}/"
    first = since(reader.get(address))
    reader.get(f"{address}?format=csv")
    reader.get(f"{address}?base=1024")
    assert since(reader.get(address)) == first
