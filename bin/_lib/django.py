"""The project's own commands, run in the checkout's environment with the children's environment."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bin._lib import packages
from bin._lib.console import Step, Trouble, gist, shown, tail
from bin._lib.layout import PYTHON, ROOT, DataFolder

FULL = 2**20  # bytes free; with less a log may not have taken the sentence that says why


def run(data: DataFolder, env: Mapping[str, str], *arguments: str) -> str:
    """Return what `manage.py …` prints; its errors go to <data>/log/manage.log."""
    return call(data, env, [str(PYTHON), "manage.py", *arguments])


def call(data: DataFolder, env: Mapping[str, str], argv: list[str]) -> str:
    """Return what a program of the project prints, run at the checkout's root."""
    title = " ".join(Path(part).name for part in argv[1:3])
    if not (ROOT / argv[1]).exists():
        raise Trouble(f"{argv[1]} is missing from {ROOT}, so this is not a whole checkout; clone it anew.")
    log = data.logs / "manage.log"
    with log.open("ab") as errors:
        start = errors.tell()
        done = subprocess.run(
            argv,
            cwd=ROOT,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            check=False,
        )
    if done.returncode:
        said = tail(log, start)
        if "No space left on device" in said or shutil.disk_usage(data.path).free < FULL:
            raise Trouble(
                f"The disk filled up during {title}; make room and run bin/up again (all of it: {shown(log)})."
            )
        raise Trouble(f"{title} failed: {gist(said) or f'status {done.returncode}'} (all of it is in {shown(log)}).")
    return done.stdout.decode()


def ask(data: DataFolder, env: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    """Return the JSON object that a command prints on its last line."""
    printed = run(data, env, *arguments, "--json").strip().rpartition("\n")[2]
    try:
        answer: dict[str, Any] = json.loads(printed)
    except ValueError:
        raise Trouble(f"manage.py {arguments[0]} printed {printed[:80]!r} where JSON was expected.") from None
    return answer


def collect_static(data: DataFolder, env: Mapping[str, str], step: Step) -> None:
    """Make static files with hashed names and compressed copies, unless what they come from has not changed."""
    stamp = data.path / "static.stamp"
    now = static_digest()
    if (data.path / "static").is_dir() and stamp.exists() and stamp.read_text() == now:
        step.note = "unchanged"
        return
    stamp.unlink(missing_ok=True)
    run(data, env, "collectstatic", "--noinput", "--verbosity", "0")
    stamp.write_text(now)


def static_digest() -> str:
    sources = [path for folder in (ROOT / "static", *ROOT.glob("apps/*/static")) for path in sorted(folder.rglob("*"))]
    lines = [f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in sources if path.is_file()]
    lines += [packages.STAMP.read_text(), str((ROOT / "apps" / "settings.py").stat().st_mtime_ns)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
