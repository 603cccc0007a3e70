"""From the start page of a lab that brought an archive of every format: no link leads to an error."""

import html
import re
from collections import Counter, deque
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client

from apps.labs.models import Lab
from apps.studies.models import Study
from tests.dashboard import world
from tests.parsers.seeds import TEXTS
from tests.sampling import IS_LONG
from tests.uploads.conftest import REPORT, Bring, zipped

LINK = re.compile(r'\s(?:href|src|hx-get)="([^"]+)"')
HIDDEN = re.compile(r"<p [^>]*hidden>.*?</p>")
OF_A_KIND = 3 if IS_LONG else 2  # pages that are looked at
LEFT_OUT = ("/static/", "/accounts/")


def kinds_of(address: str) -> list[str]:
    """Return `/runs/N/?base&metric` for all that differ in numbers and values.

    In the short form one for each parameter, `/runs/N/?base` and `/runs/N/?metric`: of eight that may come together or
    not there are hundreds of pages.
    """
    parts = urlsplit(address)
    path = re.sub(r"[0-9]+", "N", re.sub(r"/artefacts/.*", "/artefacts/", parts.path))
    names = sorted({pair.partition("=")[0] for pair in parts.query.split("&")})
    return [f"{path}?{'&'.join(names)}"] if IS_LONG else [f"{path}?{name}" for name in names]


def crawled(client: Client, start: str) -> tuple[Counter[str], list[str]]:
    """(the kinds of pages seen, what answered with an error and where its link stood)."""
    waiting, known, kinds, wrong = deque([(start, "")]), {start}, Counter[str](), list[str]()
    while waiting:
        address, came_from = waiting.popleft()
        answer: Any = client.get(address)
        if answer.status_code >= 400:
            wrong.append(f"{answer.status_code} {address} on {came_from}")
        if answer.streaming or "html" not in answer.get("Content-Type", ""):
            continue
        for link in (
            [answer["Location"]] if "Location" in answer else LINK.findall(HIDDEN.sub("", answer.content.decode()))
        ):
            found = urljoin(address, html.unescape(link)).partition("#")[0]
            is_new = found.startswith("/") and not found.startswith(LEFT_OUT) and found not in known
            if is_new and any(kinds[kind] < OF_A_KIND for kind in kinds_of(found)):
                kinds.update(kinds_of(found))
                known.add(found)
                waiting.append((found, address))
    return kinds, wrong


@pytest.mark.slow
def test_no_link_leads_to_an_error(lab: Lab, bring: Bring, sign_in: Any, settings: Any, tmp_path: Any) -> None:
    settings.ARTEFACT_DIR = tmp_path
    world.furnish(lab)
    study = Study.objects.create(lab=lab, slug="years", title="Years of results")
    files = {f"лаб 1/host#{number}/{name} 50%.txt": text.encode() for number, (name, text) in enumerate(TEXTS.items())}
    bring({"all years.zip": zipped(files)}, keep_at_once=True, study=study, labels={"configuration": "RAID 5, sw"})
    bring({"again.zip": zipped({**files, "new/fio?.json": REPORT})})
    kinds, wrong = crawled(sign_in("owner"), "/")
    assert not wrong
    assert {"/runs/N/?", "/runs/N/artefacts/?", "/uploads/N/files/N/?", "/studies/years/?", "/compare/?"} <= {*kinds}
