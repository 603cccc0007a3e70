"""`agent.pyz doctor`: whether this host can run what it is asked for, line by line, and what to do where it cannot.

It changes nothing: it reads the configuration and its permissions, asks the server one question with the agent's own secret, and looks
at fio, at the directories and at the room in the spool.
"""

import email.utils
import os
import sys
import time
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from .. import VERSION, client, conf, inventory, inventory_scan, mount
from ..client import Client, Unreachable
from ..disk import LOW, RESERVE
from . import probe, upgrade

OK, NOTE, PROBLEM = "ok", "note", "problem"
MOST_CLOCK_S = 5.0
Line = Tuple[str, str, str]  # state, what was found, what to do


class Examination:
    """What one look at this host has found; each check yields lines."""

    def __init__(self, state: str, server: str = "") -> None:
        self.state, self.asked_server = state, server
        self.limits: Optional[conf.Conf] = None
        self.known: Optional[Dict[str, Any]] = None
        self.own: Dict[str, Any] = {}

    def lines(self) -> Iterator[Line]:
        checks: List[Callable[[], Iterator[Line]]] = [
            self.python, self.configuration, self.folder, self.identity, self.server, self.fio, self.directories, self.spool,
            self.refusals, self.root_probe,
        ]  # fmt: skip
        for check in checks:
            try:
                yield from check()
            except Exception as error:  # a check that breaks is a finding about this host, not the end of the others
                yield (
                    PROBLEM,
                    f"{check.__name__}: {type(error).__name__}: {error}",
                    "Report this to whoever runs the server.",
                )

    def python(self) -> Iterator[Line]:
        version = ".".join(map(str, sys.version_info[:3]))
        yield OK, f"agent {VERSION}, Python {version}", ""

    def configuration(self) -> Iterator[Line]:
        path = os.path.join(self.state, "agent.conf")
        try:
            for guarded in (self.state, path):
                conf.refuse_if_others_can_write(guarded)
            with open(path) as source:
                self.limits = conf.Conf(conf.parse(source.read()), self.state)
        except (OSError, conf.Mistake) as mistake:
            yield PROBLEM, f"configuration: {mistake}", f"Put {path} right, or enrol anew to have one made."
            return
        limits = self.limits
        yield (
            OK,
            (
                f"configuration: at most {limits.max_runtime_s} s, iodepth {limits.max_iodepth}, {limits.max_numjobs} jobs,"
                f" upgrade = {'yes' if limits.upgrade else 'no'}"
            ),
            "",
        )

    def folder(self) -> Iterator[Line]:
        try:
            conf.refuse_if_others_can_write_above(self.state)
        except conf.Mistake as mistake:
            yield PROBLEM, f"permissions: {mistake}", ""
            return
        owner = os.stat(self.state).st_uid
        if owner not in (os.geteuid(), 0) and os.geteuid() != 0:
            yield (
                PROBLEM,
                f"permissions: {self.state} belongs to uid {owner}, and this is uid {os.geteuid()}",
                "Run doctor as the agent's account.",
            )
            return
        yield OK, f"permissions: nobody else can change {self.state}", ""

    def identity(self) -> Iterator[Line]:
        try:
            self.known = client.read_identity(self.state)
        except (OSError, ValueError) as error:
            yield PROBLEM, f"identity: {error}", "Enrol this host again, with --again."
            return
        if self.known is None:
            yield PROBLEM, f"identity: {self.state} is not enrolled", "Enrol it: agent.pyz enrol --server ADDRESS."
            return
        yield (
            OK,
            f"identity: {self.known.get('name')}, agent {self.known.get('agent')} of {self.known.get('server')}",
            "",
        )

    def server(self) -> Iterator[Line]:
        if self.known is None:
            yield NOTE, "server: not asked, because this host is not enrolled", ""
            return
        address = self.asked_server or self.known["server"]
        begun = time.time()
        try:
            answer = Client(address, client.headers(self.state, self.known, "doctor")).call("GET", "self/")
        except (Unreachable, ValueError) as problem:
            yield (
                PROBLEM,
                f"server: {address} does not answer ({problem})",
                "Check name, network, proxy and firewall of this host.",
            )
            return
        if answer.status == 404:
            yield NOTE, f"server: {address} answers, but it is too old to say more", ""
            return
        yield OK, f"server: {address} answers in {(time.time() - begun) * 1000:.0f} ms", ""
        if answer.status == 401:
            yield PROBLEM, f"token: {answer.reason}", "An owner has revoked it: enrol this host again, with --again."
            return
        if not answer.good:
            yield PROBLEM, f"token: {answer.reason}", "Ask an owner of the lab."
            return
        self.own = answer.body
        yield from self._token()
        yield from self._clock(begun)
        yield from self._release()

    def _token(self) -> Iterator[Line]:
        state, doubt = self.own.get("state"), self.own.get("doubt")
        if doubt:
            yield (
                PROBLEM,
                f"token: the server takes this for {doubt}",
                "An owner of the lab decides on its page of agents.",
            )
        elif state != "approved":
            yield (
                PROBLEM,
                f"token: known, but the host is {state}",
                "An owner of the lab has to approve it (Lab, Agents).",
            )
        else:
            yield OK, f"token: accepted, lab {self.own.get('lab')}", ""

    def _clock(self, begun: float) -> Iterator[Line]:
        clock = self.own.get("clock")
        if type(clock) not in (int, float):
            return
        middle = (begun + time.time()) / 2
        off = middle - float(clock)  # type: ignore[arg-type]
        words = f"clock: {abs(off):.1f} s {'ahead of' if off > 0 else 'behind'} the server's ({email.utils.formatdate(clock)})"
        if abs(off) > MOST_CLOCK_S:
            yield (
                PROBLEM,
                words,
                "Set the clock (chrony, systemd-timesyncd): times of runs would not fit to each other.",
            )
        else:
            yield OK, words, ""

    def _release(self) -> Iterator[Line]:
        release = upgrade.release_of(self.own)
        if release is None:
            yield OK, "version: as new as the server's", ""
        else:
            yield (
                NOTE,
                f"version: the server has {release['version']}",
                "Say agent.pyz upgrade, or upgrade = yes in agent.conf.",
            )

    def fio(self) -> Iterator[Line]:
        if self.limits is None:
            return
        path = self.limits.fio_path()
        if path is None:
            yield (
                PROBLEM,
                "fio: not found",
                f"Install it, or give its path as fio = … in agent.conf ({', '.join(conf.FIO_PLACES)}).",
            )
            return
        version = inventory.fio_version(path, self.state)
        if version is None:
            yield PROBLEM, f"fio: {path} does not run", "Start it by hand: fio --version."
            return
        yield OK, f"fio: {path}, {version}", ""

    def directories(self) -> Iterator[Line]:
        limits = self.limits
        for root in limits.roots if limits else []:
            assert limits is not None
            refused = limits.directory_refused(root.path)
            place = mount.look_at(root.path, limits.shared_directory, limits.state)
            problem = refused or place.get("problem")
            if problem:
                yield PROBLEM, f"directory: {root.path}: {problem}", "Runs there are refused until this is put right."
                continue
            if not os.access(root.path, os.W_OK | os.X_OK):
                yield (
                    PROBLEM,
                    f"directory: {root.path} cannot be written by this account",
                    "Give it to the agent's account.",
                )
                continue
            free = limits.free_bytes(root.path)
            yield OK, f"directory: {root.path}, {mount.words(place)}, {free} bytes free, quota {root.quota_bytes}", ""
            if free < root.quota_bytes:
                yield NOTE, f"directory: {root.path} has less free space than its quota", "Larger runs are refused."
            if limits.spool_on(root.path):
                yield (
                    NOTE,
                    f"spool: {self.state} is on the filesystem of {root.path} and is measured with it",
                    "Better give --state on another disk.",
                )

    def spool(self) -> Iterator[Line]:
        disk = os.statvfs(self.state)
        free = disk.f_bavail * disk.f_frsize
        has_reserve = os.path.exists(os.path.join(self.state, "reserve"))
        if free < LOW + (0 if has_reserve else RESERVE):
            yield (
                PROBLEM,
                f"spool: {free} bytes free in {self.state}",
                f"Make room: {RESERVE + LOW} bytes are kept back for results.",
            )
        else:
            yield OK, f"spool: {free} bytes free in {self.state}", ""
        left = os.path.join(self.state, "quarantine")
        names = os.listdir(left) if os.path.isdir(left) else []
        if names:
            yield (
                NOTE,
                f"spool: {len(names)} attempts in quarantine",
                f"The server did not want them; look into {left} and remove them.",
            )

    def refusals(self) -> Iterator[Line]:
        for what, refusal in sorted(inventory_scan.read_refusals(self.state).items()):
            yield (
                PROBLEM,
                f"{what}: refused by the server: {refusal.get('reason')}",
                "The server's page of this host says more.",
            )

    def root_probe(self) -> Iterator[Line]:
        folder = self.limits.probe_folder if self.limits else conf.PROBE_FOLDER
        written = probe.read_outputs(folder)
        if not written:
            yield (
                NOTE,
                f"probe: {probe.in_words(folder)}",
                "install.sh --probe installs it.",
            )
        elif written.get("problem"):
            yield PROBLEM, f"probe: {written['problem']}", "systemctl status spindle-probe.timer spindle-probe.service"
        else:
            yield OK, f"probe: {probe.in_words(folder)}", ""


def examine(state: str, server: str = "") -> int:
    """Print a line for each finding, and what to do below it. Returns 1 if there is a problem, else 0."""
    problems = 0
    for kind, found, advice in Examination(state, server).lines():
        print(f"{kind:8}{conf.printable(found, len(found))}")
        if advice and kind != OK:
            print(f"        → {advice}")
        problems += kind == PROBLEM
    print(f"{problems} problem{'' if problems == 1 else 's'}" if problems else "No problems.")
    return 1 if problems else 0
