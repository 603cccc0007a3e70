"""The agent takes the server's newer program: only if allowed, only between runs, only the one that was said, and back if it fails."""

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.agent.fake_server import FakeServer
from tests.agent.host import Host, job, lasting, starts, until, workload


def changed(pyz: Path, version: str, **sources: str) -> bytes:
    """Return the program with another version and other sources."""
    made = io.BytesIO()
    with zipfile.ZipFile(pyz) as before, zipfile.ZipFile(made, "w") as after:
        for name in before.namelist():
            text = sources.get(name.replace("/", "_").replace(".", "_"), before.read(name).decode())
            if name == "agent/__init__.py":
                head, _, _ = text.partition("VERSION = ")
                text = f'{head}VERSION = "{version}"\n'
            after.writestr(name, text)
    return made.getvalue()


def hand_out(server: FakeServer, program: bytes, said: str, **wrong: Any) -> None:
    """Have a newer program from now on; a poll that is held is answered, which would else be after 25 s."""
    server.program = program
    digest = hashlib.sha256(program).hexdigest()
    server.release = {"version": said, "sha256": digest, "size": len(program), **wrong}
    server.answer_at_once()


def versions(server: FakeServer) -> list[str]:
    return list(dict.fromkeys(poll["agent_version"] for poll in server.polls))


def accepted(host: Host) -> dict[str, Any]:
    path = host.state / "program" / "accepted.json"
    return json.loads(path.read_text()) if path.exists() else {}


@pytest.fixture
def willing(host: Host) -> Host:
    host.configure(upgrade="yes")
    return host


def test_nothing_is_taken_unless_agent_conf_says_so(host: Host, server: FakeServer, pyz: Path) -> None:
    hand_out(server, changed(pyz, "9.1"), "9.1")
    host.start()
    until(lambda: len(server.polls) > 1)
    assert not (host.state / "program").exists()
    assert len(versions(server)) == 1
    host.end()


def test_a_willing_agent_becomes_the_newer_program_and_works_on(willing: Host, server: FakeServer, pyz: Path) -> None:
    hand_out(server, changed(pyz, "9.1"), "9.1")
    willing.start()
    until(lambda: "9.1" in versions(server), "the newer program")
    until(lambda: accepted(willing).get("is_proven"), "its proof")
    attempt = server.offer(workload(job()))
    assert willing.ended(attempt) == "finished"
    willing.end()
    willing.start()  # the installed program hands over again
    count = len(server.polls)
    until(lambda: len(server.polls) > count)
    assert server.polls[-1]["agent_version"] == "9.1"
    assert "newer program: 9.1" in willing.call("status").stdout
    willing.end()


@pytest.mark.slow
def test_it_waits_for_the_end_of_a_run(willing: Host, server: FakeServer, pyz: Path) -> None:
    attempt = server.offer(lasting(3))
    willing.start()
    until(lambda: attempt.running)
    count = len(server.polls)
    hand_out(server, changed(pyz, "9.1"), "9.1")
    until(lambda: len(server.polls) > count, "the poll after the answer that tells of it")
    assert attempt.ending or not (willing.state / "program").exists()
    assert willing.ended(attempt) == "finished"
    until(lambda: "9.1" in versions(server), "the newer program")
    assert "9.1" not in [poll["agent_version"] for poll in server.polls if poll["attempts"]]
    assert starts(attempt) == 1
    willing.end()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"sha256": "0" * 64}, "has the SHA-256"),
        ({"size": 10}, "bytes or more"),
        ({"version": "9.2"}, "says that it is '9.1'"),
    ],
)
def test_another_program_than_was_said_is_not_taken(
    willing: Host, server: FakeServer, pyz: Path, wrong: dict[str, Any], words: str
) -> None:
    hand_out(server, changed(pyz, "9.1"), "9.1", **wrong)
    willing.start()
    until(lambda: words in willing.log.read_text(), words)
    assert not (willing.state / "program" / "agent.pyz").exists()
    assert len(versions(server)) == 1
    willing.end()


def test_a_program_that_does_not_come_up_is_put_aside_and_not_tried_again(
    willing: Host, server: FakeServer, pyz: Path
) -> None:
    broken = 'raise_now = 1\n\nclass AgentLoop:\n    def __init__(self, *_):\n        raise RuntimeError("cannot")\n'
    hand_out(server, changed(pyz, "9.1", agent_loop_py=broken), "9.1")
    willing.start()
    until(lambda: "did not come up; it is put aside" in willing.log.read_text(), "the fall back")
    until(lambda: "tried before" in willing.log.read_text(), "that it is not tried again", 30)
    attempt = server.offer(workload(job()))
    assert willing.ended(attempt) == "finished"
    assert versions(server) == [server.polls[0]["agent_version"]]
    willing.end()


def test_a_broken_one_after_a_good_one_gives_the_good_one_back(willing: Host, server: FakeServer, pyz: Path) -> None:
    hand_out(server, changed(pyz, "9.1"), "9.1")
    willing.start()
    until(lambda: accepted(willing).get("is_proven"), "the proof of the good one")
    broken = "class AgentLoop:\n    def __init__(self, *_):\n        raise RuntimeError()\n"
    hand_out(server, changed(pyz, "9.2", agent_loop_py=broken), "9.2")
    until(lambda: "Version 9.2 of the agent did not come up" in willing.log.read_text(), "the fall back")
    attempt = server.offer(workload(job()))
    assert willing.ended(attempt) == "finished"
    assert server.polls[-1]["agent_version"] == "9.1"
    willing.end()


def test_a_changed_file_is_never_started(willing: Host, server: FakeServer, pyz: Path) -> None:
    hand_out(server, changed(pyz, "9.1"), "9.1")
    willing.start()
    until(lambda: accepted(willing).get("is_proven"))
    willing.end()
    (willing.state / "program" / "agent.pyz").write_bytes(changed(pyz, "9.1") + b" ")
    server.release = {}
    count = len(server.polls)
    willing.start()
    until(lambda: len(server.polls) > count)
    assert server.polls[-1]["agent_version"] != "9.1"
    willing.end()


def test_the_command_takes_it_once_and_a_running_agent_changes_over(host: Host, server: FakeServer, pyz: Path) -> None:
    assert "nothing newer" in host.call("upgrade", "--server", server.address).stderr
    hand_out(server, changed(pyz, "9.1"), "9.1")
    host.start()
    until(lambda: server.polls)
    done = host.call("upgrade", "--server", server.address)
    assert done.returncode == 0, done.stderr
    server.answer_at_once()
    until(lambda: "9.1" in versions(server), "the newer program")
    host.end()


def test_the_command_changes_nothing_while_a_run_is_under_way(host: Host, server: FakeServer, pyz: Path) -> None:
    attempt = server.offer(lasting(3))
    host.start()
    until(lambda: attempt.running)
    hand_out(server, changed(pyz, "9.1"), "9.1")
    done = host.call("upgrade", "--server", server.address)
    assert done.returncode == 2
    assert "is not over yet" in done.stderr
    assert host.ended(attempt) == "finished"
    host.end()
