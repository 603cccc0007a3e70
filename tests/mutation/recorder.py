"""A plugin of pytest that writes each phase of each test, its outcome and its seconds into the checkout."""

import json
import os
from pathlib import Path

import pytest

from tests.mutation.probes import DURATIONS


class Recorder:
    def __init__(self, path: Path) -> None:
        self.path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([report.nodeid, report.outcome, report.duration]) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    is_controller = bool(getattr(config.option, "numprocesses", None))
    if os.environ.get("PYTEST_XDIST_WORKER") or not is_controller:
        config.pluginmanager.register(Recorder(config.rootpath / DURATIONS))
