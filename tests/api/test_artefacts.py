"""Raw bytes come back as they came, and a browser only ever saves them."""

from pathlib import Path

import pytest

from apps.labs.isolation import lab_scope
from apps.runs.artefacts.store import keep
from apps.runs.models import Run, RunArtefact
from tests.api.conftest import Script
from tests.comparison.factories import run
from tests.conftest import Cast

EVIL = b"<script>alert(1)</script>" * 100_000


@pytest.fixture
def kept(cast: Cast, tmp_path: Path, settings: object) -> Run:
    settings.ARTEFACT_DIR = tmp_path  # type: ignore[attr-defined]
    with lab_scope(cast.lab.pk):
        one = run(cast.lab)
        for name, data in (("result.json", EVIL), ('we"ird/n\u00e4me.html', b"x")):
            RunArtefact.objects.create(run=one, artefact=keep(cast.lab.pk, data), name=name, kind="result")
    return one


def test_artefacts_are_listed_with_hash_and_size(reader: Script, kept: Run) -> None:
    first, second = reader.get(f"runs/{kept.pk}/artefacts/").json()["results"]
    assert (first["name"], first["size"], len(first["sha256"])) == ("result.json", len(EVIL), 64)
    assert reader.get(second["url"].removeprefix("http://testserver")).status_code == 200


def test_the_bytes_come_back_to_be_saved_and_never_shown(reader: Script, kept: Run) -> None:
    response = reader.get(f"runs/{kept.pk}/artefacts/result.json")
    assert b"".join(response.streaming_content) == EVIL
    assert response.headers["Content-Type"] == "application/octet-stream"
    assert response.headers["Content-Disposition"] == 'attachment; filename="result.json"'
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("sandbox")
    assert response.headers["Content-Length"] == str(len(EVIL))


def test_a_file_name_can_not_break_out_of_its_header(reader: Script, kept: Run) -> None:
    address = reader.get(f"runs/{kept.pk}/artefacts/").json()["results"][1]["url"].removeprefix("http://testserver")
    assert reader.get(address).headers["Content-Disposition"] == 'attachment; filename="we_ird_n_me.html"'


def test_an_artefact_that_is_not_there(reader: Script, kept: Run) -> None:
    assert reader.get(f"runs/{kept.pk}/artefacts/other.json").status_code == 404


def test_bytes_that_are_gone_are_said_to_be_gone(reader: Script, kept: Run, tmp_path: Path) -> None:
    for file in tmp_path.rglob("*.z"):
        file.unlink()
    response = reader.get(f"runs/{kept.pk}/artefacts/result.json")
    assert response.status_code == 410
    assert "cannot be read" in response.json()["detail"]
