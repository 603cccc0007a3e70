"""What a person does with all files that match, more than a page shows, and how the runs of an upload are found again."""

import time
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from apps.inventory.models import Host
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.uploads.models import FileState, Upload, UploadedFile
from apps.uploads.review.upload_summary import tally
from apps.uploads.tasks import keep_upload
from apps.uploads.views import uploads
from tests.pace import within
from tests.uploads.conftest import Bring, zipped

pytestmark = pytest.mark.django_db
DD = "{n} bytes (1.1 GB, 1.0 GiB) copied, 10.5 s, 102 MB/s\n"


@pytest.fixture
def engineer(lab: Lab, sign_in: Any) -> Client:
    client: Client = sign_in("engineer")
    return client


@pytest.fixture
def many(bring: Bring) -> Upload:
    """60 files in two folders, more than a page of 50."""
    files = {f"{'ab'[n % 2]}/run{n}.txt": DD.format(n=1073741824 + n).encode() for n in range(60)}
    return bring({"all.zip": zipped(files)})


def test_all_files_that_match_are_kept_on_whatever_page(engineer: Client, many: Upload) -> None:
    address = many.get_absolute_url()
    assert "those on all pages" in engineer.get(address).content.decode()
    page = engineer.get(f"{address}?q=/a/").content.decode()
    assert 'name="every"' not in page
    engineer.post(f"{address}keep/?q=/a/", {"act": "selected", "every": "1"})
    kept = UploadedFile.objects.filter(upload=many, kept_at__isnull=False).values_list("name", flat=True)
    assert {name.split("/")[1] for name in kept} == {"a"}
    assert len(kept) == 30


def test_all_files_that_match_get_a_host(engineer: Client, many: Upload, lab: Lab) -> None:
    host = Host.objects.create(lab=lab, name="n1")
    engineer.post(f"{many.get_absolute_url()}keep/", {"act": "place", "every": "1", "place": f"host-{host.pk}"})
    assert UploadedFile.objects.filter(upload=many, host=host).count() == 60


def test_more_than_a_request_keeps_go_to_a_worker(
    engineer: Client, many: Upload, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(uploads, "AT_ONCE", 20)
    monkeypatch.setattr(uploads.keep_upload, "delay", lambda *args: asked.append(args))
    engineer.post(f"{many.get_absolute_url()}keep/?q=/b/", {"act": "selected", "every": "1"})
    ((pk, files),) = asked
    assert (pk, len(files), Run.objects.count()) == (many.pk, 30, 0)
    assert keep_upload(pk, files) == 30


@pytest.mark.parametrize("act", ["all", "selected"])
def test_a_file_of_very_many_runs_goes_to_a_worker_too(
    engineer: Client, bring: Bring, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(uploads, "RUNS_AT_ONCE", 2)
    monkeypatch.setattr(uploads.keep_upload, "delay", lambda *args: asked.append(args))
    upload = bring({"loop.txt": "".join(DD.format(n=n) for n in range(3)).encode()})
    file = upload.files.get()
    answer = engineer.post(f"{upload.get_absolute_url()}keep/", {"act": act, "file": [file.pk]}, follow=True)
    assert asked == ([(upload.pk,)] if act == "all" else [(upload.pk, [file.pk])])
    assert not Run.objects.exists()
    assert ("3 runs of 1 file are being kept" in answer.content.decode()) == (act == "selected")
    assert keep_upload(*asked[0]) == 3


def test_the_runs_of_an_upload_are_a_list(engineer: Client, many: Upload, bring: Bring) -> None:
    bring({"other.txt": DD.format(n=5).encode()}, keep_at_once=True)
    assert Run.objects.count() == 1
    engineer.post(f"{many.get_absolute_url()}keep/", {"act": "all"})
    assert f'href="/runs/?upload={many.pk}"' in engineer.get(many.get_absolute_url()).content.decode()
    page = engineer.get(f"/runs/?upload={many.pk}").content.decode()
    assert "60 runs" in page
    assert f'of <a href="/uploads/{many.pk}/">upload {many.pk}</a>' in page


def test_the_plain_form_keeps_the_folders_of_names(engineer: Client) -> None:
    head = '--b\r\nContent-Disposition: form-data; name="{}"'
    files = "".join(
        f'{head.format("file")}; filename="{name}"\r\n\r\n{name}\r\n' for name in ("h1/r.txt", "../h2\\r.txt")
    )
    words = "".join(f"{head.format(name)}\r\n\r\n\r\n" for name in ("labels", "place", "study", "pasted"))
    answer = engineer.generic("POST", "/uploads/", f"{files}{words}--b--\r\n", "multipart/form-data; boundary=b")
    assert answer.status_code == 302
    assert list(UploadedFile.objects.order_by("id").values_list("name", flat=True)) == ["h1/r.txt", "h2/r.txt"]


@pytest.mark.slow
@pytest.mark.parametrize("is_read", [True, False], ids=["read", "being opened"])
def test_a_page_of_thousands_of_files_opens_at_once(engineer: Client, lab: Lab, is_read: bool) -> None:
    """It is asked for every second while they are read."""
    upload = Upload.objects.create(lab=lab, name="all.zip", door="page", state="parsed" if is_read else "parsing")
    state = FileState.UNPACKED if is_read else FileState.WAITING
    archive = UploadedFile.objects.create(upload=upload, name="all.zip", state=state)
    with connection.cursor() as cursor:
        cursor.execute(
            f"ANALYZE {UploadedFile._meta.db_table}"
        )  # so PostgreSQL thinks that there are few, as in the first minute
    first = UploadedFile.objects.create(upload=upload, archive=archive, name="0.txt", format="dd", run_count=1)
    _copy(first, 8000, is_read=is_read)
    first.delete()
    engineer.get(upload.get_absolute_url())  # what is read once
    began = time.perf_counter()
    shown = engineer.get(upload.get_absolute_url()).content.decode()
    assert within(time.perf_counter() - began, 4)  # it took 18 to 32
    assert ("still being opened" in shown) is not is_read
    assert (tally(upload).waiting, tally(upload).opening) == ((0, 0) if is_read else (4001, 1))


def _copy(file: UploadedFile, count: int, *, is_read: bool) -> None:
    """Make so many rows of one in the database, which takes a tenth of the time; half of them wait where not all are read."""
    own = {"id", "name", "state", "printed_hosts"}
    others = ", ".join(f'"{field.column}"' for field in UploadedFile._meta.concrete_fields if field.name not in own)
    table = UploadedFile._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {table} (name, state, printed_hosts, {others})
            SELECT number || '.txt', CASE WHEN %s OR number < %s THEN %s ELSE %s END,
                   jsonb_build_array('n' || number %% 300), {others}
            FROM {table}, generate_series(0, %s) AS number WHERE id = %s
            """,
            [is_read, count // 2, FileState.PARSED, FileState.WAITING, count - 1, file.pk],
        )
