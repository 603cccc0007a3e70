"""A server with its web processes, and a signed-in member who asks it for pages."""

import http.client
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import psutil
from django.test import Client

from bin._lib import commands
from tests.benchmarks.figures import cpu_ns
from tests.conftest import Cast
from tests.faults.stack import Stack, until

AnyStack = TypeVar("AnyStack", bound=Stack)


@contextmanager
def with_web(made: AnyStack) -> Iterator[AnyStack]:
    """Start its web process; whatever else of it runs ends with it."""
    try:
        made.start_web()
        yield made
    finally:
        made.down()


def start_web_processes(stack: Stack, number: int) -> list[int]:
    """Start so many web processes behind one address, as `bin/up --web-workers` does; return their ids."""
    master = stack.start("web", *commands.web(sys.executable, "127.0.0.1", stack.port, number)[1:])

    def find() -> list[int]:
        if number == 1:
            return [master.pid]
        children = psutil.Process(master.pid).children()
        found = [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]
        return found if len(found) == number else []

    processes: list[int] = until("the web processes are there", 60, find)
    until("they answer", 60, lambda: stack.answers(stack.port))
    time.sleep(2)  # each of them
    return processes


def cpu_ms(processes: list[int]) -> float:
    return sum(map(cpu_ns, processes)) / 1e6


def memory_kib(processes: list[int]) -> float:
    return sum(float(psutil.Process(pid).memory_info().rss) for pid in processes) / 1024


class Page:
    """One keep-alive connection of a signed-in member."""

    def __init__(self, stack: Stack, cast: Cast) -> None:
        client = Client()
        client.force_login(cast.viewer)
        self.cookie = "; ".join(f"{name}={one.value}" for name, one in client.cookies.items())
        self.connection = http.client.HTTPConnection("127.0.0.1", stack.port)

    def ms(self, path: str, holds: str = "") -> float:
        begin = time.perf_counter()
        self.connection.request("GET", path, headers={"Cookie": self.cookie})
        answer = self.connection.getresponse()
        body = answer.read()
        took = (time.perf_counter() - begin) * 1000
        assert answer.status == 200, path
        assert holds.encode() in body
        return took


def alternate(times: int, *acts: Callable[[], float]) -> list[list[float]]:
    """Measure one after the other, so many times, so that whatever else the machine does meets all of them. Twice before it counts."""
    for act in acts:
        act()
        act()
    measured: list[list[float]] = [[] for _ in acts]
    for _ in range(times):
        for act, values in zip(acts, measured, strict=True):
            values.append(act())
    return measured
