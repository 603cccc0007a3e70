"""`agent.pyz doctor` on a real host: what is right is said to be so, and each thing that is wrong has its line and what to do."""

import os
import shutil

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host


def findings(host: Host) -> tuple[int, dict[str, tuple[str, str]]]:
    """Return the exit code, and of each subject its worst line and state."""
    done = host.call("doctor", "--server", host.server.address)
    assert done.stderr == ""
    found: dict[str, tuple[str, str]] = {}
    order = ["ok", "note", "problem"]
    for line in done.stdout.splitlines():
        state, words = line[:8].strip(), line[8:]
        subject = words.partition(":")[0]
        if state in order and (subject not in found or order.index(state) > order.index(found[subject][0])):
            found[subject] = state, words
    return done.returncode, found


def test_a_host_in_order_has_no_problem(host: Host) -> None:
    code, found = findings(host)
    assert code == 0
    for subject in ("configuration", "permissions", "identity", "server", "token", "clock", "version", "fio"):
        assert found[subject][0] == "ok", found[subject]
    assert found["spool"][0] in ("ok", "note")
    assert found["directory"][0] in ("ok", "note")
    assert found["probe"][0] == "note"
    assert host.server.polls == []


@pytest.mark.parametrize(
    ("change", "subject", "words"),
    [
        ("server away", "server", "does not answer"),
        ("revoked", "token", "401"),
        ("pending", "token", "pending"),
        ("another machine", "token", "another machine"),
        ("clock", "clock", "behind the server's"),
        ("conf", "configuration", "whole number"),
        ("conf open", "configuration", "can be written by others"),
        ("no fio", "fio", "not found"),
        ("directory gone", "directory", "files"),
        ("not enrolled", "identity", "not enrolled"),
        ("refused inventory", "inventory", "too large"),
    ],
)
def test_what_is_wrong_is_a_line_and_the_exit_code(host: Host, change: str, subject: str, words: str) -> None:
    conf = host.state / "agent.conf"
    if change == "server away":
        host.server.stop()
    elif change == "revoked":
        host.server.refuse_with = {"self": 401}
    elif change == "pending":
        host.server.own = {"state": "pending"}
    elif change == "another machine":
        host.server.own = {"doubt": "another machine"}
    elif change == "clock":
        host.server.clock_ahead = 90
    elif change == "conf":
        host.configure(max_runtime_s="soon")
    elif change == "conf open":
        conf.chmod(0o622)
    elif change == "no fio":
        host.configure(fio="/nowhere/fio")
    elif change == "directory gone":
        shutil.rmtree(host.files)
    elif change == "not enrolled":
        os.unlink(host.state / "identity.json")
    else:
        (host.state / "refused.json").write_text('{"inventory": {"reason": "too large", "since": 1}}')
    code, found = findings(host)
    assert code == 1
    assert found[subject][0] == "problem"
    assert words in found[subject][1]


def test_a_newer_program_of_the_server_is_noted(host: Host, server: FakeServer) -> None:
    server.release = {"version": "9.9", "sha256": "0" * 64, "size": 10}
    code, found = findings(host)
    assert (code, found["version"][0]) == (0, "note")
    assert "9.9" in found["version"][1]
