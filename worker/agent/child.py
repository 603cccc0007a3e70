"""The process that becomes fio. Like its runner it is forked ahead of need: it waits for its plan, then for one byte, and then is fio."""

import json
import os
import resource
import signal
from typing import Any, Dict

from .render import ENVIRONMENT


class Child:
    """The runner's side: `plan` once, then `go`, unless the plan says that it hears "go" from the agent itself."""

    def __init__(self) -> None:
        plan, self._plan = os.pipe()
        go, self._go = os.pipe()
        self.errors, errors = os.pipe()  # what fio says
        self.failure, failure = os.pipe()  # why it is not fio; ends empty when it is
        runner = os.getpid()
        self.pid = os.fork()  # our own child, so the number stays its own until it is waited for
        if self.pid == 0:
            for pipe in (self._plan, self._go):
                os.close(pipe)  # so that a dead runner is seen
            _become_fio(runner, plan, go, errors, failure)
        for pipe in (plan, go, errors, failure):
            os.close(pipe)

    def plan(self, plan: Dict[str, Any]) -> None:
        os.write(self._plan, json.dumps(plan).encode())
        os.close(self._plan)

    def go(self) -> None:
        os.write(self._go, b"g")

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def _become_fio(runner: int, plan: int, go: int, errors: int, failure: int) -> None:
    """`started` is made by O_EXCL, so no attempt can get past here twice."""
    try:
        text = b"".join(iter(lambda: os.read(plan, 65536), b""))
        if text:
            _wait_and_start(runner, json.loads(text.decode()), go, errors)
    except OSError as error:
        os.write(failure, str(error).encode())
    finally:
        os._exit(127)


def _wait_and_start(runner: int, plan: Dict[str, Any], go: int, errors: int) -> None:
    os.chdir(plan["run_dir"])
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    agent = os.dup(0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    word = os.read(agent if plan["hears_the_agent"] else go, 1)
    if word == b"g" and os.getppid() == runner:  # else nobody would watch fio
        os.close(os.open(plan["started"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.execve(plan["argv"][0], plan["argv"], ENVIRONMENT)
