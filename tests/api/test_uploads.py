"""`POST /api/v1/uploads/`: files in by script, what was recognised out."""

import hashlib
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.api.resources.uploads import UploadedFileSerializer, UploadSerializer
from apps.core import pubsub
from apps.inventory.models import Host, Target
from apps.labs.isolation import all_labs, lab_scope
from apps.labs.models import AuditEvent, Token
from apps.runs.artefacts.store import SMALL
from apps.runs.models import Run, Sample
from apps.runs.services import arrived
from apps.studies.models import Study
from apps.uploads import save_runs
from apps.uploads.models import Upload
from apps.uploads.pipeline import parse
from tests.conftest import Cast
from tests.sampling import for_each
from tests.uploads.conftest import OTHER, REPORT, zipped

UPLOAD = "id state files url"
FILE = "name sha256 format confidence tool tool_version runs samples warnings error"
KIND = "multipart/form-data; boundary=b"
pytestmark = pytest.mark.services


class Sender:
    def __init__(self, secret: str) -> None:
        self.client, self.head = Client(), {"HTTP_AUTHORIZATION": f"Bearer {secret}"}

    def post(self, files: dict[str, bytes], query: str = "", **fields: Any) -> Any:
        parts = [SimpleUploadedFile(name, data) for name, data in files.items()]
        return self.client.post(f"/api/v1/uploads/{query}", {"file": parts, **fields}, **self.head)

    def get(self, address: str) -> Any:
        return self.client.get(address, **self.head)


@pytest.fixture
def sender(cast: Cast, token: Any) -> Sender:
    return Sender(token("upload"))


def worked(cast: Cast) -> None:
    """What the worker does."""
    with lab_scope(cast.lab.pk):
        for upload in Upload.objects.filter(state="queued"):
            assert upload.claim()
            assert parse(upload)


def test_a_file_is_taken_and_its_address_tells_the_rest(sender: Sender, cast: Cast) -> None:
    taken = sender.post({"run.json": REPORT})
    assert taken.status_code == 202
    assert {"id", "state", "url"} <= set(taken.json())
    assert taken.json()["state"] == "queued"
    assert taken.headers["Location"] == taken.json()["url"]
    worked(cast)
    found = sender.get(taken.json()["url"]).json()
    assert found["state"] == "parsed"
    (file,) = found["files"]
    assert set(UPLOAD.split()) <= set(found)
    assert set(FILE.split()) <= set(file)
    assert set(found) == set(UploadSerializer().fields)
    assert set(file) == set(UploadedFileSerializer().fields)
    assert (file["format"], file["tool"], file["runs"], file["error"]) == ("fio json", "fio", 1, None)
    assert not file["is_kept"]


def test_the_answer_is_what_its_address_says(sender: Sender) -> None:
    taken = sender.post({"host3/run.json": REPORT}, "?keep=true", labels="cable=old")
    assert sender.get(taken.headers["Location"]).json() == taken.json()
    assert taken.json()["labels"] == {"cable": "old"}
    assert taken.json()["files"][0]["sha256"] == hashlib.sha256(REPORT).hexdigest()


@pytest.mark.parametrize("sent", ["alone", "in an archive", "large"])
def test_every_file_waits_for_a_worker(sender: Sender, cast: Cast, sent: str) -> None:
    data = {"alone": REPORT, "in an archive": zipped({"run.json": REPORT}), "large": REPORT + b" " * SMALL}[sent]
    taken = sender.post({"run": data}, "?keep=true").json()
    assert (taken["state"], taken["finished_at"], taken["files"][0]["run_ids"]) == ("queued", None, [])
    with lab_scope(cast.lab.pk):
        assert not Run.objects.exists()
    worked(cast)
    found = sender.get(taken["url"]).json()
    assert found["state"] == "parsed"
    assert found["finished_at"]
    assert len([run for file in found["files"] for run in file["run_ids"]]) == 1


def test_without_redis_it_is_kept_and_waits_for_the_sweeper(
    sender: Sender, cast: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(pubsub, "_local", SimpleNamespace())
    with django_capture_on_commit_callbacks(execute=True):
        taken = sender.post({"run.json": REPORT}, "?keep=true")
    assert (taken.status_code, taken.json()["state"]) == (202, "queued")
    with lab_scope(cast.lab.pk):
        assert list(Upload.objects.to_parse(timezone.now())) == [Upload.objects.get()]


def test_who_follows_runs_hears_of_those_that_are_kept(
    sender: Sender, cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    heard: list[Any] = []

    def listen(sender: object, lab_id: int, runs: list[int], **_: Any) -> None:
        heard.append((lab_id, runs))

    taken = sender.post({"run.json": REPORT}, "?keep=true").json()
    arrived.connect(listen)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            worked(cast)
    finally:
        arrived.disconnect(listen)
    assert heard == [(cast.lab.pk, sender.get(taken["url"]).json()["files"][0]["run_ids"])]


def test_what_the_database_refuses_is_told_and_nothing_is_half_there(
    sender: Sender, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save_runs, "state_of", lambda _: "x" * 100)
    url = sender.post({"run.json": REPORT}, "?keep=true").json()["url"]
    worked(cast)
    found = sender.get(url).json()
    assert "could not be stored" in found["files"][0]["error"]["message"]
    assert (found["state"], found["files"][0]["is_kept"], found["files"][0]["run_ids"]) == ("failed", False, [])
    with lab_scope(cast.lab.pk):
        assert not Run.objects.exists()
        assert not Sample.objects.exists()


def test_keep_skips_the_preview(sender: Sender, cast: Cast) -> None:
    taken = sender.post({"x.zip": zipped({"a.json": REPORT, "b.json": OTHER})}, "?keep=true")
    worked(cast)
    files = sender.get(taken.json()["url"]).json()["files"]
    ids = [number for file in files for number in file["run_ids"]]
    with lab_scope(cast.lab.pk):
        assert sorted(ids) == sorted(Run.objects.values_list("pk", flat=True))
    assert len(ids) == 2


def test_keeping_later_is_one_more_request(sender: Sender, cast: Cast) -> None:
    url = sender.post({"run.json": REPORT}).json()["url"]
    early = sender.client.post(f"{url}keep/", **sender.head)
    assert early.status_code == 409
    worked(cast)
    kept = sender.client.post(f"{url}keep/", **sender.head)
    assert kept.status_code == 200
    assert len(kept.json()["files"][0]["run_ids"]) == 1


def test_what_was_kept_can_be_taken_back(sender: Sender, cast: Cast) -> None:
    url = sender.post({"run.json": REPORT}, "?keep=true").json()["url"]
    early = sender.client.post(f"{url}take-back/", **sender.head)
    assert early.status_code == 409
    worked(cast)
    taken = sender.client.post(f"{url}take-back/", **sender.head)
    assert (taken.status_code, taken.json()["state"], taken.json()["files"][0]["run_ids"]) == (202, "queued", [])
    worked(cast)
    found = sender.get(url).json()
    assert (found["state"], found["files"][0]["runs"], found["files"][0]["is_kept"]) == ("parsed", 1, False)
    assert sender.client.post(f"{url}keep/", **sender.head).json()["files"][0]["run_ids"]


def test_an_error_names_line_found_and_expected(sender: Sender, cast: Cast) -> None:
    url = sender.post({"notes.txt": b"\n\nbring milk\n"}).json()["url"]
    worked(cast)
    found = sender.get(url).json()
    assert found["state"] == "failed"
    assert set(found["files"][0]["error"]) == {"line", "found", "expected", "message"}
    assert found["files"][0]["error"]["found"] == "bring milk"


def test_host_study_and_labels_are_given_by_name(sender: Sender, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        Host.objects.create(lab=cast.lab, name="beta")
        Study.objects.create(lab=cast.lab, slug="cables", title="Cables")
    taken = sender.post({"a.json": REPORT}, "?keep=1", host="beta", study="cables", labels="cable=old, kernel=6.1")
    assert taken.json()["study"] == "cables"
    worked(cast)
    with lab_scope(cast.lab.pk):
        run = Run.objects.get()
        assert run.host is not None
        assert (run.host.name, run.labels["kernel"]) == ("beta", "6.1")


def test_several_files_keep_the_paths_that_are_sent_beside_them(sender: Sender, cast: Cast) -> None:
    taken = sender.post({"run.json": REPORT, "run2.json": OTHER}, path=["host3/run.json", "host4/run.json"])
    names = {file["name"] for file in sender.get(taken.json()["url"]).json()["files"]}
    assert names == {"host3/run.json", "host4/run.json"}


def test_an_unknown_name_is_answered_with_those_that_are_there(sender: Sender, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        hosts = [Host.objects.create(lab=cast.lab, name=name) for name in ("alpha", "beta")]
        ids = [str(Target.objects.create(lab=cast.lab, host=host, name="data", path="/data").pk) for host in hosts]
    with lab_scope(cast.other_lab.pk):
        Host.objects.create(lab=cast.other_lab, name="theirs")
    said = sender.post({"a.json": REPORT}, host="bets").json()
    assert (said["status"], said["field"], said["found"]) == (400, "host", "bets")
    assert said["expected"] == "the id or name of one host of this lab; there are beta, alpha"
    said = sender.post({"a.json": REPORT}, target="data").json()
    assert said["expected"] == f"the id of one target, for several have that name: {', '.join(ids)}"
    assert sender.post({"a.json": REPORT}, study="x").json()["expected"].endswith("of this lab; there is none")


def test_a_known_file_with_a_study_puts_its_earlier_runs_there_and_says_so(sender: Sender, cast: Cast) -> None:
    with lab_scope(cast.lab.pk):
        Study.objects.create(lab=cast.lab, slug="cables", title="Cables")
    sender.post({"a.json": REPORT}, "?keep=true")
    worked(cast)
    taken = sender.post({"b.json": REPORT}, "?keep=true", study="cables")
    worked(cast)
    assert sender.get(taken.json()["url"]).json()["joined"] == "1 earlier run is in the study cables now."
    looked_at = sender.post({"c.json": REPORT, "d.json": OTHER}, study="cables")
    worked(cast)
    kept = sender.client.post(f"{looked_at.json()['url']}keep/", **sender.head).json()
    assert (kept["joined"], len(kept["files"][1]["run_ids"])) == ("", 1), "it is there already"


@for_each(
    "fields, status, words",
    [
        ({"host": "gamma"}, 400, "host: found 'gamma', expected the id or name of one host of this lab; there "),
        ({"study": "99"}, 400, "study: found '99', expected the id or slug of one study of this lab; there "),
        ({"labels": "cable"}, 400, "labels: found 'cable', expected name=value"),
        ({"hots": "beta"}, 400, "part: found 'hots', expected one of: file, path, study, host, target, labels, keep"),
        ({"keep": "maybe"}, 400, "keep: found 'maybe', expected true or false"),
        ({"host": ["alpha", "beta"]}, 400, "host: found 'alpha, beta', expected at most one"),
        ({"labels": SimpleUploadedFile("b.json", b"{}")}, 400, "labels: found 'a file', expected words"),
        ({"host": "\0"}, 400, "host: found"),
        ({"archive": SimpleUploadedFile("b.json", b"{}")}, 400, "part: found 'archive'"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_made(
    sender: Sender, cast: Cast, fields: dict[str, Any], status: int, words: str
) -> None:
    answer = sender.post({"a.json": REPORT}, **fields)
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    with lab_scope(cast.lab.pk):
        assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("query", "words"), [("?keep=maybe", "keep: found 'maybe'"), ("?kept=1", "parameter: found 'kept'")]
)
def test_a_wrong_parameter_is_named_and_nothing_is_made(sender: Sender, cast: Cast, query: str, words: str) -> None:
    answer = sender.post({"a.json": REPORT}, query)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]
    assert {"found", "expected", "field"} <= set(answer.json())
    with lab_scope(cast.lab.pk):
        assert not Upload.objects.exists()


def raw(*names: str) -> bytes:
    """A body with small files of these names as they are, of which each has its own bytes."""
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\nfile {place}\r\n'
        for place, name in enumerate(names)
    ]
    return ("".join(parts) + "--b--\r\n").encode()


def sent_raw(sender: Sender, *names: str, **head: str) -> Any:
    return sender.client.generic("POST", "/api/v1/uploads/", raw(*names), KIND, **sender.head, **head)


def names_of(sender: Sender, *names: str) -> list[str]:
    return [one["name"] for one in sent_raw(sender, *names).json()["files"]]


def test_a_files_name_keeps_its_folders(sender: Sender, cast: Cast) -> None:
    assert names_of(sender, "h1/r.txt", "h2/r.txt") == ["h1/r.txt", "h2/r.txt"]
    assert names_of(sender, "h1/r.txt") == ["h1/r.txt"]
    with lab_scope(cast.lab.pk):
        assert {one.name for one in Upload.objects.all()} == {"h1/r.txt"}


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/var/log/r.txt", "var/log/r.txt"),
        ("//host/share/r.txt", "host/share/r.txt"),
        ("C:\\results\\r.txt", "results/r.txt"),
        ("C:/results/../r.txt", "results/r.txt"),
        ("\\\\server\\share\\r.txt", "server/share/r.txt"),
        ("h\u202e1/r\u202e.txt", "h1/r.txt"),
        ("результаты/диск 1/r.txt", "результаты/диск 1/r.txt"),
    ],
)
def test_a_name_with_folders_leads_nowhere(sender: Sender, sent: str, name: str) -> None:
    assert names_of(sender, sent) == [name]


def test_a_path_beside_a_file_does_not_turn_its_letters_round(sender: Sender) -> None:
    answer = sender.post({"a.json": REPORT}, path="h\u202e1/gpj\u202e.json\u2028")
    assert [one["name"] for one in answer.json()["files"]] == ["h\ufffd1/gpj\ufffd.json\ufffd"]


def test_folders_are_kept_of_who_sends_with_a_session_too(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.engineer)
    client.get("/uploads/")
    head = {"HTTP_X_CSRFTOKEN": client.cookies["csrftoken"].value}
    kind = "multipart/form-data; boundary=b"
    answer = client.generic("POST", "/api/v1/uploads/", raw("h1/r.txt"), kind, **head)
    assert [one["name"] for one in answer.json()["files"]] == ["h1/r.txt"]


@pytest.mark.parametrize(
    ("sent", "name"),
    [("R\u00e9sultats.txt".encode("latin-1"), "R\ufffdsultats.txt"), (b"..", "unnamed"), (b"h1/", "h1/unnamed")],
)
def test_no_file_is_passed_over_for_its_name(sender: Sender, sent: bytes, name: str) -> None:
    """curl sends the bytes that the disk has; Django's own parser leaves such a file out, and takes the others."""
    body = raw("a.txt", "NAME", "b.txt").replace(b"NAME", sent)
    answer = sender.client.generic("POST", "/api/v1/uploads/", body, KIND, **sender.head)
    assert answer.status_code == 202
    assert [one["name"] for one in answer.json()["files"]] == ["a.txt", name, "b.txt"]


def test_bytes_of_a_file_that_look_like_a_part_are_not_touched(sender: Sender, cast: Cast) -> None:
    data = b"-- B\xff\r\n\r\n--a\xff\r\nContent-Disposition: \xff\r\n\r\n\xff" * 9000
    answer = sender.post({"a.bin": data})
    assert [one["sha256"] for one in answer.json()["files"]] == [hashlib.sha256(data).hexdigest()]


@pytest.mark.parametrize("cut", [b"--b--\r\n", b"--\r\n", b"-\r\n", b"1\r\n--b--\r\n"])
def test_a_body_that_ends_before_its_last_boundary_is_refused(sender: Sender, cast: Cast, cut: bytes) -> None:
    """Its length may be right: who made it cut it. The last file in it would be passed over, and the others taken."""
    whole = raw("a.txt", "b.txt")
    at = whole.rindex(cut)
    answer = sender.client.generic("POST", "/api/v1/uploads/", whole[:at], KIND, **sender.head)
    assert answer.status_code == 400
    assert "ends before its last boundary" in answer.json()["detail"]
    with lab_scope(cast.lab.pk):
        assert not Upload.objects.exists()


def test_what_stands_behind_the_last_boundary_is_no_part(sender: Sender) -> None:
    answer = sender.client.generic("POST", "/api/v1/uploads/", raw("a.txt") + b"footer\r\n" * 900, KIND, **sender.head)
    assert [one["name"] for one in answer.json()["files"]] == ["a.txt"]


def test_a_part_of_the_name_file_without_a_files_name_is_refused(sender: Sender, cast: Cast) -> None:
    """`-F file=text` and `-F 'file=<r.txt'` of curl send words, which beside another file nobody would miss."""
    words = b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nwords\r\n'
    for body in (words + raw("a.txt"), words + b"--b--\r\n"):
        answer = sender.client.generic("POST", "/api/v1/uploads/", body, KIND, **sender.head)
        assert answer.status_code == 400
        assert answer.json()["found"] == "a part without a filename"
    with lab_scope(cast.lab.pk):
        assert not Upload.objects.exists()


def test_words_without_end_are_a_problem_in_the_same_form(sender: Sender, settings: Any) -> None:
    many = b"".join(b'--b\r\nContent-Disposition: form-data; name="x%d"\r\n\r\n1\r\n' % n for n in range(11_000))
    long = b'--b\r\nContent-Disposition: form-data; name="labels"\r\n\r\n' + b"x" * 2_700_000 + b"\r\n"
    for words in (many, long):
        answer = sender.client.generic("POST", "/api/v1/uploads/", words + raw("a.txt"), KIND, **sender.head)
        assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
        assert "words without end" in answer.json()["detail"]
    answer = sender.client.generic("POST", f"/api/v1/uploads/?{'a=1&' * 1100}", raw("a.txt"), KIND, **sender.head)
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_hundreds_of_small_files_between_large_ones_come_in_their_order(
    sender: Sender, django_assert_max_num_queries: Any
) -> None:
    files = {f"{n}.txt": b"%d" % n if n % 150 else bytes(SMALL) + b"%d" % n for n in range(300)}
    with django_assert_max_num_queries(100):
        answer = sender.post(files)
    assert [(one["name"], one["sha256"]) for one in answer.json()["files"]] == [
        (name, hashlib.sha256(data).hexdigest()) for name, data in files.items()
    ]


def test_a_body_in_chunks_without_its_length_is_411(sender: Sender, cast: Cast) -> None:
    head = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    answer = sent_raw(sender, "r.txt", **head)
    assert (answer.status_code, answer.json()["expected"]) == (411, "Content-Length")
    with lab_scope(cast.lab.pk):
        assert not Upload.objects.exists()


def test_too_many_files_are_told_as_that(sender: Sender, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    answer = sent_raw(sender, "a", "b", "c")
    assert answer.status_code == 400
    assert "more than 2 files in one request" in answer.json()["detail"]


def test_the_files_of_a_large_upload_come_in_pages(sender: Sender, cast: Cast) -> None:
    url = sent_raw(sender, *(f"{number}.txt" for number in range(5))).json()["url"]
    first = sender.get(f"{url}?limit=2").json()
    assert (first["file_count"], len(first["files"]), first["previous"]) == (5, 2, None)
    assert first["next"].startswith(url)
    second = sender.get(first["next"]).json()
    third = sender.get(second["next"]).json()
    assert [one["name"] for page in (first, second, third) for one in page["files"]] == [f"{n}.txt" for n in range(5)]
    assert (third["next"], third["file_count"]) == (None, 5)
    assert sender.get(third["previous"]).json()["files"] == second["files"]
    assert sender.get(f"{url}?cursor=nowhere").status_code == 404
    worked(cast)
    kept = sender.client.post(f"{url}keep/?limit=2", **sender.head).json()
    assert kept["next"].startswith(f"{url}?"), "no address that only takes POST"
    assert len(sender.get(kept["next"]).json()["files"]) == 2


def test_one_page_holds_all_files_of_most_uploads(sender: Sender) -> None:
    shown = sender.get(sent_raw(sender, *map(str, range(101))).json()["url"]).json()
    assert (len(shown["files"]), shown["next"], shown["previous"], shown["file_count"]) == (101, None, None, 101)


def test_no_file_is_an_error_that_says_which_part_is_missing(sender: Sender) -> None:
    answer = sender.client.post("/api/v1/uploads/", {"other": "x"}, **sender.head)
    assert answer.status_code == 400
    assert answer.json()["field"] == "file"


def test_too_much_is_413(sender: Sender, settings: Any) -> None:
    settings.MAX_UPLOAD = 1000
    answer = sender.post({"a.json": REPORT})
    assert answer.status_code == 413
    assert "send it in parts" in answer.json()["detail"]


@pytest.mark.parametrize("scope", ["read", "run"])
def test_tokens_of_another_scope_may_not_send(cast: Cast, token: Any, scope: str) -> None:
    assert Sender(token(scope)).post({"a.json": REPORT}).status_code == 403
    with lab_scope(cast.lab.pk):
        assert not Upload.objects.exists()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"revoked_at": timezone.now()}, 401),
        ({"expires_at": timezone.now() - timedelta(days=1)}, 401),
        ({"secret_sha256": "0" * 64}, 401),
        ({"scope": "read"}, 403),
    ],
)
def test_a_token_that_ended_may_not_send_any_more(
    sender: Sender, cast: Cast, change: dict[str, Any], status: int
) -> None:
    assert sender.post({"a.json": REPORT}).status_code == 202
    with lab_scope(cast.lab.pk):
        assert Token.objects.get().last_used_at is not None
    with all_labs():
        Token.objects.update(**change)
    assert [sender.post({"b.json": OTHER}).status_code for _ in range(2)] == [status, status]
    with lab_scope(cast.lab.pk):
        assert Upload.objects.count() == AuditEvent.objects.filter(act="files uploaded").count() == 1


def test_another_labs_upload_is_not_there(sender: Sender, cast: Cast) -> None:
    with lab_scope(cast.other_lab.pk):
        theirs = Upload.objects.create(lab=cast.other_lab, name="x", door="rest")
    assert sender.get(f"/api/v1/uploads/{theirs.pk}/").status_code == 404


def test_uploads_are_listed_newest_first_without_their_files(sender: Sender) -> None:
    first, second = (sender.post({name: REPORT}).json()["id"] for name in ("a.json", "b.json"))
    rows = sender.get("/api/v1/uploads/").json()["results"]
    assert [row["id"] for row in rows] == [second, first]
    assert "files" not in rows[0]


def test_a_full_disk_is_507_and_leaves_nothing_half_made(
    sender: Sender, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    from apps.runs.artefacts.store import ArtefactStoreError
    from apps.uploads import services

    def full(lab_id: int, pieces: object) -> None:
        raise ArtefactStoreError(
            28, "The bytes could not be kept in x: No space left on device. Free some space there."
        )

    monkeypatch.setattr(services, "keep", full)
    answer = sender.post({"a.json": REPORT + b" " * SMALL})
    assert answer.status_code == 507
    assert "Free some space" in answer.json()["detail"]
    with lab_scope(cast.lab.pk):
        assert not Upload.objects.exists()


def test_who_sent_what_is_in_the_audit_trail(sender: Sender, cast: Cast) -> None:
    sender.post({"a.json": REPORT})
    with lab_scope(cast.lab.pk):
        event = AuditEvent.objects.get(act="files uploaded")
    assert (event.who, event.subject) == ("token upload token", "a.json")


@for_each("query", ["", "?keep=true", "?keep=perhaps"])
@for_each("kind", ["", KIND, "application/json", "multipart/form-data"])
def test_a_request_without_a_body_is_told_what_was_expected(sender: Sender, kind: str, query: str) -> None:
    answer = sender.client.generic("POST", f"/api/v1/uploads/{query}", b"", content_type=kind, **sender.head)
    assert answer.status_code in (400, 415), answer.content
    assert answer.json()["detail"]
