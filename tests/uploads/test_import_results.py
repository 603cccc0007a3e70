"""`./manage.py import_results`: files, folders and archives from this machine's disk."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.studies.models import Study, StudyRun
from apps.uploads.models import Upload, UploadedFile
from tests.uploads.conftest import OTHER, REPORT, tarred

pytestmark = pytest.mark.services


def imported(*paths: Path, **options: Any) -> str:
    out = StringIO()
    call_command("import_results", *map(str, paths), stdout=out, **options)
    return out.getvalue()


def test_a_folder_comes_with_its_paths_and_archives(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "old" / "host3").mkdir(parents=True)
    (tmp_path / "old" / "host3" / "run.json").write_bytes(REPORT)
    (tmp_path / "old" / "rest.tgz").write_bytes(tarred({"other.json": OTHER}))
    said = imported(tmp_path / "old", lab=lab.slug)
    assert "3 files, 2 runs" in said
    names = set(UploadedFile.objects.values_list("name", flat=True))
    assert names == {"old/host3/run.json", "old/rest.tgz", "old/rest.tgz/other.json"}
    assert Run.objects.count() == 2
    assert Upload.objects.get().state == "parsed"


def test_doing_it_again_keeps_nothing_twice(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(REPORT)
    imported(tmp_path, lab=lab.slug)
    assert "0 runs" in imported(tmp_path, lab=lab.slug)
    assert Run.objects.count() == 1


def test_host_and_study_are_given_by_name(lab: Lab, tmp_path: Path) -> None:
    Host.objects.create(lab=lab, name="beta")
    Study.objects.create(lab=lab, slug="cables", title="Cables")
    (tmp_path / "run.json").write_bytes(REPORT)
    imported(tmp_path / "run.json", lab=lab.name, host="beta", study="cables", labels="cable=old")
    run = Run.objects.get()
    assert run.host is not None
    assert (run.host.name, run.labels["cable"]) == ("beta", "old")
    assert StudyRun.objects.get(run=run).configuration.study.slug == "cables"


def test_a_preview_waits_for_a_person(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(REPORT)
    imported(tmp_path, lab=lab.slug, preview=True)
    assert not Run.objects.exists()
    assert UploadedFile.objects.get().reading is not None


def test_what_is_not_readable_is_named_with_its_line(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "milk.txt").write_text("\nbuy milk\n")
    assert "milk.txt line 1: no format recognises this file" in imported(tmp_path / "milk.txt", lab=lab.slug)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lab": "nowhere"}, "There is no lab 'nowhere'. Labs here: "),
        ({"host": "gamma"}, "--host: found 'gamma', expected one of: none"),
        ({"study": "x"}, "--study: found 'x'"),
        ({"labels": "cable"}, "expected name=value"),
    ],
)
def test_a_wrong_option_says_what_there_is(lab: Lab, tmp_path: Path, options: dict[str, str], words: str) -> None:
    (tmp_path / "run.json").write_bytes(REPORT)
    with pytest.raises(CommandError) as error:
        imported(tmp_path, **{"lab": lab.slug, **options})
    assert words in str(error.value)
    assert not Upload.objects.exists()


def test_a_path_that_is_not_there_is_named(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Not here: "):
        imported(tmp_path / "nothing", lab=lab.slug)


def test_an_empty_folder_is_an_error_that_says_so(lab: Lab, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no files"):
        imported(tmp_path, lab=lab.slug)
