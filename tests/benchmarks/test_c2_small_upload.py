"""C2: one small file, from the request to its committed samples, through Celery."""

import hashlib
import http.client
import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from apps.runs.models import Sample
from apps.uploads.models import UploadedFile
from tests.benchmarks.figures import pairs, quantile, report
from tests.benchmarks.fio_files import reports
from tests.benchmarks.servers import with_web
from tests.conftest import Cast
from tests.faults.stack import Stack

pytestmark = [pytest.mark.benchmark]
BORDER = "spindle-benchmark"


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    made.start_worker()
    with with_web(made):
        yield made


def _form(data: bytes) -> bytes:
    head = f'--{BORDER}\r\nContent-Disposition: form-data; name="file"; filename="run.json"\r\n\r\n'
    return head.encode() + data + f"\r\n--{BORDER}--\r\n".encode()


def _send(connection: http.client.HTTPConnection, path: str, data: bytes, secret: str = "") -> bytes:
    headers = {"Content-Type": f"multipart/form-data; boundary={BORDER}", "Authorization": f"Bearer {secret}"}
    connection.request("POST", path, _form(data), headers)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status < 300, body
    return body


def _upload(connection: http.client.HTTPConnection, data: bytes, secret: str) -> None:
    """Send it, and ask until it is read."""
    sent = json.loads(_send(connection, "/api/v1/uploads/?keep=true", data, secret))
    path = urlsplit(sent["url"]).path
    while sent["state"] in ("queued", "parsing"):
        time.sleep(0.01)
        connection.request("GET", path, headers={"Authorization": f"Bearer {secret}"})
        sent = json.loads(connection.getresponse().read())
    assert sent["state"] == "parsed", sent


def test_c2_from_the_request_to_committed_samples(stack: Stack) -> None:
    with lab_scope(stack.lab.pk):
        secret = Token.objects.issue(stack.lab, "upload", "benchmark")[1]
    connection = http.client.HTTPConnection("127.0.0.1", stack.port)
    times = []
    for number, data in enumerate(reports(pairs(12, 100))):
        begin = time.perf_counter()
        _upload(connection, data, secret)
        times.append((time.perf_counter() - begin) * 1000)
        with lab_scope(stack.lab.pk):
            kept = UploadedFile.objects.filter(artefact__sha256=hashlib.sha256(data).hexdigest())
            assert Sample.objects.filter(run__uploaded_from__file__in=kept).count() >= 40, "they are committed"
        if number < 2:  # the first one starts the worker's confined child
            times.pop()
    report("C2", "POST uploads/?keep=true → samples committed", times, "none; for comparison", "ms")
    assert report("C2", f"p95 of it, n = {len(times)}", [quantile(times, 0.95)], "≤ 1,000", "ms") < 5000
