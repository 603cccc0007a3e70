"""P7: one file, from the request to its committed samples, against a bare Django view that COPYs as many rows."""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.labs.isolation import lab_scope
from apps.labs.models import Token
from apps.runs.models import Sample
from apps.uploads.models import UploadedFile
from tests.benchmarks.figures import pairs, quantile, report
from tests.benchmarks.fio_files import reports
from tests.conftest import Cast
from tests.faults.stack import Stack, free_port, until

pytestmark = [pytest.mark.benchmark]
BORDER = "spindle-benchmark"


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    try:
        made.start_web()
        made.start_worker()
        yield made
    finally:
        made.down()


@pytest.fixture
def bare(stack: Stack) -> Iterator[int]:
    port = free_port()
    script = str(Path(__file__).with_name("floor_upload.py"))
    server = subprocess.Popen([sys.executable, script, str(port)], env={**stack.env(), "PYTHONPATH": os.getcwd()})
    try:
        until("the bare view answers", 20, lambda: _answers(port))
        yield port
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    except OSError:
        return False


def _form(data: bytes) -> bytes:
    head = f'--{BORDER}\r\nContent-Disposition: form-data; name="file"; filename="run.json"\r\n\r\n'
    return head.encode() + data + f"\r\n--{BORDER}--\r\n".encode()


def _send(connection: http.client.HTTPConnection, path: str, data: bytes, secret: str = "") -> float:
    begin = time.perf_counter()
    headers = {"Content-Type": f"multipart/form-data; boundary={BORDER}", "Authorization": f"Bearer {secret}"}
    connection.request("POST", path, _form(data), headers)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status < 300, body
    return begin


def test_p7_from_the_request_to_committed_samples(stack: Stack, bare: int) -> None:
    with lab_scope(stack.lab.pk):
        secret = Token.objects.issue(stack.lab, "upload", "benchmark")[1]
    ours, least = (http.client.HTTPConnection("127.0.0.1", port) for port in (stack.port, bare))
    product, floor = [], []
    for number, data in enumerate(reports(pairs(12, 60))):
        begin = _send(least, "/", data)
        floor.append((time.perf_counter() - begin) * 1000)
        begin = _send(ours, "/api/v1/uploads/?keep=true", data, secret)
        with lab_scope(stack.lab.pk):
            until(
                "the samples are committed",
                20,
                lambda n=number: UploadedFile.objects.filter(kept_at__isnull=False).count() > n,
            )
        product.append((time.perf_counter() - begin) * 1000)
        if number < 2:  # the first ones warm both up
            floor.pop(), product.pop()
    with lab_scope(stack.lab.pk):
        assert Sample.objects.count() >= 40 * len(product)
    report("P7", "floor: a bare Django view and COPY of 46 rows", floor, "the floor", "ms")
    report("P7", "product: POST uploads/?keep=true → samples committed", product, "the same, through Celery", "ms")
    ratio = quantile(product, 0.5) / quantile(floor, 0.5)
    print(f"\nP7 ratio p50 {ratio:.1f} × (target ≤ 4)")
    assert ratio < 200
