"""A run of an uploaded file has its page, its bytes and its text, whatever the file is called and however deep it lay."""

import html
import re
from collections.abc import Callable

import pytest
from django.test import Client

from apps.labs.models import TokenScope
from apps.runs.models import Run
from tests.uploads.conftest import REPORT, Bring, tarred, zipped

NAMES = [
    "host1/2009/fio.json", "a b/ü #1?.json", "50%/x%2Fy.json", "x.json/text", "text/text/text", "-", "a&b;c=d+e.json", "'\"<b>.json",
    "a\nb.json", "a//b/./c.json", "日本語/結果.json",
]  # fmt: skip
REFUSED = ["\\\\server\\share\\fio.json", "../../up.json", "d" * 240 + "/" + "n" * 900]  # as names of members


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_every_link_of_the_runs_page_leads_to_its_bytes(bring: Bring, engineer: Client, name: str) -> None:
    bring({"years of results.zip": zipped({name: REPORT})}, keep_at_once=True)
    followed(engineer)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*NAMES, *REFUSED], ids=range(len(NAMES + REFUSED)))
def test_the_same_of_a_file_that_came_by_itself(bring: Bring, engineer: Client, name: str) -> None:
    bring({name: REPORT}, keep_at_once=True)
    followed(engineer)


def followed(engineer: Client) -> None:
    page = engineer.get(Run.objects.get().get_absolute_url())
    assert page.status_code == 200
    raw, text = re.findall(r'href="([^"]*/artefacts/[^"]*)"', page.content.decode())
    answer = engineer.get(html.unescape(raw))
    assert b"".join(answer.streaming_content) == REPORT  # type: ignore[attr-defined]
    assert "/" not in answer["Content-Disposition"].partition("filename")[2].replace("UTF-8''", "")
    assert "fio version" in engineer.get(html.unescape(text)).content.decode()


def test_the_names_of_an_archive_in_an_archive(bring: Bring, engineer: Client, token: Callable[[str], str]) -> None:
    bring({"all.tgz": tarred({"2010/inner.zip": zipped({"host/run 1.json": REPORT})})}, keep_at_once=True)
    run = Run.objects.get()
    assert engineer.get(run.get_absolute_url()).status_code == 200
    asking = Client(headers={"authorization": f"Bearer {token(TokenScope.READ)}"})
    (found,) = asking.get(f"/api/v1/runs/{run.pk}/artefacts/").json()["results"]
    assert found["name"] == "all.tgz/2010/inner.zip/host/run 1.json"
    answer = asking.get(found["url"])
    assert b"".join(answer.streaming_content) == REPORT  # type: ignore[attr-defined]
