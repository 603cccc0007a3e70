"""A runner is forked ahead of need from the idle agent, so that an offer does not wait for a new Python to start.

It reads a plan from a pipe, makes everything ready, and waits for "go", which the agent sends only after the server has
confirmed the accept. When the agent dies before that, the pipe ends and nothing was started.
"""

import gc
import json
import os
import signal
import traceback

from .child import Child
from .disk import journal
from .runner import Runner


def warm() -> int:
    """Fork a runner that waits for orders; the answer is the pipe for them. Forked twice: it has its own session and no parent
    that would have to wait for it."""
    orders, write_end = os.pipe()
    middle = os.fork()
    if middle == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                run(orders)
        finally:
            os._exit(0)  # never back into the agent's code, whatever happened
    os.close(orders)
    os.waitpid(middle, 0)
    return write_end


def run(orders: int) -> None:
    leave_the_agent(orders)
    child = Child()
    text = b""
    while b"\n" not in text:
        part = os.read(0, 65536)
        if not part:
            return
        text += part
    line, _, more = text.partition(b"\n")  # "go" may have come with it
    plan = json.loads(line.decode())
    try:
        Runner(plan, bool(more), child).run()
    except Exception:
        if not os.path.exists(os.path.join(plan["spool"], "exit.json")):
            journal(plan["spool"], "runner broke", traceback=traceback.format_exc())


def leave_the_agent(orders: int) -> None:
    """Keep nothing of the agent open: neither its connections nor its log, so that its death is seen by everybody."""
    gc.disable()  # it would touch, and so copy, all memory that is shared with the agent
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.dup2(orders, 0)
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
