"""The first host is the machine itself: wait until its agent has described it, then make one short real run."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from bin._lib import django
from bin._lib.console import Step, Trouble, shown
from bin._lib.layout import DataFolder
from bin._lib.programs import known_agent
from bin._lib.supervisor import Supervisor

DISCOVERY_PATIENCE, RUN_PATIENCE = 60, 180  # seconds
ENDED = ("finished", "failed", "interrupted", "cancelled")
Status = dict[str, Any]


class Demo:
    def __init__(self, data: DataFolder, env: Mapping[str, str], supervisor: Supervisor) -> None:
        self.data, self.env, self.supervisor = data, env, supervisor

    def status(self, *arguments: str) -> Status:
        return django.ask(self.data, self.env, "demo", *known_agent(self.data), *arguments)

    def discover(self, step: Step) -> Status:
        status = self._wait(
            lambda now: bool(now["host_online"] and now["inventory"]), self.status(), DISCOVERY_PATIENCE
        )
        if not status["host_online"]:
            log = shown(self.data.logs / "agent.log")
            raise Trouble(f"The agent did not reach the server within {DISCOVERY_PATIENCE} s; see {log}.")
        step.note = "disks and filesystems found" if status["inventory"] else "the host has not described itself yet"
        return status

    def run(self, status: Status, step: Step) -> Status:
        """Start the run, or follow the one under way; one that has finished before is enough."""
        if status.get("run_state") == "finished":
            step.note = f"run {status['run']} has finished before"
            return status
        if not _is_under_way(status):
            status = self.status("--start")
            if not _is_under_way(status):
                step.note = status.get("note") or "could not be started"
                return status
        said = status.get("note", "")
        shown_before = -10

        def ended(now: Status) -> bool:
            nonlocal shown_before
            percent = int(now.get("progress") or 0)
            if percent >= shown_before + 10:
                shown_before = percent
                step.progress(f"{percent} %")
            return now.get("run_state") in ENDED and (now["run_state"] != "finished" or now.get("read_in", True))

        status = self._wait(ended, status, RUN_PATIENCE)
        step.note = f"run {status['run']} {status.get('run_state')}"
        if status.get("problem"):
            step.note += f": {status['problem']}"
        if said:
            step.note += f"; {said}"
        return status

    def _wait(self, done: Callable[[Status], bool], status: Status, seconds: float) -> Status:
        end = time.monotonic() + seconds
        while not done(status) and time.monotonic() < end:
            self.supervisor.wait(1)
            status = self.status()
        return status


def _is_under_way(status: Status) -> bool:
    return status.get("run_state") not in (None, *ENDED)
