"""`./manage.py import_results`: files, folders and archives from this machine's disk."""

import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.inventory.models import Host
from apps.labs.models import AuditEvent, Lab
from apps.runs.artefacts.store import ArtefactStoreError
from apps.runs.models import Run
from apps.studies.models import Study, StudyRun
from apps.uploads import services
from apps.uploads.disk_import import DiskPaths, UnreadableFileError
from apps.uploads.management.commands import import_results
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


def failed(*paths: Path, **options: Any) -> tuple[str, str]:
    """What was said, and the sentence that goes with exit status 1."""
    out = StringIO()
    with pytest.raises(CommandError) as error:
        call_command("import_results", *map(str, paths), stdout=out, **options)
    return out.getvalue(), str(error.value)


def test_what_is_not_recognised_is_named_with_line_found_and_expected(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "milk.txt").write_text("\nbuy milk\n")
    (tmp_path / "run.json").write_bytes(REPORT)
    said = imported(tmp_path, lab=lab.slug)
    assert "milk.txt line 1: no format recognises this file; found 'buy milk', expected the output of" in said


def test_nothing_found_in_anything_is_a_failure(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "milk.txt").write_text("\nbuy milk\n")
    said, why = failed(tmp_path / "milk.txt", lab=lab.slug)
    assert "milk.txt line 1: no format" in said
    assert why == "No results were found in what was named. The bytes are kept."
    assert UploadedFile.objects.get().artefact is not None


def test_a_file_that_the_disk_does_not_give_is_told_and_the_others_go_on(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(REPORT)
    said, why = failed(tmp_path / "run.json", Path("/proc/self/mem"), lab=lab.slug)
    assert "  /proc/self/mem: cannot be read: Input/output error\n" in said
    assert "1 of what was named are not here" in why
    assert (Upload.objects.get().state, Run.objects.count()) == ("parsed", 1)


def test_a_large_file_that_the_disk_does_not_give_is_told_as_well(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.json").write_bytes(REPORT)
    monkeypatch.setattr(import_results, "_SMALL", -1)
    said, _ = failed(tmp_path / "run.json", Path("/proc/self/mem"), lab=lab.slug)
    assert "proc/self/mem: cannot be read" in said
    assert Run.objects.count() == 1


def test_a_folder_that_nobody_may_enter_is_told(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "locked").mkdir()
    (tmp_path / "run.json").write_bytes(REPORT)
    scandir = os.scandir

    def guarded(path: Any) -> Any:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    said, _ = failed(tmp_path, lab=lab.slug)
    assert f"{tmp_path}/locked: cannot be read: Permission denied" in said
    assert Run.objects.count() == 1


def test_a_full_store_is_one_sentence(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise ArtefactStoreError(28, "The bytes could not be kept in x: No space left on device.")

    (tmp_path / "run.json").write_bytes(REPORT)
    monkeypatch.setattr(services, "keep_all", full)
    assert "No space left on device. Of what was named, 0 files are here." in failed(tmp_path, lab=lab.slug)[1]
    assert not Upload.objects.exists()


def test_a_link_is_followed_where_it_was_named_and_not_inside_a_folder(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "run.json").write_bytes(REPORT)
    (tmp_path / "other.json").write_bytes(OTHER)
    (tmp_path / "disk" / "inside").symlink_to(tmp_path / "other.json")
    (tmp_path / "disk" / "around").symlink_to(tmp_path)
    (tmp_path / "folder").symlink_to(tmp_path / "disk")
    (tmp_path / "one").symlink_to(tmp_path / "other.json")
    said = imported(tmp_path / "folder", tmp_path / "one", lab=lab.slug)
    assert set(UploadedFile.objects.values_list("name", flat=True)) == {"folder/run.json", "one"}
    assert "2 links, pipes or devices inside folders were left out." in said


def test_a_link_to_nothing_and_a_pipe_leave_no_empty_upload(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe")
    _, why = failed(tmp_path / "nowhere", tmp_path / "pipe", lab=lab.slug)
    assert "nowhere: cannot be read: No such file or directory" in why
    assert "pipe: found a pipe or a device, expected a file or a folder" in why
    assert not Upload.objects.exists()


def test_known_files_are_named_with_the_one_that_came_before(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(REPORT)
    imported(tmp_path / "run.json", lab=lab.slug)
    before = Upload.objects.get().pk
    (tmp_path / "run.json").rename(tmp_path / "again.json")
    said = imported(tmp_path / "again.json", lab=lab.slug, labels="cable=old")
    assert "1 files, 0 runs, 0 samples, 1 known files." in said
    assert f"again.json: known, kept before as run.json of upload {before}" in said
    assert "--labels: the runs of known files stay as they are." in said
    assert "cable" not in Run.objects.get().labels


def test_the_runs_of_known_files_go_into_the_study_unless_they_are_in_another(lab: Lab, tmp_path: Path) -> None:
    for slug in ("cables", "disks"):
        Study.objects.create(lab=lab, slug=slug, title=slug)
    (tmp_path / "run.json").write_bytes(REPORT)
    imported(tmp_path, lab=lab.slug)
    assert "--study: the runs of known" in imported(tmp_path, lab=lab.slug, study="cables", preview=True)
    assert not StudyRun.objects.exists()
    assert "1 earlier run is in the study cables now." in imported(tmp_path, lab=lab.slug, study="cables")
    assert StudyRun.objects.get().configuration.study.slug == "cables"
    assert "1 earlier run stays in another study." in imported(tmp_path, lab=lab.slug, study="disks")
    assert "earlier run" not in imported(tmp_path, lab=lab.slug, study="cables")
    assert StudyRun.objects.get().configuration.study.slug == "cables"
    assert AuditEvent.objects.get(act="runs put into a study").who == "command line"


def test_the_same_bytes_twice_in_one_import_are_told_as_that(lab: Lab, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(REPORT)
    said = imported(tmp_path, lab=lab.slug, labels="cable=old")
    assert f"b.json: known, the same bytes as {tmp_path.name}/a.json" in said
    assert "stay as they are" not in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lab": "nowhere"}, "There is no lab 'nowhere'. Labs here: "),
        ({"host": "gamma"}, "--host: found 'gamma', and there is no host yet"),
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
    assert not Upload.objects.exists()


def test_a_folder_is_walked_in_one_order_however_deep_it_is(tmp_path: Path) -> None:
    deep = tmp_path / "old"
    deep.mkdir()
    for _ in range(300):
        deep = deep / "d"
        deep.mkdir()
    (deep / "x.json").write_bytes(REPORT)
    for name in ("a/z", "a.b", "a/b/c", "e", "B"):
        (tmp_path / "old" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "old" / name).write_bytes(b"")
    names = [one.name for one in DiskPaths([tmp_path / "old"]).files()]
    assert names == ["old/B", "old/a/b/c", "old/a/z", "old/a.b", f"old/{'d/' * 300}x.json", "old/e"]


@pytest.mark.parametrize("other", ["link", "pipe"])
def test_a_file_that_became_another_thing_is_not_read(tmp_path: Path, other: str) -> None:
    (tmp_path / "old").mkdir()
    path = tmp_path / "old" / "run.json"
    path.write_bytes(REPORT)
    (tmp_path / "secret").write_bytes(b"secret")
    (one,) = DiskPaths([tmp_path / "old"]).files()
    path.unlink()
    if other == "link":
        path.symlink_to(tmp_path / "secret")
    else:
        os.mkfifo(path)
    with pytest.raises(UnreadableFileError, match=r"run\.json: (cannot be read|found a pipe)"):
        one.read()


def test_small_files_are_held_up_to_a_size(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[int] = []
    real = import_results.add_files

    def counting(upload: Upload, files: list[tuple[str, bytes]]) -> None:
        held.append(sum(len(data) for _, data in files))
        real(upload, files)

    monkeypatch.setattr(import_results, "add_files", counting)
    monkeypatch.setattr(import_results, "_HELD", 3 * len(REPORT))
    for number in range(10):
        (tmp_path / f"{number}.json").write_bytes(REPORT.replace(b"fio-3", b"fio-3.%d" % number, 1))
    assert "10 runs" in imported(tmp_path, lab=lab.slug)
    assert max(held) < 4 * len(REPORT)
