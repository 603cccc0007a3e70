"""Runners are forked ahead of need, so that an offer does not wait for a new Python to start.

One reads a plan from a pipe, makes everything ready, and waits for "go", which the agent sends only after the server has
confirmed the accept. When the agent dies before that, the pipe ends and nothing was started.
"""

import array
import gc
import json
import os
import signal
import socket
import traceback
from typing import Any, Optional

from .disk import journal
from .hold import Hold
from .runner import Runner

LONGEST_PATH = 4096


class Foreman:
    """A process that does nothing but fork runners. It is forked from the agent once: after a fork both sides copy each page of
    memory that they touch, and at every hire anew that would cost the agent a tenth of its way from offer to fio."""

    def __init__(self) -> None:
        self.line: Optional[socket.socket] = None

    def hire(self, folder: str) -> int:
        """A runner that waits for orders in a folder of the spool; the answer is the pipe for them."""
        orders, write_end = os.pipe()
        try:
            if self.line is None or not self._hand_over(orders, folder):
                self.line = _forked()
                self._hand_over(orders, folder)
        finally:
            os.close(orders)
        return write_end

    def _hand_over(self, orders: int, folder: str) -> bool:
        """False: somebody has killed it."""
        assert self.line is not None
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [orders]))
        try:
            return self.line.sendmsg([os.fsencode(folder)], [rights]) > 0
        except OSError:
            self.line.close()
            return False


def _forked() -> socket.socket:
    """Forked twice: it has its own session and no parent that would have to wait for it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    middle = os.fork()
    if middle == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                _be_foreman(theirs.fileno())
        finally:
            os._exit(0)  # never back into the agent's code, whatever happened
    theirs.close()
    os.waitpid(middle, 0)
    return ours


def _be_foreman(line: int) -> None:
    """Until the agent is gone."""
    leave_the_agent(line)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for runners
    agent = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, fileno=0)
    while True:
        folder, rights, _, _ = agent.recvmsg(LONGEST_PATH, socket.CMSG_SPACE(array.array("i").itemsize))
        if not folder:
            break
        orders = array.array("i", rights[0][2])[0]
        if os.fork() == 0:
            os.setsid()
            run(orders, os.fsdecode(folder))
            break
        os.close(orders)


def run(orders: int, folder: str) -> None:
    leave_the_agent(orders)
    runner, text = Runner(), b""
    wait_in(folder, runner.hold)
    rehearse()
    while b"\n" not in text:
        part = os.read(runner.orders, 65536)
        if not part:
            return
        text += part
    line, _, more = text.partition(b"\n")  # "go" may have come with it
    plan = json.loads(line.decode())
    try:
        runner.run(plan, bool(more))
    except Exception:
        if not os.path.exists(os.path.join(plan["spool"], "exit.json")):
            journal(plan["spool"], "runner broke", traceback=traceback.format_exc())


def wait_in(folder: str, hold: Hold) -> None:
    """It is ready for the next attempt, and will only have to be named after it."""
    try:
        hold.take(folder)
    except OSError:
        pass  # the plan says where to go


def rehearse() -> None:
    """What comes between order and fio, once for nothing: memory is shared with the foreman until it is touched, and copying it then would
    take longer than the work itself."""
    json.loads(json.dumps({"idle": {"sample": None}, "argv": ["-"], "limit_s": 1, "files": []}))


def leave_the_agent(line: int) -> None:
    """Keep nothing of the agent open: neither its connections nor its log, so that its death is seen by everybody. `line` becomes
    the standard input."""
    gc.disable()  # it would touch, and so copy, all memory that is shared with the agent
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, _pass_over)
    os.dup2(line, 0)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:
                pass  # the listing's own
    os.chdir("/")
    os.umask(0o077)


def _pass_over(*_: Any) -> None:
    """In place of SIG_IGN, which fio would inherit."""
