"""A checkout of its own for each test of the launcher, with small stand-ins for the Django project and the agent.

The stand-ins speak the same contract (`manage.py prepare|demo --json`, `/healthz`, `agent.pyz enrol|run`), so these
tests are about bin/up alone; tests/e2e starts the real project.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bin._lib import assets, packages
from bin._lib.layout import ROOT, VENV
from tests.bin.launcher import Launcher

STAND_INS = Path(__file__).parent / "stand_ins"
NOBODY = 65534


def make_checkout(place: Path) -> Path:
    """What a clone holds, with this checkout's packages and assets as an earlier start left them."""
    shutil.copytree(STAND_INS, place, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "bin", place / "bin", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "requirements", place / "requirements")
    for name in assets.NPM_FILES:
        shutil.copyfile(ROOT / name, place / name)
    vendor = place / "static" / "vendor"
    vendor.mkdir(parents=True)
    (vendor / ".stamp").write_text(assets.digest())
    return place


def lend_environment(place: Path) -> None:
    """This checkout's environment, counted as installed."""
    (place / ".venv").symlink_to(VENV)


@pytest.fixture(scope="session", autouse=True)
def _environment_is_stamped() -> None:
    if not packages.is_ready("run"):
        pytest.skip("these tests lend out the environment that bin/test sets up; run them through bin/test")


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a short path that every account may pass, as /srv/spindle would be."""
    folder = Path(tempfile.mkdtemp(prefix="spindle-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def checkout(short_folder: Path) -> Path:
    place = make_checkout(short_folder / "spindle")
    lend_environment(place)
    return place


@pytest.fixture
def launcher(checkout: Path) -> Iterator[Launcher]:
    with Launcher(checkout) as started:
        yield started


@pytest.fixture
def python_for_everybody() -> str:
    """A Python >= 3.11 that an account without rights may run (one under /root is not)."""
    for program in (sys.executable, "/usr/bin/python3"):
        asked = [program, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        drop = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            if subprocess.run(asked, check=False, cwd="/", **drop).returncode == 0:  # type: ignore[call-overload]
                return program
        except OSError:
            continue
    pytest.skip("no Python >= 3.11 here that the account nobody may run")
