"""One running product for all tests of a session; a test that disturbs it starts its own."""

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bin._lib import packages
from tests.outside import filled
from tests.outside.product import Client, Product


def _folder() -> Path:
    """A short path that the database's account may pass."""
    folder = Path(tempfile.mkdtemp(prefix="spindle-out-", dir="/tmp"))
    folder.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def prepared() -> Product:
    """A product that was started once and stopped: the others begin with a copy of its data folder.

    Made once for a run of `bin/test`, whatever the number of its workers; with the tables and reports that this run has
    filled before, in the long form from nothing. While you write tests,
    `SPINDLE_PREPARED=/tmp/some-folder` keeps it for the next runs too; `bin/up` brings an older one up to date.
    """
    if not packages.is_ready("run"):
        pytest.skip("the environment is not the locked one; run these tests through bin/test")
    folder = Path(os.environ.get("SPINDLE_PREPARED") or Path(os.environ["SPINDLE_DATA"]).parent / "prepared")
    folder.mkdir(exist_ok=True, mode=0o755)
    first, signing_in = Product(folder), folder / "owner.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not signing_in.exists():
            shutil.rmtree(first.data, ignore_errors=True)
            if filled.is_offered():
                filled.fill(first.data)
            with first:
                first.stop()
            signing_in.write_text(json.dumps([first.email, first.password]))
        first.email, first.password = json.loads(signing_in.read_text())
    return first


@pytest.fixture(scope="session")
def product(prepared: Product) -> Iterator[Product]:
    """The product that tests share. Leave it running, and make labs, hosts and people of your own."""
    folder = _folder()
    try:
        with Product(folder, like=prepared) as running:
            yield running
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def own_product(prepared: Product) -> Iterator[Callable[..., Product]]:
    """`own_product("--option", env={…})` starts a product for one test alone, to be killed, cut off or filled up; `like=None` a new one."""
    with ExitStack() as stack:

        def started(*options: str, **more: Any) -> Product:
            folder = _folder()
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            return stack.enter_context(Product(folder, *options, **{"like": prepared, **more}))

        yield started


@pytest.fixture(scope="session")
def owner(product: Product) -> Client:
    """The signed-in browser of the shared product's first owner."""
    return product.owner()


@pytest.fixture(scope="session")
def admin(product: Product) -> Client:
    """A script with an admin token of the shared product's first lab."""
    return product.client(product.make_token("admin"))
