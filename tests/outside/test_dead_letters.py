"""Work whose worker is killed again and again ends with its reason, a line in the log and a way to try again; it never waits for ever."""

import io
import os
import signal
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import psutil
import pytest

from tests.outside.product import Client, Product, wait_until

pytestmark = [pytest.mark.outside, pytest.mark.long]
FILES = 6000


def _archive() -> bytes:
    """So many small results that some are still to be read when some are read."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for number in range(FILES):
            text = f"{1073741824 + number} bytes (1.1 GB, 1.0 GiB) copied, {2 + number / 1000} s, 537 MB/s\n"
            archive.writestr(f"dd{number}.txt", text)
    return held.getvalue()


def _kill_worker(product: Product) -> None:
    """kill -9 of the worker with its children; `bin/up` starts another one."""
    main = psutil.Process(product.pid("worker"))
    for process in [main, *main.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            os.kill(process.pid, signal.SIGKILL)


def _kill_at_each_try(product: Product, client: Client, upload: str, tries: int = 3) -> None:
    """Kill the worker each time when it has read some more of the upload: "parsing" alone may be what the last one left."""

    def count() -> int:
        return len(client.get(upload).json()["files"])

    for _ in range(tries):
        wait_until("more of the upload is read", 150, partial(lambda before: count() > before, count()))
        _kill_worker(product)


def test_an_upload_whose_worker_is_killed_three_times_is_given_up_and_can_be_read_again(
    own_product: Callable[..., Product],
) -> None:
    product = own_product()
    owner, client = product.owner(), product.client(product.make_token("admin"))
    sent = client.upload("/api/v1/uploads/", {"results.zip": _archive()})
    assert sent.status == 202, sent.text
    upload = sent.json()["url"]
    _kill_at_each_try(product, client, upload)
    found = product.read_in(upload, client, 150)
    assert found["state"] in ("failed", "partly")
    assert "cut short 3 times" in found["problem"]
    assert f"dead letter: upload {found['id']}" in product.log("worker")
    page = owner.get(f"/uploads/{found['id']}/").text
    assert "cut short 3 times" in page
    assert "Read again" in page
    assert "Waiting for a worker" not in page

    assert client.send("POST", f"{upload}read-again/").status == 202
    again = product.read_in(upload, client, 150)
    assert (again["state"], again["problem"]) == ("parsed", "")
    assert sum(1 for one in again["files"] if one["runs"] == 1) > 0
