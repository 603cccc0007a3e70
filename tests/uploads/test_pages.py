"""The list of uploads, how files come in, and one upload's page: who sees what, and what each act does."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest
from django.test import Client

from apps.inventory.models import Host
from apps.labs.isolation import lab_scope
from apps.labs.models import AuditEvent, Lab
from apps.runs.artefacts import store
from apps.runs.artefacts.store import ArtefactStoreError, read
from apps.runs.models import Run
from apps.studies.models import Study
from apps.uploads.models import FileState, Upload, UploadedFile, UploadState
from apps.uploads.pipeline import parse
from apps.uploads.save_runs import keep as keep_all
from apps.uploads.services import add_file, hand_over, open_upload
from apps.uploads.views import uploads
from tests.comparison.factories import target as make_target
from tests.sampling import for_each
from tests.uploads.conftest import OTHER, REPORT, Bring, only_file, variant, zipped

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


def page(engineer: Client, upload: Upload, query: str = "", **headers: str) -> str:
    answer = engineer.get(upload.get_absolute_url() + query, headers=headers)
    assert answer.status_code == 200
    return str(answer.content.decode())


def sent(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def test_an_empty_list_says_what_to_do_next(engineer: Client, sign_in: Any) -> None:
    assert "Drop the files of a former measurement above" in engineer.get("/uploads/").content.decode()
    viewed = sign_in("viewer").get("/uploads/").content.decode()
    assert "An engineer of Storage lab can upload" in viewed
    assert "upload-form" not in viewed


def test_the_plain_form_makes_one_upload_of_all_its_files(engineer: Client, lab: Lab) -> None:
    study = Study.objects.create(lab=lab, slug="raid", title="RAID")
    target = make_target(lab, "host3")
    form = {
        "file": [sent("a.json", REPORT), sent("b.json", OTHER)], "pasted": "105 MB copied", "study": study.pk,
        "place": f"target-{target.pk}", "labels": "kernel=6.1, cable=old",
    }  # fmt: skip
    answer = engineer.post("/uploads/", form)
    upload = Upload.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == upload.get_absolute_url()
    assert (upload.study, upload.host, upload.target) == (study, target.host, target)
    assert upload.labels == {"kernel": "6.1", "cable": "old"}
    assert [file.name for file in upload.files.all()] == ["a.json", "b.json", "pasted.txt"]
    assert read(upload.files.get(name="pasted.txt").artefact) == b"105 MB copied\n"
    assert AuditEvent.objects.get().act == "files uploaded"


def test_a_script_opens_an_upload_and_sends_each_file_with_its_path(engineer: Client) -> None:
    opened = engineer.post("/uploads/", {"name": "old results"}, headers=JSON)
    assert opened.status_code == 201
    upload = Upload.objects.get()
    assert opened.json() == {"page": upload.get_absolute_url(), "add": f"{upload.get_absolute_url()}add/"}
    added = engineer.post(opened.json()["add"], {"path": "host3/run.json", "file": sent("run.json", REPORT)})
    assert added.status_code == 201
    assert only_file(upload).name == "host3/run.json"
    assert upload.name == "old results"


def test_a_file_that_comes_while_the_upload_ends_is_not_forgotten(lab: Lab, bring: Bring) -> None:
    upload = bring({"a.json": REPORT})
    assert upload.state == UploadState.PARSED
    add_file(upload, "b.json", OTHER)
    hand_over(upload)
    upload.refresh_from_db()
    assert upload.state == UploadState.QUEUED
    add_file(upload, "late.json", b"{}")
    upload.claim()
    assert not upload.finish()  # a file waits: another task goes on
    upload.refresh_from_db()
    assert upload.state == UploadState.QUEUED
    assert upload.claim()
    assert parse(upload)
    assert not upload.files.filter(state=FileState.WAITING).exists()


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({}, "Found no file and no text; choose at least one."),
        ({"pasted": "x", "labels": "kernel"}, "Found &#x27;kernel&#x27;, expected name=value"),
        ({"pasted": "x", "place": "host-999999"}, "Select a valid choice"),
    ],
)
def test_a_form_that_cannot_be_taken_says_why_and_makes_nothing(engineer: Client, form: Any, sentence: str) -> None:
    answer = engineer.post("/uploads/", form)
    assert answer.status_code in (400, 422)
    assert sentence in answer.content.decode()
    assert not Upload.objects.exists()


def test_a_script_hears_the_same_sentences(engineer: Client) -> None:
    answer = engineer.post("/uploads/", {"labels": "kernel"}, headers=JSON)
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("Labels: Found 'kernel'")


def test_what_is_too_large_is_refused_before_it_is_read(
    engineer: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_UPLOAD = 1000
    opened = engineer.post("/uploads/", {"name": "x"}, headers=JSON).json()
    monkeypatch.setattr(HttpRequest, "_load_post_and_files", lambda _: pytest.fail("the body was read"))
    answer = engineer.post("/uploads/", {"file": sent("big.txt", b"x" * 2000)})
    assert answer.status_code == 413
    assert "in one request, expected at most" in answer.content.decode()
    answer = engineer.post(opened["add"], {"file": sent("big.txt", b"x" * 2000)})
    assert answer.status_code == 413
    assert "send it in parts" in answer.json()["error"]
    assert not UploadedFile.objects.exists()


@pytest.mark.parametrize("who", ["nobody", "viewer"])
def test_nothing_is_read_from_who_may_not_upload(
    lab: Lab, sign_in: Any, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    upload = Upload.objects.create(lab=lab, name="x", door="page")
    client = Client() if who == "nobody" else sign_in(who)
    monkeypatch.setattr(HttpRequest, "_load_post_and_files", lambda _: pytest.fail("the body was read"))
    answer = client.post(f"{upload.get_absolute_url()}add/", {"file": sent("a.txt", b"x")})
    assert answer.status_code == (302 if who == "nobody" else 403)
    if who == "nobody":
        assert client.post("/uploads/", {"file": sent("a.txt", b"x")}).status_code == 302


def test_more_files_than_one_form_may_hold_are_refused_in_words(engineer: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    answer = engineer.post("/uploads/", {"file": [sent(f"{n}.txt", b"x") for n in range(3)]})
    assert answer.status_code == 400
    assert "more than 2 files" in answer.content.decode()


def test_a_full_disk_is_said_and_leaves_no_half_file(engineer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Any:
        raise ArtefactStoreError(28, "The bytes could not be kept: No space left on device.")

    upload = engineer.post("/uploads/", {"name": "x"}, headers=JSON).json()
    monkeypatch.setattr(store, "_store", full)
    monkeypatch.setattr(store, "SMALL", 0)
    answer = engineer.post(upload["add"], {"file": sent("new.txt", b"never kept before, 1")})
    assert answer.status_code == 507
    assert "No space left" in answer.json()["error"]
    answer = engineer.post("/uploads/", {"file": sent("new.txt", b"never kept before, 2")})
    assert answer.status_code == 507
    assert "No space left" in answer.content.decode()
    assert not UploadedFile.objects.exists()


def test_a_form_of_another_site_is_refused(lab: Lab, cast: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.engineer, backend="allauth.account.auth_backends.AuthenticationBackend")
    upload = Upload.objects.create(lab=lab, name="x", door="page")
    assert client.post("/uploads/", {"pasted": "x"}).status_code == 403
    assert client.post(f"{upload.get_absolute_url()}add/", {"file": sent("a", b"x")}).status_code == 403
    assert Upload.objects.count() == 1
    assert not UploadedFile.objects.exists()


def test_several_files_come_together_each_with_its_path(engineer: Client, lab: Lab) -> None:
    upload = open_upload(lab, "many", door=Upload.Door.PAGE, actor="engineer")
    address = f"{upload.get_absolute_url()}add/"
    files = [sent("a.txt", b"x\n"), sent("a.txt", b"y\n" * 50_000), sent("c.txt", b"z\n")]
    assert engineer.post(address, {"file": files, "path": ["1/a.txt", "2/a.txt", ""]}).status_code == 201
    found = dict(upload.files.values_list("name", "size"))
    assert found == {"1/a.txt": 2, "2/a.txt": 100_000, "c.txt": 2}
    again = [sent("a.txt", b"x\n"), sent("b.txt", b"y\n")]
    refused = engineer.post(address, {"file": again, "path": ["1/a.txt"]})
    assert (refused.status_code, refused.json()["error"]) == (
        400, "Found 1 parts named path for 2 files, expected one for each.",
    )  # fmt: skip
    assert upload.files.count() == 3


def test_of_files_that_come_together_all_are_kept_or_none(
    engineer: Client, lab: Lab, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "full").write_text("no folder")
    settings.ARTEFACT_DIR = tmp_path / "full"
    upload = open_upload(lab, "many", door=Upload.Door.PAGE, actor="engineer")
    files = [sent("a.txt", b"x\n"), sent("big.txt", bytes(100_000))]
    answer = engineer.post(f"{upload.get_absolute_url()}add/", {"file": files, "path": ["a.txt", "big.txt"]})
    assert answer.status_code == 507
    assert not upload.files.exists()


ACTS = ["add/", "belongs/", "keep/", "again/", "discard/"]


@pytest.mark.parametrize("act", ACTS)
def test_a_viewer_looks_and_changes_nothing(bring: Bring, sign_in: Any, act: str) -> None:
    upload = bring({"run.json": REPORT})
    viewer = sign_in("viewer")
    shown = page(viewer, upload)
    assert "run.json" in shown
    assert "Keep all" not in shown
    assert viewer.post(upload.get_absolute_url() + act, {"act": "all"}).status_code == 403
    assert not Run.objects.exists()


def test_the_page_shows_each_file_as_recognised(engineer: Client, bring: Bring) -> None:
    upload = bring({"host3/run.json": REPORT, "notes.txt": b"bring milk\n", "all.zip": zipped({"b.json": OTHER})})
    shown = page(engineer, upload)
    assert "fio 3." in shown
    assert "no format recognises this file" in shown
    assert "all.zip/b.json" in shown
    assert "Keep all 2 runs" in shown


def test_while_it_is_read_the_page_asks_again_and_then_stops(engineer: Client, bring: Bring) -> None:
    upload = bring({"run.json": REPORT}, is_read=False)
    waiting = page(engineer, upload, **{"HX-Request": "true"})
    assert 'hx-trigger="every 1s"' in waiting
    assert "0 / 1" in waiting
    assert "<html" not in waiting
    assert upload.claim()
    parse(upload)
    assert "every 1s" not in page(engineer, upload, **{"HX-Request": "true"})


@pytest.mark.slow
def test_pages_take_as_many_queries_for_many_files(
    engineer: Client, bring: Bring, django_assert_max_num_queries: Any
) -> None:
    many = {f"{n}.json": REPORT.replace(b"fio-", f"fio-{n}.".encode(), 1) for n in range(60)}
    uploads = [bring({"run.json": REPORT}), bring({"all.zip": zipped(many)})]
    for upload in uploads:
        keep_all(upload)
    uploads += [
        bring({"again.json": REPORT, "notes.txt": b"milk"}),
        bring({"again.zip": zipped({**many, "notes.txt": b"milk"})}),
    ]

    def queries(address: str) -> int:
        with django_assert_max_num_queries(40) as found:
            assert engineer.get(address).status_code == 200
        return len(found)

    fresh, large, known, many_known = (queries(upload.get_absolute_url()) for upload in uploads)
    assert large <= fresh
    assert many_known <= known
    copies = {f"{n}{copy}.json": f"words {n}".encode() + OTHER for n in range(40) for copy in "ab"}
    twice = [bring({"a.json": variant(1), "b.json": variant(1)}), bring({"copies.zip": zipped(copies)})]
    one, many_twice = (queries(f"{upload.get_absolute_url()}?show=known") for upload in twice)
    assert many_twice <= one
    assert "Page 1 of 2" in page(engineer, uploads[1])
    before = queries("/uploads/")
    bring({"more.json": OTHER})
    assert queries("/uploads/") == before


def test_files_are_found_by_name_and_by_what_became_of_them(engineer: Client, bring: Bring) -> None:
    names = {f"host{n}/run.json": f"nothing {n}".encode() for n in range(6)}
    upload = bring({**names, "good.json": REPORT})
    assert "good.json" not in page(engineer, upload, "?show=problems")
    assert "host3" not in page(engineer, upload, "?show=keep")
    assert "host3" not in page(engineer, upload, "?q=good")
    assert "No file matches" in page(engineer, upload, "?q=elsewhere")


def test_where_it_belongs_is_said_once_for_all_files(engineer: Client, bring: Bring, lab: Lab) -> None:
    upload, target = bring({"run.json": REPORT}), make_target(lab, "host3")
    engineer.post(f"{upload.get_absolute_url()}belongs/", {"place": f"target-{target.pk}", "labels": "a=b"})
    engineer.post(f"{upload.get_absolute_url()}keep/", {"act": "all"})
    run = Run.objects.get()
    assert (run.host, run.target, run.labels["a"]) == (target.host, target, "b")


def test_a_files_own_place_goes_before_its_uploads_and_before_a_guess(engineer: Client, bring: Bring, lab: Lab) -> None:
    guessed, own, whole = (Host.objects.create(lab=lab, name=name) for name in ("host3", "host4", "host5"))
    upload = bring({"host3/a.json": REPORT, "host3/b.json": OTHER})
    assert "guess: host3 is in the path" in page(engineer, upload)
    second = UploadedFile.objects.get(name="host3/b.json")
    engineer.post(f"{upload.get_absolute_url()}keep/", {"act": "place", "place": f"host-{own.pk}", "file": second.pk})
    engineer.post(f"{upload.get_absolute_url()}belongs/", {"place": f"host-{whole.pk}"})
    engineer.post(f"{upload.get_absolute_url()}keep/", {"act": "all"})
    assert set(Run.objects.values_list("host__name", flat=True)) == {"host4", "host5"}
    assert guessed.runs.count() == 0


def test_only_what_is_selected_is_kept(engineer: Client, bring: Bring) -> None:
    upload = bring({"a.json": REPORT, "b.json": OTHER})
    chosen = UploadedFile.objects.get(name="b.json")
    answer = engineer.post(f"{upload.get_absolute_url()}keep/", {"act": "selected", "file": chosen.pk}, follow=True)
    assert "1 run kept" in answer.content.decode()
    assert Run.objects.get().uploaded_from.file == chosen
    assert f"run {Run.objects.get().pk}</a>" in answer.content.decode()
    assert AuditEvent.objects.get(act="upload kept").detail == {"upload": upload.pk, "runs": 1}
    assert (
        "Nothing was kept"
        in engineer.post(f"{upload.get_absolute_url()}keep/", {"act": "selected"}, follow=True).content.decode()
    )


def test_very_many_files_are_kept_by_a_worker_while_the_page_shows_how_far_it_is(
    engineer: Client, bring: Bring, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(uploads, "AT_ONCE", 1)
    monkeypatch.setattr(uploads.keep_upload, "delay", asked.append)
    upload = bring({"a.json": REPORT, "b.json": OTHER})
    answer = engineer.post(f"{upload.get_absolute_url()}keep/", {"act": "all"}, follow=True)
    assert asked == [upload.pk]
    assert "0 / 2" in answer.content.decode()
    assert "every 1s" in answer.content.decode()
    assert "Keep all" not in answer.content.decode()
    assert uploads.keep_upload(upload.pk) == 2
    after = page(engineer, upload, "?keeping=1")
    assert "every 1s" not in after
    assert "2 files became runs" in after


def test_what_is_still_being_read_is_not_kept(engineer: Client, bring: Bring) -> None:
    upload = bring({"run.json": REPORT}, is_read=False)
    answer = engineer.post(f"{upload.get_absolute_url()}keep/", {"act": "all"}, follow=True)
    assert "still being read" in answer.content.decode()


def test_known_bytes_lead_to_the_runs_they_became(engineer: Client, bring: Bring) -> None:
    bring({"run.json": REPORT}, keep_at_once=True)
    again = bring({"renamed.json": REPORT})
    shown = page(engineer, again)
    assert "The same bytes were kept before as" in shown
    assert f"/runs/{Run.objects.get().pk}/" in shown


def test_discarding_says_what_is_lost_and_reading_again_brings_it_back(engineer: Client, bring: Bring) -> None:
    upload = bring({"run.json": REPORT})
    asked = engineer.get(f"{upload.get_absolute_url()}discard/").content.decode()
    assert "1 recognised run in 1 file" in asked
    assert only_file(upload).packed is not None
    engineer.post(f"{upload.get_absolute_url()}discard/")
    assert only_file(upload).packed is None
    shown = page(engineer, upload)
    assert "Discarded." in shown
    assert "Keep all" not in shown
    engineer.post(f"{upload.get_absolute_url()}again/")
    upload.refresh_from_db()
    assert upload.claim()
    parse(upload)
    assert "Keep all 1 run" in page(engineer, upload)
    assert AuditEvent.objects.filter(act="upload discarded").count() == 1


def test_a_job_file_leads_to_the_start_form_with_its_jobs(engineer: Client, bring: Bring, lab: Lab) -> None:
    make_target(lab, "host3", is_agents_own=True)
    upload = bring({"mine.fio": b"[global]\nbs=64k\nsize=2g\nverify=crc32c\n[a]\nrw=randread\niodepth=7\n"})
    shown = page(engineer, upload)
    assert "block_size=64k" in shown
    assert "verify" in shown
    link = shown.split('href="/runs/new/?jobs=')[1].split('"')[0]
    form = engineer.get(f"/runs/new/?jobs={link}").content.decode()
    assert 'value="64k"' in form
    assert 'value="7"' in form


@for_each("jobs", ["", "{", "[1]", "[]", '{"rw": "read"}', '[{"rw": [1]}]', "[" * 30000])
def test_a_start_form_survives_any_address(engineer: Client, jobs: str) -> None:
    assert engineer.get("/runs/new/", {"jobs": jobs}).status_code == 200


def test_names_and_texts_are_never_markup(engineer: Client, bring: Bring) -> None:
    upload = bring({"<b>x</b>.txt": b"<script>alert(1)</script>\n"})
    for address in (upload.get_absolute_url(), only_file(upload).get_absolute_url(), "/uploads/"):
        shown = engineer.get(address).content.decode()
        assert "<b>x</b>" not in shown
        assert "<script>alert" not in shown


def test_another_labs_host_cannot_be_chosen(engineer: Client, bring: Bring, cast: Any) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Host.objects.create(lab=cast.other_lab, name="theirs")
    upload = bring({"run.json": REPORT})
    address = upload.get_absolute_url()
    assert engineer.post(f"{address}belongs/", {"place": f"host-{theirs.pk}"}).status_code == 422
    engineer.post(f"{address}keep/", {"act": "place", "place": f"host-{theirs.pk}", "file": only_file(upload).pk})
    assert only_file(upload).host_id is None


def test_the_bytes_are_a_download(engineer: Client, bring: Bring) -> None:
    upload = bring({"host3/run.json": REPORT})
    answer = engineer.get(f"{only_file(upload).get_absolute_url()}bytes/")
    assert b"".join(answer.streaming_content) == REPORT  # type: ignore[attr-defined]
    assert answer["Content-Disposition"] == 'attachment; filename="run.json"'
    assert int(answer["Content-Length"]) == len(REPORT)


def test_bytes_that_were_not_taken_have_no_size(engineer: Client, bring: Bring) -> None:
    data = bytearray(zipped({"a.txt": b"secret\n"}))
    data[6] |= 1  # the mark of an encrypted member, in its own header and in the directory
    data[data.find(b"PK\x01\x02") + 8] |= 1
    upload = bring({"old.zip": bytes(data)})
    refused = upload.files.get(name="old.zip/a.txt")
    for address in (upload.get_absolute_url(), refused.get_absolute_url()):
        shown = engineer.get(address).content.decode()
        assert "it is encrypted" in shown
        assert ">0\u00a0B<" not in shown


def test_an_archive_leads_to_its_files(engineer: Client, bring: Bring) -> None:
    upload = bring({"a b.zip": zipped({"in.txt": b"one\n"}), "out.txt": b"two\n"})
    shown = engineer.get(upload.files.get(name="a b.zip").get_absolute_url()).content.decode()
    address = f"{upload.get_absolute_url()}?q=a%20b.zip/"
    assert f'href="{address}"' in shown
    listed = engineer.get(address).content.decode()
    assert ("a b.zip/in.txt" in listed, "out.txt" in listed) == (True, False)
