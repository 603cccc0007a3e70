"""The same bytes are read and kept once, and what only a name tells apart is two things."""

import hashlib
import json
import threading
from typing import Any

import pytest
from django.db import connection, transaction

from apps.labs.isolation import lab_scope
from apps.runs.models import Artefact, Run, Series
from apps.uploads.file_reader import digest_of_json
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.pipeline import parse
from apps.uploads.save_runs import keep
from apps.uploads.services import add_file, open_upload, read_again
from tests.api.conftest import script
from tests.conftest import Cast
from tests.page_text import page_text
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file, zipped
from tests.waiting import until_one_waits_for_a_lock

__all__ = ["script"]
pytestmark = pytest.mark.services

LOG = b"1000, 52480, 0, 0, 0\n2000, 51968, 0, 0, 0\n3000, 52736, 0, 0, 0\n"
DD = b"1024+0 records in\n1024+0 records out\n1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.1 s, 262 MB/s\n"


def states(upload: Upload) -> dict[str, str]:
    return dict(UploadedFile.objects.filter(upload=upload).values_list("name", "state"))


def measured() -> list[tuple[str, str]]:
    found = Series.objects.values_list("run__uploaded_from__file__name", "metric")
    return sorted((name.rpartition("/")[2], metric) for name, metric in found)


@pytest.mark.parametrize("is_kept_at_once", [True, False], ids=["at once", "after a preview"])
def test_logs_of_equal_bytes_are_what_their_names_say(bring: Bring, is_kept_at_once: bool) -> None:
    names = ("r1_iops.1.log", "r1_iops.2.log", "job_bw.1.log", "job_clat.1.log", "job_lat.1.log")
    upload = bring(dict.fromkeys(names, LOG), keep_at_once=is_kept_at_once)
    keep(upload)
    assert measured() == [
        ("job_bw.1.log", "bandwidth"), ("job_clat.1.log", "clat_mean"), ("job_lat.1.log", "latency_mean"),
        ("r1_iops.1.log", "iops"), ("r1_iops.2.log", "iops"),
    ]  # fmt: skip
    assert Artefact.objects.count() == 1
    assert set(states(upload).values()) == {FileState.PARSED}


def test_a_log_of_another_name_that_comes_later_is_read_too(bring: Bring) -> None:
    bring({"job_bw.1.log": LOG}, keep_at_once=True)
    upload = bring({"x.zip": zipped({"b/job_bw.1.log": LOG, "job_iops.1.log": LOG})}, keep_at_once=True)
    assert states(upload)["x.zip/b/job_bw.1.log"] == FileState.KNOWN
    assert measured() == [("job_bw.1.log", "bandwidth"), ("job_iops.1.log", "iops")]


def test_a_log_whose_name_tells_nothing_is_known_as_the_one_that_tells(bring: Bring) -> None:
    first = bring({"job_bw.1.log": LOG}, keep_at_once=True)
    again = only_file(bring({"copy.txt": LOG}, keep_at_once=True))
    assert (again.state, again.known_as) == (FileState.KNOWN, only_file(first))


def test_a_log_whose_name_tells_nothing_does_not_hide_the_one_that_tells(bring: Bring) -> None:
    upload = bring({"a.txt": LOG, "job_bw.1.log": LOG}, keep_at_once=True)
    assert states(upload) == {"a.txt": FileState.FAILED, "job_bw.1.log": FileState.PARSED}


def test_a_name_like_a_logs_does_not_make_two_runs_of_another_format(bring: Bring) -> None:
    upload = bring({"old_lat.txt": DD, "new_lat.txt": DD})
    assert keep(upload) == 1
    assert states(upload) == {"old_lat.txt": FileState.PARSED, "new_lat.txt": FileState.KNOWN}


def test_of_two_previews_of_the_same_bytes_one_is_kept(bring: Bring) -> None:
    first, second = bring({"a.json": REPORT}), bring({"b.json": REPORT, "copy.json": REPORT, "c.json": OTHER})
    assert (keep(first), keep(second)) == (1, 1)
    known = UploadedFile.objects.get(name="b.json")
    assert (known.state, known.known_as, known.kept_at) == (FileState.KNOWN, only_file(first), None)
    assert (known.packed, known.run_count) == (None, 0)
    assert UploadedFile.objects.get(name="copy.json").known_as == only_file(first)
    assert keep(second) == 0


def test_who_deletes_the_run_may_keep_the_bytes_again(bring: Bring) -> None:
    first, second = bring({"a.json": REPORT}), bring({"b.json": REPORT})
    keep(first)
    Run.objects.get().delete()
    assert keep(second) == 1
    Run.objects.get().delete()
    assert only_file(bring({"c.json": REPORT}, keep_at_once=True)).state == FileState.PARSED
    assert Run.objects.count() == 1


def test_what_somebody_asks_to_be_read_his_way_is_kept_beside_the_other_reading_once(bring: Bring) -> None:
    bring({"a.json": REPORT}, keep_at_once=True)
    asked = []
    for name in ("b.json", "c.json"):
        upload = bring({name: REPORT})
        assert only_file(upload).state == FileState.KNOWN
        read_again(only_file(upload), only="fio json")
        upload.refresh_from_db()
        assert upload.claim()
        assert parse(upload)
        asked.append(keep(upload))
    assert asked == [1, 0]


def read_in(cast: Cast, name: str, *, keep_at_once: bool = False) -> Upload:
    upload = open_upload(cast.lab, name, door=Upload.Door.REST, actor="script", keep_at_once=keep_at_once)
    add_file(upload, name, REPORT)
    assert upload.claim()
    return upload


@pytest.mark.django_db(transaction=True)
def test_who_keeps_the_same_bytes_at_the_same_time_waits_and_finds_them_kept(cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        first, second = read_in(cast, "a.json"), read_in(cast, "b.json", keep_at_once=True)
        parse(first)
    failures: list[Any] = []

    def other() -> None:
        try:
            with lab_scope(cast.lab.pk):
                parse(second)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=other)
    with lab_scope(cast.lab.pk), transaction.atomic():
        assert keep(first) == 1
        thread.start()
        until_one_waits_for_a_lock()
    thread.join(20)
    assert failures == []
    with lab_scope(cast.lab.pk):
        assert Run.objects.count() == 1
        second.refresh_from_db()
        assert (only_file(second).state, only_file(second).known_as, second.state) == (
            "known",
            only_file(first),
            "parsed",
        )


def reform(report: bytes, **how: Any) -> bytes:
    """Return a report as another program would write it: other blanks, names in another order."""
    return json.dumps(json.loads(report), **how).encode()


FORMS = (
    {"indent": 1},
    {"separators": (",", ":")},
    {"sort_keys": True, "indent": "\t"},
)


def test_a_report_in_another_form_is_no_second_result(bring: Bring, sign_in: Any, script: Any) -> None:
    first = bring({"a.json": REPORT}, keep_at_once=True)
    run = Run.objects.get()
    for number, form in enumerate(FORMS):
        again = bring({f"{number}.json": reform(REPORT, **form)}, keep_at_once=number != 1)
        file = only_file(again)
        assert (file.state, file.known_as, file.is_another_form) == (FileState.KNOWN, only_file(first), True), form
        assert file.artefact.sha256 == hashlib.sha256(reform(REPORT, **form)).hexdigest(), "its bytes are kept"
        for address in (again.get_absolute_url(), file.get_absolute_url()):
            page = page_text(sign_in("viewer").get(address).content.decode())
            assert f"written in another form, it is the same result as run {run.pk}" in page, address
        [told] = script("read").get(f"uploads/{again.pk}/").json()["files"]
        assert (told["known_as"], told["known_by"], told["runs"]) == (only_file(first).pk, "content", 0)
    same = only_file(bring({"same.json": REPORT}))
    assert (same.state, same.is_another_form) == (FileState.KNOWN, False)
    assert keep(Upload.objects.get(files__name="1.json")) == 0
    assert Run.objects.count() == 1


def test_two_forms_in_one_upload_count_once(bring: Bring) -> None:
    upload = bring({"a.json": REPORT, "b.json": reform(REPORT, indent=3)})
    assert (keep(upload), Run.objects.count()) == (1, 1)
    assert states(upload) == {"a.json": FileState.PARSED, "b.json": FileState.KNOWN}


def test_what_says_something_else_is_another_result(bring: Bring, cast: Cast) -> None:
    bring({"a.json": REPORT}, keep_at_once=True)
    document = json.loads(REPORT)
    document["jobs"][0]["read"]["iops_mean"] = document["jobs"][0]["read"].get("iops_mean", 0) + 1
    for name, data in (("b.json", json.dumps(document).encode()), ("c.json", b"fio: note\n" + reform(REPORT))):
        assert only_file(bring({name: data}, keep_at_once=True)).state != FileState.KNOWN, name
    digest = only_file(bring({"d.json": reform(REPORT)})).content_sha256
    with lab_scope(cast.other_lab.pk):
        theirs = open_upload(cast.other_lab, "e.json", door=Upload.Door.REST, actor="x", keep_at_once=True)
        add_file(theirs, "e.json", reform(REPORT, indent=5))
        assert theirs.claim()
        assert parse(theirs)
        assert (only_file(theirs).state, only_file(theirs).content_sha256) == (FileState.PARSED, digest), "another lab"


def test_the_digest_of_json_is_that_of_its_content() -> None:
    one = b' {"a": 1, "b": [1.50, {"x": null, "y": "\\u00e9"}], "a": 2}\n'
    assert digest_of_json(one) == digest_of_json('{"b":[1.5,{"y":"é","x":null}],"a":1,"a":2}'.encode())
    assert digest_of_json(b'{"a": 0.000000}') == digest_of_json(b'{"a": 0}'), "as fio and other programs write it"
    assert digest_of_json(b'{"a": 0.5}') != digest_of_json(b'{"a": 0}')
    for other in (
        b'{"a": 1, "b": 2}',
        b'{"a": 1, "b": 2, "a": 1}',
        b'{"a": 1, "b": 2, "a": 3}',
        b'[["a", 1], ["b", 2]]',
    ):
        assert digest_of_json(other) != digest_of_json(b'{"a": 1, "b": 2, "a": 2}'), other
    for none in (b"", b"x", b'{"a": 1} {"a": 1}', b'{"a": ', b"[" * 100_000, b"\xff{}"):
        assert digest_of_json(none) == "", none[:20]
