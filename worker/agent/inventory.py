"""What this machine is, as its own tools say it: outputs are sent verbatim and read by the server, so a better parser needs no new agent."""

import hashlib
import json
import re
import socket
import subprocess
import sys
from typing import Any, Dict, List, Optional, Tuple

from .conf import Conf, boot_id

TOOL_ENV = {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
TOOL_TIMEOUT_S = 30

# For each tool the command lines to try, best first: old util-linux lacks some columns and options.
COMMANDS: Tuple[Tuple[str, Tuple[str, ...]], ...] = (
    ("lsblk", ("lsblk -J -O -b", "lsblk -J -b", "lsblk -P -b")),
    (
        "findmnt",
        (
            "findmnt -J -b -o TARGET,SOURCE,FSTYPE,OPTIONS,SIZE,USED,AVAIL,UUID,LABEL,MAJ:MIN",
            "findmnt -J -o TARGET,SOURCE,FSTYPE,OPTIONS,UUID,LABEL,MAJ:MIN",
            "findmnt -l",
        ),
    ),
    ("uname", ("uname -srvm",)),
)
FILES = (
    ("mdstat", "/proc/mdstat"),
    ("cpuinfo", "/proc/cpuinfo"),
    ("meminfo", "/proc/meminfo"),
    ("os-release", "/etc/os-release"),
)

# Lines that differ at every look and say nothing about what the machine is.
VOLATILE = re.compile(r'^.*(?:MHz|bogomips|"fsavail"|"fsused"|"fsuse%"|"used"|"avail"|"state").*$', re.MULTILINE)


def collect(conf: Conf) -> List[Dict[str, Any]]:
    outputs = [_first_that_works(tool, lines) for tool, lines in COMMANDS]
    outputs += [_file(tool, path) for tool, path in FILES]
    return outputs + [_machine(conf)]


def digest(outputs: List[Dict[str, Any]]) -> str:
    """Equal for two looks at an unchanged machine."""
    stable = [
        (o["tool"], o["stdout"][:40] if o["tool"] == "meminfo" else VOLATILE.sub("", o["stdout"])) for o in outputs
    ]
    return hashlib.sha256(json.dumps(stable).encode()).hexdigest()


def run_tool(argv: List[str]) -> Dict[str, Any]:
    """One tool's words. A tool that is not there is said so with a shell's 127, not left out."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=TOOL_ENV,
            timeout=TOOL_TIMEOUT_S,
        )
        return _output(argv[0], argv, done.returncode, done.stdout, done.stderr)
    except subprocess.TimeoutExpired:
        return _output(argv[0], argv, 124, b"", b"no answer in time")
    except OSError as error:
        return _output(argv[0], argv, 127, b"", str(error).encode())


def fio_version(path: Optional[str]) -> Optional[str]:
    """Cheap enough to ask at each start: `fio-3.33`; None when fio is missing or does not run."""
    if path is None:
        return None
    output = run_tool([path, "--version"])
    return output["stdout"].strip() or None if output["exit_status"] == 0 else None


def _first_that_works(tool: str, lines: Tuple[str, ...]) -> Dict[str, Any]:
    output: Dict[str, Any] = {}
    for line in lines:
        output = dict(run_tool(line.split()), tool=tool)
        if output["exit_status"] in (0, 127):
            break
    return output


def _file(tool: str, path: str) -> Dict[str, Any]:
    try:
        with open(path, "rb") as source:
            return _output(tool, [path], 0, source.read(), b"")
    except OSError as error:
        return _output(tool, [path], 1, b"", str(error).encode())


def _machine(conf: Conf) -> Dict[str, Any]:
    virt = run_tool(["systemd-detect-virt"])["stdout"].strip()
    board = {
        name: _file("dmi", f"/sys/class/dmi/id/{name}")["stdout"].strip() or None
        for name in ("board_vendor", "board_name")
    }
    facts = dict(
        board,
        hostname=socket.gethostname(),
        fqdn=socket.getfqdn(),
        virt=virt or None,
        directory=conf.directory,
        boot_id=boot_id(),
        python=".".join(map(str, sys.version_info[:3])),
    )
    return _output("machine", [], 0, json.dumps(facts).encode(), b"")


def _output(tool: str, argv: List[str], status: int, stdout: bytes, stderr: bytes) -> Dict[str, Any]:
    return {
        "tool": tool,
        "argv": argv,
        "exit_status": status,
        "stdout": stdout.decode("utf-8", "replace"),
        "stderr": stderr.decode("utf-8", "replace"),
    }
