"""Agents that die at a point that a test names: the program as built, with tests/agent/failpoints.py in front of it."""

import os
import signal
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.agent.fake_server import Attempt
from tests.agent.host import Host, until

FAILPOINTS = Path(__file__).with_name("failpoints.py")


def build(program: Path, target: Path) -> Path:
    """Write agent.pyz again with the failpoints imported first, in the agent and in its runners."""
    with zipfile.ZipFile(program) as source, zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            text = source.read(name)
            if name == "__main__.py":
                text = b"import failpoints\n" + text
            archive.writestr(name, text)
        archive.write(FAILPOINTS, "failpoints.py")
    return target


class FailingHost(Host):
    """A host whose agent gets further variables of the environment at each start."""

    def start_with(self, variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        argv = [self.python, str(self.pyz), "run", "--state", str(self.state), "--server", self.server.address]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(argv, stderr=log, env={**os.environ, **variables})
        return self.process

    def record(self, attempt: Attempt, how: str, trace: Path) -> list[str]:
        """Let an attempt run undisturbed, and return the points that it went through, each once, in their order."""
        self.start_with({"SPINDLE_FAIL_TRACE": str(trace), "SPINDLE_FAIL_HOW": how})
        assert self.ended(attempt) == "finished"
        until(lambda: (self.state / "spool" / "next").exists(), "the folder of the next attempt")
        self.end(signal.SIGKILL)
        return list(dict.fromkeys(trace.read_text().splitlines()))


def make_failing_host(folder: Path, server: object, pyz: Path) -> FailingHost:
    """Enrol a host with the failing program."""
    return FailingHost(folder, server, build(pyz, folder / "agent.pyz"), sys.executable)  # type: ignore[arg-type]
