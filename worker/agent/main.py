"""The command line: enrol once, then run; status and check-policy only look."""

import argparse
import grp
import hashlib
import json
import os
import socket
import sys
import time
from typing import Any, Dict, List, Optional

from . import VERSION, client, conf, directory, inventory, inventory_scan, mount, policy, render
from .admin import doctor, probe, upgrade
from .client import Answer, Client, Unreachable
from .conf import log
from .disk import write_durably
from .loop import AgentLoop
from .spool import Spool

ENROL_TRIES = 5
LIMITS_IN_WORDS = (
    ("max_runtime_s", "a run takes at most {} s"),
    ("max_iodepth", "a job has at most {} I/Os in flight"),
    ("max_numjobs", "a run has at most {} processes of fio"),
)
ABOVE_VARIABLE = "AGENT_FOLDERS_ABOVE"  # warn: as bin/up says for the agent of its own machine


def main(argv: Optional[List[str]] = None) -> int:
    arguments = _parser().parse_args(argv)
    os.umask(0o077)
    try:
        status: int = arguments.act(arguments)
        return status
    except (conf.Mistake, ValueError) as mistake:
        log(str(mistake))
        return 2
    except Unreachable as problem:
        log(f"The server does not answer: {problem}.")
        return 3
    except PermissionError as error:
        log(f"{error.filename}: this account may not do that ({error.strerror}).")
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="agent.pyz", description="Runs storage benchmarks on this host for a Spindle server."
    )
    parser.add_argument("--version", action="version", version=VERSION)
    acts = parser.add_subparsers(dest="command")
    acts.required = True
    for name, act, words in (
        ("enrol", enrol, "make this host known to a server, once"),
        ("run", run, "the agent"),
        ("allow", allow, "allow further directories for test files; the agent is told when it is started again"),
        ("status", status, "what this host allows and what it is doing"),
        (
            "doctor",
            examine,
            "check configuration, permissions, server, clock, fio, directories and spool, and say what to do",
        ),
        (
            "upgrade",
            take_upgrade,
            "take the server's newer version of this program, if there is one and no run is under way",
        ),
        (
            "probe",
            run_probe,
            "as root, without network: read what only root can read; the units of install.sh --probe do this",
        ),
        ("check-policy", check_policy, "show the job file of a workload, or why it is refused"),
    ):
        sub = acts.add_parser(name, help=words, description=words)
        sub.set_defaults(act=act)
        sub.add_argument(
            "--state",
            required=name not in ("check-policy", "probe"),
            help="the agent's folder, best not on a disk under test",
        )
        _add_arguments(name, sub)
    return parser


def _add_arguments(name: str, sub: argparse.ArgumentParser) -> None:
    if name in ("enrol", "run", "doctor", "upgrade"):
        sub.add_argument("--server", required=name == "enrol", help="address such as https://spindle.example.org")
    if name == "enrol":
        words = f"file that holds the one-use token, - for standard input (without it: {client.TOKEN_VARIABLE}, or it is asked for)"
        sub.add_argument("--token-file", metavar="FILE", help=words)
        sub.add_argument("--token", help=argparse.SUPPRESS)
        sub.add_argument("--shared-directory", action="store_true", help="although other accounts may write there")
        sub.add_argument("--again", action="store_true", help="although this folder is enrolled already")
    if name in ("enrol", "allow"):
        words = "where test files go; made on the filesystem under test. Say it again for each further filesystem"
        required = name == "allow"
        sub.add_argument("--directory", action="append", metavar="DIRECTORY", required=required, help=words)
    if name == "run":
        sub.add_argument("--once", action="store_true", help="do what is open, then end")
    if name == "probe":
        sub.add_argument(
            "--folder", default=conf.PROBE_FOLDER, help="where its outputs are written, for the agent to read"
        )
        sub.add_argument("--group", help="the agent's group, which may read them")
        sub.add_argument(
            "--drop-caches", action="store_true", help="drop the page cache, if probe.conf there allows it"
        )
    if name == "check-policy":
        sub.add_argument("file", help="a workload as JSON")


def _state(arguments: argparse.Namespace) -> str:
    """Return the agent's folder, where nobody else can replace it."""
    state = os.path.realpath(str(arguments.state))
    conf.refuse_if_others_can_write_above(state, os.environ.get(ABOVE_VARIABLE) == "warn")
    return state


def enrol(arguments: argparse.Namespace) -> int:
    state = _state(arguments)
    known = client.read_identity(state)
    if known and not arguments.again:
        raise conf.Mistake(
            f"Nothing was changed: {state} is enrolled already, as {known['name']} at {known['server']}. If that server has revoked it, or if"
            " this machine is a copy of another, say --again."
        )
    if arguments.token:
        log("A token on the command line can be read by every account of this host (ps). Better use --token-file.")
    conf.create(state, *(arguments.directory or []), shared=arguments.shared_directory)
    _check_directories(arguments.directory or [], conf.load(state))
    token = client.token(arguments.token_file, arguments.token)
    secret = _enrolment_secret(state, token)
    body = {
        "token": token,
        "secret_sha256": hashlib.sha256(secret.encode()).hexdigest(),
        "machine": client.machine(state),
        "hardware": client.hardware(),
        "hostname": socket.gethostname(),
        "agent_version": VERSION,
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    answer = _call_patiently(Client(arguments.server, {"X-Spindle-Protocol": "1"}), body)
    if answer.status != 201:
        log(f"The server refused the enrolment: {answer.reason}.")
        return 1
    body = answer.body
    new = {"server": arguments.server, "agent": body["agent"], "name": body.get("name"), "secret": secret}
    write_durably(os.path.join(state, "identity.json"), json.dumps(new))
    os.unlink(os.path.join(state, "enrolling.json"))
    log(f"Enrolled as {body.get('name')} in {body.get('lab')}.")
    if body.get("state") == "pending":
        log("An owner of the lab has to approve it (Lab, Agents); until then it gets no work.")
    if body.get("question"):
        log(str(body["question"]))
    return 0


def run(arguments: argparse.Namespace) -> int:
    state = _state(arguments)
    known = client.read_identity(state)
    if known is None:
        log(f"{state} holds no identity. Enrol first.")
        return 2
    conf.create(state)
    limits = conf.load(state)
    newer = upgrade.Programs(state).successor()
    if newer:
        upgrade.hand_over(newer)
    with open("/proc/sys/kernel/random/uuid") as source:
        instance = source.read().strip()
    headers = client.headers(state, known, instance)
    try:
        AgentLoop(state, limits, arguments.server or known["server"], headers).run(arguments.once)
    except Exception as error:
        if not upgrade.is_on_trial(state):
            if isinstance(
                error, ValueError
            ):  # of the program itself, and no mistake of a person, which would end it for good
                raise RuntimeError(f"{type(error).__name__}: {error}") from error
            raise
        log(f"This version of the agent did not come up: {type(error).__name__}: {error}")
        upgrade.start_again()
    return 0


def examine(arguments: argparse.Namespace) -> int:
    return doctor.examine(os.path.realpath(str(arguments.state)), arguments.server or "")


def take_upgrade(arguments: argparse.Namespace) -> int:
    state = _state(arguments)
    known = client.read_identity(state)
    if known is None:
        raise conf.Mistake(f"{state} holds no identity. Enrol first.")
    conf.load(state)
    upgrade.refuse_unless_idle(Spool(state).glance())
    server = arguments.server or known["server"]
    answer = Client(server, client.headers(state, known, "upgrade")).call("GET", "self/")
    if not answer.good:
        log(f"The server refused the question: {answer.reason}.")
        return 1
    release = upgrade.release_of(answer.body)
    if release is None:
        log(f"The server has nothing newer than {VERSION}.")
        return 0
    try:
        upgrade.Programs(state).take(server, release)
    except upgrade.Failed as failure:
        log(f"Nothing was changed: {failure}.")
        return 1
    log(
        f"Version {release['version']} is taken. A running agent changes to it between two runs; a stopped one when it is started."
    )
    return 0


def run_probe(arguments: argparse.Namespace) -> int:
    group = grp.getgrnam(arguments.group).gr_gid if arguments.group else None
    if arguments.drop_caches:
        if not arguments.state:
            raise conf.Mistake("--drop-caches needs --state, where the agent's request is.")
        request = os.path.join(os.path.realpath(arguments.state), "requests", probe.REQUEST)
        return probe.drop_caches(request, arguments.folder, group)
    return probe.run(arguments.folder, group)


def allow(arguments: argparse.Namespace) -> int:
    state = _state(arguments)
    limits = conf.load(state)
    known = [root.path for root in limits.roots]
    fresh = [path for path in dict.fromkeys(map(directory.resolve, arguments.directory)) if path not in known]
    if not fresh:
        log("Nothing was changed: agent.conf allows this already.")
        return 0
    path = os.path.join(state, "agent.conf")
    with open(path) as source:
        text = conf.with_directories(source.read(), fresh, limits)
    conf.Conf(conf.parse(text), state)  # refuses what the agent would refuse
    owner = os.stat(path)
    write_durably(path, text)
    if os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid)
    log(f"agent.conf allows {', '.join(fresh)} too, once the agent is started again.")
    return 0


def status(arguments: argparse.Namespace) -> int:
    state = os.path.realpath(arguments.state)
    limits = conf.load(state)
    known = client.read_identity(state)
    words = f"{known['name']}, agent {known['agent']} of {known['server']}" if known else "not enrolled"
    print(f"Spindle agent {VERSION}: {conf.printable(words)}")
    print(f"fio: {inventory.fio_version(limits.fio_path(), state) or 'not found'}")
    reported = limits.as_policy()
    for name, words in LIMITS_IN_WORDS:
        print(f"{words.format(reported[name])} ({name} in agent.conf)")
    if "directory_refused" in reported:
        print(f"directory that cannot be used: {reported['directory_refused']}")
    if "spool_on_directory" in reported:
        print("The agent's own files are on the filesystem of the directory that runs measure.")
    for root in limits.roots:
        place = mount.look_at(root.path, limits.shared_directory, limits.state)
        print(f"directory: {root.path}, {place.get('problem') or mount.words(place)}, quota {root.quota_bytes} bytes")
    spool = Spool(state)
    work = spool.glance()
    print("\n".join(work.values()) if work else "no run is under way")
    for name in sorted(os.listdir(spool.quarantine_path)):
        print(f"in quarantine: {name}")
    newer = upgrade.Programs(state).describe()
    if newer:
        print(f"newer program: {newer}")
    print(f"probe: {probe.in_words(limits.probe_folder)}")
    told = probe.describe(limits.probe_folder)
    if told["is_there"]:
        print(
            f"page cache: the probe {'drops it' if told['may_drop_caches'] else 'may not drop it'} when a run asks for that"
        )
    for what, refusal in sorted(inventory_scan.read_refusals(state).items()):
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(refusal["since"]))
        print(f"the server refuses the {what} since {since}: {refusal['reason']}")
    return 0


def check_policy(arguments: argparse.Namespace) -> int:
    limits = conf.load(os.path.realpath(arguments.state)) if arguments.state else conf.Conf(conf.defaults(os.getcwd()))
    try:
        with open(arguments.file) as source:
            jobs = policy.check(json.load(source), policy.PolicyLimits(limits))
    except OSError as error:
        log(f"{arguments.file}: {error.strerror}.")
        return 2
    except policy.Refused as refusal:
        log(f"Refused. {refusal}")
        return 1
    print(render.job_file(jobs, limits.cpus), end="")
    return 0


def _check_directories(asked: List[str], allowed: conf.Conf) -> None:
    """Tell which directories of the command line an agent.conf that was there before does not allow.

    Raises:
        Mistake: One that it allows cannot be used safely.
    """
    for root in allowed.roots:
        refused = allowed.directory_refused(root.path)
        if refused:
            raise conf.Mistake(refused)
    for path in asked:
        if directory.resolve(path) not in [root.path for root in allowed.roots]:
            log(f"{path} is not in {allowed.state}/agent.conf, which was there before; agent.pyz allow adds it.")


def _enrolment_secret(state: str, token: str) -> str:
    """Return the secret of the enrolment, stored before it is sent, so that a lost answer can be repeated."""
    path = os.path.join(state, "enrolling.json")
    if os.path.exists(path):
        with open(path) as source:
            stored = json.load(source)
        if stored["token"] == token:
            return str(stored["secret"])
    secret = os.urandom(32).hex()
    write_durably(path, json.dumps({"token": token, "secret": secret}))
    return secret


def _call_patiently(client: Client, body: Dict[str, Any]) -> Answer:
    for _ in range(ENROL_TRIES - 1):
        try:
            answer = client.call("POST", "enrol/", body)
            if not answer.temporary:
                return answer
        except Unreachable:
            pass
        time.sleep(1)
    return client.call("POST", "enrol/", body)
