"""What only root can read on this host, read by a unit of its own without network, and written where the agent finds it.

The probe is installed only if the administrator asks for it (`install.sh --probe`). It runs the fixed commands of inventory.py that
need root, all of which only show something, and no word from anywhere else. It writes into its own folder, which belongs to root, and
never into the agent's. With `allow_drop_caches = yes` in FOLDER/probe.conf it also drops the page cache when the agent asks for that,
and writes down how much of it there was before and after; it does nothing else for anybody.
"""

import json
import os
import stat
import time
from typing import Any, Callable, Dict, List, Optional

from .. import inventory
from ..conf import PROBE_FOLDER as FOLDER
from ..conf import Mistake, boot_id, log
from ..disk import text_of, write_durably

OUTPUTS, DROPPED, CONF = "outputs.json", "dropped.json", "probe.conf"
REQUEST = "drop-caches"  # a file in the agent's folder
LARGEST = 16 * 1024 * 1024
STALE_S = 26 * 3600.0  # the timer is daily, and at boot
# Tools that show more to root; what the agent itself gets from them is replaced where the probe got an answer.
TOOLS = ("lsblk", "dmidecode", "nvme", "pvs", "vgs", "lvs", "dmsetup", "lspci")
CONF_TEXT = """\
# What the probe of Spindle may do on this host beside reading. Only root can change this file.

# yes: drop the page cache (echo 3 > /proc/sys/vm/drop_caches) when the agent of this host asks for it, before a run of a plan that needs it.
allow_drop_caches = no
"""


def run(folder: str = FOLDER, group: Optional[int] = None) -> int:
    """Ask the tools and write what they say; the work of the oneshot unit.

    Args:
        group: The agent's group, which may read it.
    """
    _prepare(folder, group)
    clock = inventory.ToolClock()
    work = os.path.join(folder, "work")
    os.makedirs(work, 0o700, exist_ok=True)
    outputs = [
        inventory.first_that_works(tool, lines, clock, work) for tool, lines in inventory.ONE_OF if tool in TOOLS
    ]
    outputs += [ask(clock, work) for ask in inventory.ASKED]
    outputs += [inventory.raid(tool, programs, shows, clock, work) for tool, programs, shows in inventory.RAID]
    outputs = inventory.within(outputs, inventory.LONGEST_MESSAGE)
    path = os.path.join(folder, OUTPUTS)
    write_durably(path, json.dumps({"at": time.time(), "boot_id": boot_id(), "outputs": outputs}))
    _give(path, group)
    log(f"{sum(item['exit_status'] == 0 for item in outputs)} tools have answered; {path} is written.")
    return 0


def drop_caches(request: str, folder: str = FOLDER, group: Optional[int] = None) -> int:
    """Drop the page cache if probe.conf allows it, and write down what became of it; the work of the unit that a request starts."""
    _prepare(folder, group)
    try:
        os.unlink(request)  # a link is removed itself, never what it leads to
    except OSError as problem:
        log(f"{request}: {problem.strerror}.")
    result: Dict[str, Any] = {"at": time.time(), "boot_id": boot_id(), "done": False}
    if not is_allowed(folder, "allow_drop_caches"):
        result["reason"] = f"allow_drop_caches in {os.path.join(folder, CONF)} is not yes"
    else:
        before = cached_bytes()
        os.sync()
        try:
            with open("/proc/sys/vm/drop_caches", "w") as target:
                target.write("3\n")
            result.update(done=True, cached_before=before, cached_after=cached_bytes())
        except OSError as problem:
            result["reason"] = f"/proc/sys/vm/drop_caches: {problem.strerror}"
    path = os.path.join(folder, DROPPED)
    write_durably(path, json.dumps(result))
    _give(path, group)
    log("The page cache was dropped." if result["done"] else f"The page cache was not dropped: {result['reason']}.")
    return 0


def cached_bytes() -> int:
    """Return the bytes of file data in the page cache, as /proc/meminfo says them."""
    for line in text_of("/proc/meminfo").splitlines():
        if line.startswith("Cached:"):
            return int(line.split()[1]) * 1024
    return 0


def is_allowed(folder: str, name: str) -> bool:
    lines = text_of(os.path.join(folder, CONF)).splitlines()
    pairs = [line.partition("=") for line in lines if not line.lstrip().startswith("#")]
    return any(key.strip() == name and value.strip() == "yes" for key, _, value in pairs)


def _prepare(folder: str, group: Optional[int]) -> None:
    """Create the probe's folder with its configuration; refuse one in which others could write. Raises `Mistake`."""
    os.makedirs(folder, 0o750, exist_ok=True)
    _give(folder, group, 0o750)
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise Mistake(f"{folder} must be a folder of this account in which nobody else can write.")
    path = os.path.join(folder, CONF)
    if not os.path.exists(path):
        write_durably(path, CONF_TEXT)
    for name in (CONF, OUTPUTS, DROPPED):  # systemd takes all of a StateDirectory back for root's group at each start
        if os.path.exists(os.path.join(folder, name)):
            _give(os.path.join(folder, name), group)


def _give(path: str, group: Optional[int], mode: int = 0o640) -> None:
    os.chmod(path, mode)
    if group is not None:
        os.chown(path, os.geteuid(), group)


# The agent's side


def read_outputs(folder: str = FOLDER) -> Dict[str, Any]:
    """Return what the probe has written, with `problem` in place of outputs that cannot be used; empty where there is no probe."""
    path = os.path.join(folder, OUTPUTS)
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        return {"problem": f"{path}: {problem.strerror}"}
    if not stat.S_ISREG(status.st_mode) or status.st_uid != 0 or status.st_mode & 0o022 or status.st_size > LARGEST:
        return {"problem": f"{path} is no file of root that only root can write"}
    try:
        with open(path) as source:
            written = dict(json.load(source))
        outputs = [item for item in written["outputs"] if _is_output(item)]
        written = {"at": float(written["at"]), "boot_id": str(written["boot_id"]), "outputs": outputs}
    except (OSError, ValueError, KeyError, TypeError) as problem:
        return {"problem": f"{path} cannot be read: {problem}"}
    if written["boot_id"] != boot_id() or time.time() - written["at"] > STALE_S:
        return {"at": written["at"], "problem": "its outputs are of another boot, or older than a day"}
    return written


def _is_output(item: Any) -> bool:
    names = {"tool": str, "exit_status": int, "stdout": str, "stderr": str, "argv": list}
    return type(item) is dict and all(type(item.get(name)) is kind for name, kind in names.items())


def merge(outputs: List[Dict[str, Any]], written: Dict[str, Any]) -> List[Dict[str, Any]]:
    """Return the agent's outputs with those of the probe in their place, where the probe's tool has answered."""
    by_root = {item["tool"]: item for item in written.get("outputs", ()) if item["exit_status"] == 0 and item["stdout"]}
    return [by_root.get(item["tool"], item) for item in outputs]


def describe(folder: str = FOLDER) -> Dict[str, Any]:
    """Return what the server is told of the probe: whether it is there, when it wrote, or why that cannot be used."""
    written = read_outputs(folder)
    told: Dict[str, Any] = {name: written[name] for name in ("at", "problem") if name in written}
    return dict(told, is_there=bool(written), may_drop_caches=bool(written) and is_allowed(folder, "allow_drop_caches"))


def in_words(folder: str = FOLDER) -> str:
    """Return for a person whether the probe is there and when it ran last, or why what it wrote cannot be used."""
    written = read_outputs(folder)
    if not written:
        return "not installed; what only root can read (SMART, dmidecode, RAID cards) is missing"
    if "problem" in written:
        return str(written["problem"])
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(written["at"]))
    return f"last run {at}, {len(written['outputs'])} tools"


def ask_to_drop_caches(
    state: str, folder: str = FOLDER, patience_s: float = 30.0, sleep: Callable[[float], None] = time.sleep
) -> Dict[str, Any]:
    """Ask the probe to drop the page cache and return what it wrote: `done`, `cached_before` and `cached_after` in bytes, or `reason`.

    Args:
        sleep: Waits so many seconds, and may raise where the run that asks is cancelled meanwhile.
    """
    if not os.path.exists(os.path.join(folder, CONF)):
        return {
            "done": False,
            "reason": "this host has no root probe that could (install.sh --probe), or it cannot be read",
        }
    if not is_allowed(folder, "allow_drop_caches"):
        return {
            "done": False,
            "reason": "the host's root probe may not (allow_drop_caches in its probe.conf is not yes)",
        }
    path, begun = os.path.join(folder, DROPPED), time.time()
    former = text_of(path)  # the answer to another request, which may be of this very second
    requests = os.path.join(state, "requests")
    os.makedirs(requests, 0o700, exist_ok=True)
    with open(os.path.join(requests, REQUEST), "w") as target:
        target.write(f"{begun}\n")
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        try:
            text = text_of(path)
            result = dict(json.loads(text))
            if text != former and os.stat(path).st_uid == 0 and float(result["at"]) >= begun - 1:
                return result
        except (OSError, ValueError, KeyError, TypeError):
            pass
        sleep(0.1)
    return {"done": False, "reason": f"the host's probe has not answered within {patience_s:.0f} s"}
