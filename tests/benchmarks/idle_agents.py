"""Idle agents by the thousand: connections that hold a poll each, in a process of their own."""

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.benchmarks.held_polls import DIVIDER
from tests.benchmarks.many_agents import Identity
from tests.benchmarks.servers import cpu_ms, memory_kib
from tests.faults.stack import until


@dataclass
class IdleAgents:
    """`with IdleAgents(port, web_processes, agents, 25, folder) as idle: …`; they are all there, and have had an answer each."""

    port: int
    web: list[int]
    agents: list[Identity]
    wait_s: float
    folder: Path
    memory_before: float = 0.0
    client: "subprocess.Popen[str]" = field(init=False)

    def __enter__(self) -> "IdleAgents":
        self.memory_before = memory_kib(self.web)
        requests = self.folder / f"requests{self.port}"
        requests.write_bytes(DIVIDER.join(agent.poll(self.wait_s) for agent in self.agents))
        argv = [sys.executable, str(Path(__file__).with_name("held_polls.py")), str(self.port), str(requests)]
        self.client = subprocess.Popen(
            [*argv, str(2 * self.wait_s)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        until("every agent has had an answer", 10 * self.wait_s + 60, self._is_filled)
        return self

    def __exit__(self, *_: object) -> None:
        self.client.kill()
        self.client.wait()

    def _is_filled(self) -> bool:
        time.sleep(0.2)
        return self.counts()["served"] == len(self.agents)

    def counts(self) -> dict[str, int]:
        assert self.client.stdin
        assert self.client.stdout
        self.client.stdin.write("\n")
        self.client.stdin.flush()
        found: dict[str, int] = json.loads(self.client.stdout.readline())
        return found

    def measure_poll(self, seconds: float) -> float:
        """Return the milliseconds of a processor that the web processes take for a poll."""
        cpu, answered = cpu_ms(self.web), self.counts()["answered"]
        time.sleep(seconds)
        spent, answers = cpu_ms(self.web) - cpu, self.counts()["answered"] - answered
        print(f"\n{answers / seconds:.0f} polls/s, {spent / seconds / 1000:.2f} of a core", flush=True)
        return spent / answers

    def measure_memory(self) -> float:
        """Return the KiB of the web processes for each agent."""
        return (memory_kib(self.web) - self.memory_before) / len(self.agents)


def need_files(number: int) -> None:
    """Let this process, and those that it starts, open so many files."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < number:
        pytest.skip(f"a process may open {hard} files here, expected {number}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
