"""Watches the children: one that dies is started again, after a pause that grows from 1 to 30 seconds.

All are stopped in order.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from bin._lib.process import Command, Process, keep_small

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds
LOGS_EVERY = 1.0  # seconds between two looks at the size of the logs
SETTLED = 60.0  # seconds after which an old failure is forgotten
# Who is stopped before whom, and the seconds they get: 15 in all, with one more each for those that do not listen.
STOP_ORDER = ((("agent", "beat", "worker", "dispatcher", "web"), 7.0), (("valkey",), 1.0), (("postgres",), 4.0))


@dataclass
class Child:
    process: Process
    pause: float
    due: float | None = None  # when it is started again; None while it runs


class Supervisor:
    def __init__(self, say: Callable[[str], None], first_pause: float = FIRST_PAUSE) -> None:
        self.say, self.first_pause = say, first_pause
        self.children: list[Child] = []
        self._logs_seen = 0.0

    def start(self, command: Command) -> Process:
        process = Process(command)
        self.adopt(process)
        return process

    def adopt(self, process: Process) -> None:
        """Watch one that was started before."""
        self.children.append(Child(process, self.first_pause))

    def is_alive(self, name: str) -> bool:
        """Return whether a child of this name runs now."""
        return any(child.process.command.name == name and child.process.alive() for child in self.children)

    def wait(self, seconds: float) -> None:
        """Pass the time, watching."""
        end = time.monotonic() + seconds
        while True:
            self.look()
            if (left := end - time.monotonic()) <= 0:
                return
            time.sleep(min(left, 0.2))

    def look(self) -> None:
        if time.monotonic() - self._logs_seen >= LOGS_EVERY:
            self._logs_seen = time.monotonic()
            for folder in {child.process.command.log.parent for child in self.children}:
                keep_small(folder)
        for child in self.children:
            if child.due is None:
                if not child.process.alive():
                    self._died(child)
            elif time.monotonic() >= child.due:
                self._start_again(child)

    def _start_again(self, child: Child) -> None:
        name = child.process.command.name
        try:
            child.process, child.due = Process(child.process.command), None
            self.say(f"{name} was started again.")
        except OSError as error:
            self._later(child, f"{name} could not be started ({error.strerror})")

    def _died(self, child: Child) -> None:
        name, how = child.process.command.name, child.process.how_it_ended()
        child.process.kill_group()
        if time.monotonic() - child.process.started > SETTLED:
            child.pause = self.first_pause
        self._later(child, f"{name} {how}")

    def _later(self, child: Child, what: str) -> None:
        self.say(f"{what}; starting it again in {child.pause:.0f} s (its log: {child.process.command.log}).")
        child.due = time.monotonic() + child.pause
        child.pause = min(child.pause * 2, LONGEST_PAUSE)

    def stop_all(self) -> None:
        for names, seconds in STOP_ORDER:
            self._stop(names, seconds)

    def _stop(self, names: tuple[str, ...], seconds: float) -> None:
        """Ask these, in this order, to end, and wait for all of them together."""
        chosen = [child.process for name in names for child in self.children if child.process.command.name == name]
        self.children = [child for child in self.children if child.process not in chosen]
        for process in chosen:
            process.ask_to_stop()
        end = time.monotonic() + seconds
        for process in chosen:
            if not process.end(end - time.monotonic()):
                self.say(f"{process.command.name} did not end in time and was made to.")
