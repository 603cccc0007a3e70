"""Which account runs the embedded servers. PostgreSQL refuses root, so root starts them as somebody with no rights."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bin._lib.console import Trouble

CANDIDATES = ("spindle", "nobody")  # an administrator may add a system account of this name


@dataclass(frozen=True)
class Account:
    uid: int
    gid: int
    name: str

    @property
    def other(self) -> bool:
        """Return whether it is not the account of this process."""
        return self.uid != os.geteuid()

    def popen(self) -> dict[str, Any]:
        """Return the arguments for subprocess that drop to this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.other else {}

    def may_enter(self, folder: Path) -> bool:
        return self._test("-x", folder)

    def may_run(self, program: Path) -> bool:
        return self._test("-x", program)

    def _test(self, question: str, path: Path) -> bool:
        """Ask the kernel, so that access lists and groups count."""
        if not self.other:
            return path.exists()
        asked = ["/bin/sh", "-c", f'test {question} "$1"', "sh", str(path)]
        return subprocess.run(asked, cwd="/", check=False, **self.popen()).returncode == 0

    def own_folder(self, folder: Path) -> None:
        """Make a folder that only this account and root may enter."""
        folder.mkdir(mode=0o700)
        if self.other:
            os.chown(folder, self.uid, self.gid)


def of_uid(uid: int) -> Account:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise Trouble(
            f"User id {uid} has no entry in /etc/passwd, and PostgreSQL needs one; add it, or set DATABASE_URL."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid, entry.pw_name)


def for_servers(cluster: Path) -> Account:
    """Return the owner of an existing cluster.

    A new one belongs to the caller, or, for root, to an account without rights.
    """
    if os.geteuid() != 0:
        return of_uid(os.geteuid())
    if cluster.is_dir() and (uid := cluster.stat().st_uid) != 0:
        return of_uid(uid)
    for name in CANDIDATES:
        try:
            return of_uid(pwd.getpwnam(name).pw_uid)
        except KeyError:
            continue
    raise Trouble("There is no account for the database; add one: useradd --system spindle, or set DATABASE_URL.")
