"""P7: one file, from the request to its committed samples, against a bare Django view that COPYs as many rows."""

import hashlib
import http.client
import json
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
from tests.benchmarks.warm import warmed
from tests.conftest import Cast
from tests.faults.stack import Stack, free_port, until

pytestmark = [pytest.mark.benchmark]
BORDER = "spindle-benchmark"


@pytest.fixture
def stack(transactional_db: None, cast: Cast, tmp_path: Path) -> Iterator[Stack]:
    made = Stack(tmp_path, cast.lab)
    made.start_worker()
    with warmed(made):
        yield made


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


def _send(connection: http.client.HTTPConnection, path: str, data: bytes, secret: str = "") -> bytes:
    headers = {"Content-Type": f"multipart/form-data; boundary={BORDER}", "Authorization": f"Bearer {secret}"}
    connection.request("POST", path, _form(data), headers)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status < 300, body
    return body


def _ours(connection: http.client.HTTPConnection, data: bytes, secret: str) -> str:
    """The upload's state as the answer says it."""
    state: str = json.loads(_send(connection, "/api/v1/uploads/?keep=true", data, secret))["state"]
    return state


def test_p7_from_the_request_to_committed_samples(stack: Stack, bare: int) -> None:
    with lab_scope(stack.lab.pk):
        secret = Token.objects.issue(stack.lab, "upload", "benchmark")[1]
    ours, least = (http.client.HTTPConnection("127.0.0.1", port) for port in (stack.port, bare))
    product, floor = [], []
    warm = reports(10_000, seed=2)
    until("the server's own child reads", 60, lambda: _ours(ours, next(warm), secret) == "parsed")
    for number, data in enumerate(reports(pairs(12, 60))):
        begin = time.perf_counter()
        _send(least, "/", data)
        floor.append((time.perf_counter() - begin) * 1000)
        begin = time.perf_counter()
        assert _ours(ours, data, secret) == "parsed"
        product.append((time.perf_counter() - begin) * 1000)
        with lab_scope(stack.lab.pk):
            kept = UploadedFile.objects.filter(artefact__sha256=hashlib.sha256(data).hexdigest())
            assert Sample.objects.filter(run__uploaded_from__file__in=kept).count() >= 40, "they are committed"
        if number < 2:  # the first ones warm both up
            floor.pop(), product.pop()
    report("P7", "floor: a bare Django view and COPY of 46 rows", floor, "the floor", "ms")
    report("P7", "product: POST uploads/?keep=true → samples committed", product, "the same, in the request", "ms")
    ratio = quantile(product, 0.5) / quantile(floor, 0.5)
    print(f"\nP7 ratio p50 {ratio:.1f} × (target ≤ 4)")
    assert ratio < 200
