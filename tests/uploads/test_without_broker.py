"""Redis is away: what is sent is kept, and what needs a worker says so."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from kombu.exceptions import OperationalError

from apps.labs.models import AuditEvent
from apps.runs.models import Run
from apps.uploads import save_runs, tasks
from apps.uploads.models import Upload, UploadState
from apps.uploads.views import revert, uploads
from tests.uploads.conftest import Bring

pytestmark = pytest.mark.django_db
DD = b"1073741824 bytes (1.1 GB, 1.0 GiB) copied, 4.%d s, 262 MB/s\n"


@pytest.fixture(autouse=True)
def away(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OperationalError("connection refused")

    for task in (tasks.parse_upload, tasks.keep_upload, tasks.take_back_upload):
        monkeypatch.setattr(task, "apply_async", refused)


def said(answer: Any) -> str:
    return " ".join(str(one) for one in get_messages(answer.wsgi_request))


def test_what_was_sent_waits_for_the_sweeper(engineer: Client, django_capture_on_commit_callbacks: Any) -> None:
    sent = [SimpleUploadedFile(f"{number}.txt", DD % number) for number in range(3)]
    with django_capture_on_commit_callbacks(execute=True):
        answer = engineer.post(reverse("uploads"), {"file": sent})
    upload = Upload.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (302, upload.get_absolute_url())
    assert (upload.state, upload.files.count()) == (UploadState.QUEUED, 3)
    assert tasks.sweep_uploads() == 1


def test_keeping_and_taking_back_of_many_say_that_nothing_was_done(
    bring: Bring, engineer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "AT_ONCE", 1)
    monkeypatch.setattr(revert, "AT_ONCE", 1)
    upload = bring({f"{number}.txt": DD % number for number in range(3)})
    files = list(upload.files.values_list("pk", flat=True))
    for words in ({"act": "all"}, {"file": files}):
        assert "Nothing was kept: Redis" in said(engineer.post(reverse("upload-keep", args=[upload.pk]), words))
    assert not Run.objects.exists()
    save_runs.keep(upload)
    assert "Nothing was undone: Redis" in said(engineer.post(reverse("upload-take-back", args=[upload.pk])))
    assert Run.objects.count() == 3
    assert not AuditEvent.objects.filter(act__in=["upload kept", "runs taken back"]).exists()
