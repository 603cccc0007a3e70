"""The look at this machine, in a process of its own: the agent goes on polling, and ends the look when there is work to do."""

import os
import shutil
import signal
import traceback
from typing import Dict, Optional

from . import inventory
from .client import Client, Unreachable
from .conf import Conf
from .hire import leave_the_agent


class Look:
    """At most one at a time. `pipe` becomes readable when it has ended."""

    def __init__(self, state: str, server: str, headers: Dict[str, str], conf: Conf) -> None:
        self.folder = os.path.join(state, "look")  # where its tools work
        self.server, self.headers, self.conf = server, headers, conf
        self.sent = ""  # the digest of what the server has
        self.pid = 0
        self.pipe: Optional[int] = None

    def start(self) -> None:
        self.stop()
        self.tidy()
        os.makedirs(self.folder, 0o700, exist_ok=True)
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.setsid()  # so that its tools end with it
                leave_the_agent(write)
                os.write(0, _look(self.folder, self.server, self.headers, self.conf, self.sent).encode())
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)  # never back into the agent's code, whatever happened
        os.close(write)
        self.pipe = read

    def ended(self) -> bool:
        """Has the server heard? To be asked when the pipe is readable."""
        assert self.pipe is not None
        heard = os.read(self.pipe, 200).decode()
        self.sent = heard or self.sent
        self.stop()
        return bool(heard)

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
        """After the look, and at the agent's start: a killed agent leaves it as it was."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _look(folder: str, server: str, headers: Dict[str, str], conf: Conf, sent: str) -> str:
    """The digest that the server has now; '' where it could not be told."""
    outputs = inventory.collect(conf, folder)
    found = inventory.digest(outputs)
    if found == sent:
        return found
    try:
        answer = Client(server, headers).call("POST", "inventory/", {"outputs": outputs})
    except Unreachable:
        return ""
    return found if answer.good else ""
