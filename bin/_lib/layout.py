"""Where things are: the checkout, its virtual environment, and one data folder per installation."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bin._lib.console import Trouble, shown

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
SETUP = ROOT / "var" / "setup"  # logs and scratch space of setting up; belongs to the checkout, not to a data folder


@dataclass(frozen=True)
class DataFolder:
    """`--data DIR`: everything an installation keeps."""

    path: Path

    @property
    def logs(self) -> Path:
        return self.path / "log"

    @property
    def agent(self) -> Path:
        return self.path / "agent"

    @property
    def postgres(self) -> Path:
        """Return the database cluster, or a link to it where the server's account cannot reach this folder."""
        return self.path / "postgres"

    @property
    def sockets(self) -> Path:
        """Return the folder of the Unix sockets, or a link to it where this path is too long for one."""
        return self.path / "run"

    @property
    def secret(self) -> Path:
        return self.path / "secret"

    @property
    def environment(self) -> Path:
        return self.path / "env.json"

    @property
    def lock(self) -> Path:
        return self.path / "lock"

    def create(self) -> None:
        """Make what is missing. Folders of other people are never changed, only those made here."""
        try:
            new = not self.path.exists()
            self.path.mkdir(parents=True, exist_ok=True)
            if new:
                self.path.chmod(0o711)  # the database runs under another account when root starts it
            for private in (self.logs, self.agent):
                private.mkdir(mode=0o700, exist_ok=True)
        except FileExistsError:
            raise Trouble(f"The data folder {shown(self.path)} is not a folder; name another with --data.") from None
        except PermissionError as error:
            raise not_ours(self.path, error) from None
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise not_ours(self.path, None)


def not_ours(path: Path, error: PermissionError | None) -> Trouble:
    what = error.filename if error and error.filename else path
    return Trouble(f"This account may not write to {what}; run as its owner, or name another folder with --data DIR.")


def write_private(path: Path, text: str) -> None:
    """Put a file in place whole, readable by its owner only."""
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # made with mode 0600
    with os.fdopen(handle, "w") as file:
        file.write(text)
    Path(scratch).replace(path)
