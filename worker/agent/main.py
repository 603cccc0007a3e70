"""The command line: enrol once, then run; status and check-policy only look."""

import argparse
import hashlib
import json
import os
import socket
import sys
import time
from typing import Any, Dict, List, Optional

from . import VERSION, conf, inventory, policy, render
from .client import Answer, Client, Unreachable
from .conf import log
from .disk import write_durably
from .loop import Agent
from .spool import Spool

ENROL_TRIES = 5


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
        ("status", status, "what this host allows and what it is doing"),
        ("check-policy", check_policy, "show the job file of a workload, or why it is refused"),
    ):
        sub = acts.add_parser(name, help=words, description=words)
        sub.set_defaults(act=act)
        sub.add_argument(
            "--state", required=name != "check-policy", help="the agent's folder, best not on a disk under test"
        )
        if name in ("enrol", "run"):
            sub.add_argument("--server", required=name == "enrol", help="address such as https://spindle.example.org")
        if name == "enrol":
            sub.add_argument("--token", required=True, help="the one-use token that the server has shown")
            sub.add_argument("--directory", help="where test files go; made on the filesystem under test")
        if name == "run":
            sub.add_argument("--once", action="store_true", help="do what is open, then end")
        if name == "check-policy":
            sub.add_argument("file", help="a workload as JSON")
    return parser


def enrol(arguments: argparse.Namespace) -> int:
    state = os.path.realpath(arguments.state)
    conf.create(state, arguments.directory)
    conf.load(state)
    secret = _enrolment_secret(state, arguments.token)
    body = {
        "token": arguments.token,
        "secret_sha256": hashlib.sha256(secret.encode()).hexdigest(),
        "machine": machine(state),
        "hostname": socket.gethostname(),
        "agent_version": VERSION,
        "python": ".".join(map(str, sys.version_info[:3])),
    }
    answer = _call_patiently(Client(arguments.server, {"X-Spindle-Protocol": "1"}), body)
    if answer.status != 201:
        log(f"The server refused the enrolment: {answer.reason}.")
        return 1
    identity = {
        "server": arguments.server,
        "agent": answer.body["agent"],
        "name": answer.body.get("name"),
        "secret": secret,
    }
    write_durably(os.path.join(state, "identity.json"), json.dumps(identity))
    os.unlink(os.path.join(state, "enrolling.json"))
    waits = ". A person has to approve it in the lab's list of hosts" if answer.body.get("state") == "pending" else ""
    log(f"Enrolled as {answer.body.get('name')} in {answer.body.get('lab')}{waits}.")
    return 0


def run(arguments: argparse.Namespace) -> int:
    state = os.path.realpath(arguments.state)
    identity = _identity(state)
    if identity is None:
        log(f"{state} holds no identity. Enrol first.")
        return 2
    conf.create(state)
    with open("/proc/sys/kernel/random/uuid") as source:
        instance = source.read().strip()
    headers = {
        "Authorization": f"Bearer spa_{identity['agent']}_{identity['secret']}",
        "X-Spindle-Protocol": "1",
        "X-Spindle-Instance": instance,
        "X-Spindle-Machine": machine(state),
    }
    Agent(state, conf.load(state), arguments.server or identity["server"], headers).run(arguments.once)
    return 0


def status(arguments: argparse.Namespace) -> int:
    state = os.path.realpath(arguments.state)
    limits = conf.load(state)
    identity = _identity(state)
    known = f"{identity['name']}, agent {identity['agent']} of {identity['server']}" if identity else "not enrolled"
    print(f"Spindle agent {VERSION}: {known}")
    print(f"fio: {inventory.fio_version(limits.fio_path(), state) or 'not found'}")
    for name, value in limits.as_policy().items():
        print(f"{name}: {value}")
    spool = Spool(state)
    for number, state_now in spool.glance().items():
        print(f"attempt {number}: {state_now}")
    for name in sorted(os.listdir(spool.quarantine_path)):
        print(f"in quarantine: {name}")
    return 0


def check_policy(arguments: argparse.Namespace) -> int:
    limits = conf.load(os.path.realpath(arguments.state)) if arguments.state else conf.Conf(conf.defaults(os.getcwd()))
    try:
        with open(arguments.file) as source:
            jobs = policy.check(json.load(source), policy.Limits(limits))
    except OSError as error:
        log(f"{arguments.file}: {error.strerror}.")
        return 2
    except policy.Refused as refusal:
        log(f"Refused. {refusal}")
        return 1
    print(render.job_file(jobs, limits.cpus), end="")
    return 0


def machine(state: str) -> str:
    """SHA-256 of this machine's id; of a made one, kept in the state folder, where there is none."""
    made = os.path.join(state, "machine-id")
    for path in ("/etc/machine-id", made):
        try:
            with open(path) as source:
                text = source.read().strip()
        except OSError:
            text = ""
        if text:
            return hashlib.sha256(text.encode()).hexdigest()
    write_durably(made, os.urandom(16).hex())
    return machine(state)


def _identity(state: str) -> Optional[Dict[str, Any]]:
    try:
        with open(os.path.join(state, "identity.json")) as source:
            return dict(json.load(source))
    except FileNotFoundError:
        return None


def _enrolment_secret(state: str, token: str) -> str:
    """Kept before it is sent: if the answer is lost, the same secret with the same token gets the same answer again."""
    path = os.path.join(state, "enrolling.json")
    if os.path.exists(path):
        with open(path) as source:
            kept = json.load(source)
        if kept["token"] == token:
            return str(kept["secret"])
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
