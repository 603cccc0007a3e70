"""Another version of the agent in place of this one: only if the administrator allows it, and back again if it fails.

    STATE/program/agent.pyz      the newer program, which the installed one hands over to
    STATE/program/accepted.json  its version and SHA-256, as the server has said them to this agent, and whether it has proved itself
    STATE/program/agent.pyz.old  the one before it
    STATE/program/failed.json    SHA-256 of programs that did not come up; they are not tried again

The installed program, which often belongs to root, is never changed. It starts, finds the newer one, checks its hash, notes that it is
being tried, and becomes it (exec). The newer one has proved itself when the server has answered its poll. If it ends before, the
installed program goes on with the one before it, or by itself. Nothing is changed while a run is under way.
"""

import hashlib
import http.client
import json
import os
import subprocess
import sys
import time
import urllib.request
from typing import Any, Dict, List, Optional

from .. import VERSION
from ..client import split_address
from ..conf import Mistake, log
from ..disk import sync, write_durably

LARGEST = 8 * 1024 * 1024  # bytes of a program
PATIENCE_S = 60
PROGRAM = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
)  # agent.pyz, or a checkout's worker/
HANDED_OVER = "SPINDLE_AGENT_INSTALLED"  # in the environment of a newer program: the path of the installed one


class Failed(Exception):
    """Why a program was not taken, as a sentence."""


def numbers(version: str) -> List[int]:
    """Return the parts of a version such as `1.10`; empty for what is none."""
    parts = str(version).split(".")
    are_plain = all(part and not part.strip("0123456789") and len(part) < 6 for part in parts)
    return [int(part) for part in parts] if are_plain else []


def is_newer(version: str, than: str = VERSION) -> bool:
    return numbers(version) > numbers(than)


def release_of(body: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Return what an answer says of a newer program, or None where it says nothing proper or nothing new."""
    release = body.get("release")
    if type(release) is not dict or not is_newer(release.get("version", "")):
        return None
    digest, size = release.get("sha256"), release.get("size")
    is_proper = type(digest) is str and len(digest) == 64 and not digest.strip("0123456789abcdef")
    return release if is_proper and type(size) is int and 0 < size <= LARGEST else None


class Programs:
    """The newer program in the agent's folder, if there is one."""

    def __init__(self, state: str) -> None:
        self.folder = os.path.join(state, "program")
        self.path = os.path.join(self.folder, "agent.pyz")
        self.old = self.path + ".old"
        self.accepted = os.path.join(self.folder, "accepted.json")
        self.failed = os.path.join(self.folder, "failed.json")

    def stamp(self) -> float:
        """Return what changes when a program was taken."""
        try:
            return os.stat(self.accepted).st_mtime
        except OSError:
            return 0.0

    def known_failures(self) -> List[str]:
        return list(_read(self.failed).get("sha256", []))

    def take(self, server: str, release: Dict[str, Any]) -> None:
        """Download a program and put it in place, where the next start finds it.

        Raises:
            Failed: It did not come, is another than the server has said, or does not start.
        """
        if release["sha256"] in self.known_failures():
            raise Failed(f"version {release['version']} was tried before and did not come up")
        os.makedirs(self.folder, 0o700, exist_ok=True)
        fresh = self.path + ".new"
        data = download(server, release["size"])
        found = hashlib.sha256(data).hexdigest()
        if found != release["sha256"]:
            raise Failed(f"the program that came has the SHA-256 {found}, and the server had said {release['sha256']}")
        with open(fresh, "wb") as target:
            target.write(data)
            target.flush()
            os.fsync(target.fileno())
        os.chmod(fresh, 0o700)
        says = _version_of(fresh)
        if says != release["version"]:
            os.unlink(fresh)
            raise Failed(f"the program says that it is {says!r}, and the server had said {release['version']}")
        if os.path.exists(self.path):
            os.replace(self.path, self.old)
        write_durably(self.accepted, json.dumps(dict(release, is_proven=False, starts=0)))
        os.replace(fresh, self.path)
        sync(self.folder)

    def successor(self) -> Optional[str]:
        """Return the newer program that this one is to hand over to, after noting that it is tried; None where there is none.

        One that was tried before and has not proved itself is put aside, for the one before it.
        """
        known = _read(self.accepted)
        if not known or not is_newer(known.get("version", "")) or not os.path.isfile(self.path):
            return None
        if not known.get("is_proven") and known.get("starts", 0) > 0:
            return self._fall_back(known)
        if _digest(self.path) != known.get("sha256"):
            log(f"{self.path} is not the program that was taken; it is left alone.")
            return None
        if not known.get("is_proven"):
            write_durably(self.accepted, json.dumps(dict(known, starts=known.get("starts", 0) + 1)))
        return self.path

    def _fall_back(self, known: Dict[str, Any]) -> Optional[str]:
        log(f"Version {known['version']} of the agent did not come up; it is put aside.")
        write_durably(self.failed, json.dumps({"sha256": (self.known_failures() + [known["sha256"]])[-20:]}))
        os.replace(self.path, self.path + ".failed")
        if not os.path.isfile(self.old):
            os.unlink(self.accepted)
            return None
        os.replace(self.old, self.path)
        version = _version_of(self.path)
        before = {"version": version, "sha256": _digest(self.path), "is_proven": True, "starts": 0}
        write_durably(self.accepted, json.dumps(before))
        return self.path if is_newer(version) else None

    def prove(self) -> None:
        """Note that the newer program, which this one is, has been answered by the server."""
        known = _read(self.accepted)
        if known and known.get("version") == VERSION and not known.get("is_proven"):
            write_durably(self.accepted, json.dumps(dict(known, is_proven=True)))
            log(f"Version {VERSION} of the agent has come up.")

    def describe(self) -> str:
        """Return a sentence about the newer program for a person, or ''."""
        known = _read(self.accepted)
        if not known:
            return ""
        return f"{known.get('version')} in {self.folder}, {'in use' if known.get('is_proven') else 'to be tried at the next start'}"


AGAIN_S = 3600.0  # after a download that failed


class Upgrades:
    """What a running agent does about newer programs: it proves itself, takes what the server has, and changes over between runs."""

    def __init__(self, state: str, server: str, is_wanted: bool) -> None:
        self.programs, self.server, self.is_wanted = Programs(state), server, is_wanted
        self.release: Optional[Dict[str, Any]] = None
        self.due = 0.0
        self.is_proven = False
        self.seen = self.programs.stamp()

    def hear(self, body: Dict[str, Any]) -> None:
        """Take note of an answer to a poll, which comes from the server that this agent trusts with its secret."""
        if not self.is_proven:
            self.programs.prove()
            self.is_proven, self.seen = True, self.programs.stamp()
        self.release = release_of(body)

    def act(self) -> None:
        """Change to a newer program; call it only while no run is in hand. It returns if there is nothing to change."""
        if self.release and self.is_wanted and time.monotonic() >= self.due:
            self.due = time.monotonic() + AGAIN_S
            try:
                self.programs.take(self.server, self.release)
            except (Failed, OSError) as failure:
                log(f"The server's version {self.release['version']} was not taken: {failure}.")
        if self.programs.stamp() != self.seen:  # taken here, or by `agent.pyz upgrade`
            self.seen = self.programs.stamp()
            log("Changing to the newer version of the agent.")
            start_again()


def hand_over(program: str) -> None:
    """Become another program, with the same command line. Returns only if that is not possible."""
    os.environ[HANDED_OVER] = os.environ.get(HANDED_OVER) or PROGRAM
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, program] + sys.argv[1:])


def start_again() -> None:
    """Become the installed program, which decides anew whom to hand over to."""
    installed = os.environ.pop(HANDED_OVER, "") or PROGRAM
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, installed] + sys.argv[1:])


def is_on_trial(state: str) -> bool:
    """Return whether this is a newer program that has not proved itself yet."""
    known = _read(Programs(state).accepted)
    return bool(os.environ.get(HANDED_OVER)) and known.get("version") == VERSION and not known.get("is_proven")


def download(server: str, size: int) -> bytes:
    """Return the server's program, which must have as many bytes as it has said.

    Raises:
        Failed: It did not come.
    """
    secure, host, prefix = split_address(server)
    address = f"{'https' if secure else 'http'}://{host}{prefix[: -len('v1/')]}agent.pyz"
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            data: bytes = answer.read(size + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: of an address that is none
        raise Failed(f"the server's program did not come: {error}") from error
    if len(data) != size:
        raise Failed(f"the program that came has {len(data)} bytes or more, and the server had said {size}")
    return data


def refuse_unless_idle(open_attempts: Dict[str, str]) -> None:
    """Refuse an upgrade while a run is under way or its result is not delivered.

    Args:
        open_attempts: A sentence about each, by number.

    Raises:
        Mistake: There are some.
    """
    if open_attempts:
        words = "; ".join(open_attempts[name] for name in sorted(open_attempts))
        raise Mistake(f"Nothing was changed: a run is not over yet. {words}. Try again when it is.")


def _version_of(program: str) -> str:
    """Return what a program says its version is; every module of it is imported for that."""
    try:
        said = subprocess.run(  # noqa: PLW1510
            [sys.executable, "-I", program, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=PATIENCE_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)[:200]
    return said.stdout.decode("utf-8", "replace").strip()[-200:]


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as source:
            return hashlib.sha256(source.read(LARGEST)).hexdigest()
    except OSError:
        return ""


def _read(path: str) -> Dict[str, Any]:
    try:
        with open(path) as source:
            return dict(json.load(source))
    except (OSError, ValueError, TypeError):
        return {}
