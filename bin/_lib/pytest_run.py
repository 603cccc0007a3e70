"""One run of pytest: its output as it comes, its counts for the summary."""

import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from bin._lib.layout import PYTHON, ROOT

NOTHING_COLLECTED = 5  # pytest's exit status
OPTIONS = ("-q", "--no-header", "--durations=10", "--durations-min=3")  # the slowest are seen before they are many


@dataclass(frozen=True)
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run(arguments: Sequence[str], env: Mapping[str, str], report: Path) -> Counts:
    """Run pytest and return its counts; a run that breaks off counts as one failure."""
    argv = [str(PYTHON), "-m", "pytest", *OPTIONS, f"--junitxml={report}", *arguments]
    report.unlink(missing_ok=True)
    child = subprocess.Popen(argv, cwd=ROOT, env=dict(env), preexec_fn=heed_ctrl_c)
    try:
        status = child.wait()
    except BaseException as stop:
        let_it_tidy_up(child, stop)
        raise
    if status == NOTHING_COLLECTED:
        return Counts()
    counts = read(report) if report.exists() else Counts()
    return counts if status == 0 or counts.failed else counts + Counts(failed=1)


def heed_ctrl_c() -> None:
    """Let Ctrl-C end the tests also where a script has started bin/test in the background.

    There it is ignored, and the tests would inherit that.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def let_it_tidy_up(child: "subprocess.Popen[bytes]", stop: BaseException) -> None:
    """Wait until the tests have stopped what they started.

    A terminal sends Ctrl-C to pytest too; a second one would cut that short.
    """
    from_terminal = stop.args == (signal.SIGINT,) and sys.stdin.isatty()
    if not from_terminal:
        child.send_signal(signal.SIGINT)
    try:
        child.wait(30)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def read(report: Path) -> Counts:
    total = Counts()
    for suite in ElementTree.parse(report).getroot().iter("testsuite"):
        tests, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        total += Counts(max(tests - failed - skipped, 0), failed, skipped)
    return total
