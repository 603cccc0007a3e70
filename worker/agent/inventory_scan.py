"""The inventory collected and sent in a process of its own, and what the server has refused.

The agent goes on polling meanwhile and ends the scan when there is work to do. A refusal is logged once per change and
stored where `status` finds it.
"""

import json
import os
import shutil
import signal
import time
import traceback
from typing import Any, Dict, Optional

from . import inventory
from .admin import probe
from .client import Client, Unreachable
from .conf import Conf, log
from .disk import write_durably


class Refusals:
    def __init__(self, state: str) -> None:
        self.path = os.path.join(state, "refused.json")
        self.known = read_refusals(state)

    def note(self, what: str, reason: str) -> None:
        if self.known.get(what, {}).get("reason") == reason:
            return
        log(f"The server refused the {what}: {reason}.")
        self.known[what] = {"reason": reason, "since": time.time()}
        self._keep()

    def clear(self, what: str) -> None:
        if self.known.pop(what, None):
            log(f"The server takes the {what} again.")
            self._keep()

    def _keep(self) -> None:
        try:
            write_durably(self.path, json.dumps(self.known))
        except OSError as problem:
            log(f"{self.path} cannot be written: {problem}.")


def read_refusals(state: str) -> Dict[str, Dict[str, Any]]:
    """Return the reason and the time (seconds since 1970) of refused inventory and polls."""
    try:
        with open(os.path.join(state, "refused.json")) as source:
            return dict(json.load(source))
    except (OSError, ValueError):
        return {}


EVERY_S = 3600.0
AGAIN_S = 60.0  # where the server was away
SOON_S = 5.0  # after it came back


class InventoryScan:
    """At most one at a time. `pipe` becomes readable when it has ended."""

    def __init__(self, state: str, server: str, headers: Dict[str, str], conf: Conf, refusals: Refusals) -> None:
        self.folder = os.path.join(state, "look")  # where its tools work
        self.server, self.headers, self.conf, self.refusals = server, headers, conf, refusals
        self.due = 0.0
        self.is_unheard = False  # the server was away when there was something to tell
        self.sent = ""  # the digest of what the server has
        self.refused = ""  # why the server did not take the last one; the poll repeats it, for a proxy may have said so
        self.pid = 0
        self.pipe: Optional[int] = None

    def start_if_due(self) -> None:
        if time.monotonic() >= self.due:
            self.due = time.monotonic() + EVERY_S
            try:
                self.start()
            except OSError as error:
                log(f"This host's inventory could not be taken: {error}.")
                self.due = time.monotonic() + AGAIN_S

    def put_off(self) -> None:
        """Postpone the scan, for there is work to do."""
        if self.pipe is not None:
            self.stop()
            self.due = 0.0

    def server_is_back(self) -> None:
        if self.is_unheard:
            self.due = min(self.due, time.monotonic() + SOON_S)

    def start(self) -> None:
        self.stop()
        self.tidy()
        os.makedirs(self.folder, 0o700, exist_ok=True)
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()  # so that its tools end with it
                _leave_the_agent(write)
                reported = _look(self.folder, self.server, self.headers, self.conf, self.sent)
                os.write(0, json.dumps(reported).encode())
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)  # never back into the agent's code, whatever happened
        os.close(write)
        self.pipe = read

    def take_up(self) -> None:
        """Read the result of the scan; call it when the pipe is readable."""
        assert self.pipe is not None
        reported = json.loads(os.read(self.pipe, 4096).decode() or "{}")
        self.sent, self.refused = reported.get("sent") or self.sent, reported.get("refused") or ""
        self.stop()
        self.is_unheard = not reported
        if self.is_unheard:
            self.due = time.monotonic() + AGAIN_S
        elif self.refused:
            self.refusals.note("inventory", self.refused)
        else:
            self.refusals.clear("inventory")

    def stop(self) -> None:
        if self.pipe is None:
            return
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except OSError:
            pass
        os.waitpid(self.pid, 0)
        os.close(self.pipe)
        self.pipe = None
        self.tidy()

    def tidy(self) -> None:
        """Clear the scan's folder after a scan and when the agent starts, because a killed agent leaves it full."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _look(folder: str, server: str, headers: Dict[str, str], conf: Conf, sent: str) -> Dict[str, str]:
    """Scan and send the inventory.

    Returns:
        `sent`: the digest that the server has; `refused`: why it never will. Neither means that it is tried again
        soon.
    """
    written = probe.read_outputs(conf.probe_folder)
    outputs = probe.merge(inventory.collect(conf, folder, probe.describe(conf.probe_folder)), written)
    result = inventory.digest(outputs)
    if result == sent:
        return {"sent": result}
    try:
        answer = Client(server, headers).call("POST", "inventory/", {"outputs": outputs})
    except Unreachable:
        return {}
    if answer.good:
        return {"sent": result}
    # 401, 403 and 409 are about the agent, and the poll hears them too
    is_refused = not answer.temporary and answer.status not in (401, 403, 409)
    return {"refused": answer.reason[:500]} if is_refused else {}


def _leave_the_agent(line: int) -> None:
    """Keep nothing of the agent open: neither its connections nor its log, so that its death is seen by everybody.

    `line` becomes the standard input.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
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
