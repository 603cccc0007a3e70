"""The units that install.sh installs, under a real systemd: what their sandboxes permit, their timer, their path unit.

Not run where explain_missing() says why: without root, a systemd, cgroup2, or where namespaces are not allowed.
"""

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.agents.downloads import current_version
from apps.agents.models import Agent, Enrolment
from apps.dashboard.views.agents import install_line
from apps.inventory.models import Target, ToolOutput
from apps.labs.isolation import lab_scope
from apps.plans.services import PlanRequest, create_plan, start_plan
from apps.runs.models import Run
from apps.runs.services import start_runs
from tests.faults.stack import MIB, until
from tests.faults.systemd_host import ReachableStack, SystemdHost, explain_missing
from worker.build_agent import build

MISSING = explain_missing()
pytestmark = [
    pytest.mark.faults,
    pytest.mark.fio,
    pytest.mark.long,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]
STATE, FILES, PROBE = "/var/lib/spindle-agent", "/srv/spindle", "/var/lib/spindle-probe"
MORE_FILES = "/srv/more/deep"
ASK = f"""runuser -u spindle-agent -- python3 - <<'PYTHON'
import json, sys
sys.path.insert(0, "/opt/spindle/agent.pyz")
from agent.admin import probe
print(json.dumps(probe.ask_to_drop_caches("{STATE}")))
PYTHON
"""


@pytest.fixture
def host(transactional_db: None, cast: Any, tmp_path: Path) -> Iterator[SystemdHost]:
    """A host with systemd, on which the line of *Add a host* was pasted, with the probe; its agent has described it."""
    stack = ReachableStack(tmp_path, cast.lab, listen="0.0.0.0")
    booted = SystemdHost(stack)
    try:
        stack.start_web()
        stack.start_worker()
        stack.start_dispatcher()
        booted.boot()
        with lab_scope(stack.lab.pk):
            _, token = Enrolment.objects.issue(stack.lab, "test", trusted=True)
        installed = booted.run(f"{install_line(stack.url, token)} -s -- --probe {FILES}")
        assert installed.returncode == 0, f"{installed.stdout}{installed.stderr}{booted.journal()}"
        until(
            lambda: f"the agent describes its host\n{booted.journal()}\n{stack.logs()}", 60, lambda: target_of(booted)
        )
        yield booted
    finally:
        booted.remove()
        stack.down()


def target_of(host: SystemdHost, path: str = FILES) -> Target | None:
    with lab_scope(host.stack.lab.pk):
        return Target.objects.filter(is_agents_own=True, path=path).select_related("host").first()  # type: ignore[no-any-return]


def agent_of(host: SystemdHost) -> Agent:
    with lab_scope(host.stack.lab.pk):
        agent: Agent = Agent.objects.get()
        return agent


def start(host: SystemdHost, path: str = FILES, **job: Any) -> Run:
    wanted = {
        "rw": "randwrite", "block_size": 4096, "file_size": 4 * MIB, "runtime": 2, "time_based": True, "direct": False,
        **job,
    }  # fmt: skip
    with lab_scope(host.stack.lab.pk):
        spec = {"tool": "fio", "jobs": [wanted]}
        return start_runs(lab=host.stack.lab, target=target_of(host, path), spec=spec, who="test")[0]


def test_the_installed_units_run_a_job_and_let_nothing_else_be_done(host: SystemdHost) -> None:
    assert host.look("systemctl is-active spindle-agent.service") == "active"
    for engine in ("psync", "libaio", "io_uring"):
        run = start(host, ioengine=engine, iodepth=1 if engine == "psync" else 4, direct=True)
        host.stack.wait_for(run, "finished", 60)
    pid = host.look("systemctl show -p MainPID --value spindle-agent.service")
    assert host.look(f"stat -c %U /proc/{pid}") == "spindle-agent"
    inside = f"nsenter -t {pid} --mount --setuid $(id -u spindle-agent) --setgid $(id -g spindle-agent)"
    for place in ("/etc", "/opt/spindle", "/var/lib", PROBE, "/usr"):
        assert host.run(f"{inside} touch {place}/spindle-was-here").returncode != 0, place
    for place in (STATE, FILES, "/tmp"):
        host.look(f"{inside} touch {place}/spindle-was-here && {inside} rm {place}/spindle-was-here")
    assert host.look(f"grep -E 'CapEff|NoNewPrivs|^Seccomp:' /proc/{pid}/status | tr '\\n' ' '").split() == [
        "CapEff:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2",
    ]  # fmt: skip


def test_guards_look_at_the_host_from_within_the_unit(host: SystemdHost) -> None:
    job = {"rw": "randread", "direct": False, "sync": "none", "time_based": True, "runtime": 1}
    point = {"name": "reads", "tool": "fio", "file_size": MIB, "block_size": 4096, "job": job}
    kinds = ("caches_dropped", "space")
    target = target_of(host)
    assert target
    with lab_scope(host.stack.lab.pk):
        wanted = PlanRequest(
            host.stack.lab, "Guarded", [target], [point], {"kind": "fixed", "rounds": 1},
            guards=[{"kind": kind} for kind in kinds],
        )  # fmt: skip
        plan = create_plan(wanted, actor="test")
        start_plan(plan, actor="test")
        run = until("its run is made", 60, lambda: Run.objects.filter(planned_run__row__plan=plan).first())
    host.stack.wait_for(run, "finished", 60)
    found = {entry["guard"]: (entry["outcome"], entry["text"]) for entry in host.stack.attempt(run).guards}
    assert found["caches_dropped"][0] == "passed", found
    assert "0 of 256 pages" in found["caches_dropped"][1], found
    assert found["space"][0] == "passed", found


def test_a_directory_that_is_added_later_can_be_written_by_the_unit(host: SystemdHost) -> None:
    added = host.run(f"curl -fsSL {host.stack.url}/agent/install.sh | sh -s -- {MORE_FILES}")
    assert added.returncode == 0, added.stdout + added.stderr
    until(lambda: f"it is a target\n{host.journal()}", 60, lambda: target_of(host, MORE_FILES))
    for path in (FILES, MORE_FILES):
        host.stack.wait_for(start(host, path), "finished", 60)
    host.look("systemctl stop spindle-agent.service && mv /srv/more /srv/away")
    host.look("systemctl start spindle-agent.service")  # one that is not there does not keep the unit from starting
    host.stack.wait_for(start(host), "finished", 60)


def test_a_restart_of_the_agent_leaves_its_run_alone_and_a_mistake_ends_it_for_good(host: SystemdHost) -> None:
    run = start(host, runtime=12)
    host.stack.wait_for(run, "running")
    fio = host.look("pgrep -o -x fio")
    host.look("systemctl restart spindle-agent.service")
    assert host.look("pgrep -o -x fio") == fio
    host.stack.wait_for(run, "finished", 60)
    assert host.stack.attempt(run).number == 1
    pid = host.look("systemctl show -p MainPID --value spindle-agent.service")
    host.look(f"kill -9 {pid}")
    until("systemd starts it again", 30, lambda: host.run(f"pgrep -u spindle-agent python3 | grep -vx {pid}").stdout)
    host.look(f"echo 'max_iodepth = many' >> {STATE}/agent.conf")
    host.run("systemctl restart spindle-agent.service")
    until("it has failed", 30, lambda: host.run("systemctl is-failed spindle-agent.service").stdout == "failed\n")
    assert host.look("systemctl show -p ExecMainStatus --value spindle-agent.service") == "2"
    assert "agent.conf line" in host.journal("spindle-agent.service")


def test_the_timer_starts_the_probe_and_the_agent_reads_what_it_wrote(host: SystemdHost) -> None:
    def written_at() -> float:
        return float(json.loads(host.look(f"cat {PROBE}/outputs.json"))["at"])

    assert "spindle-probe.timer" in host.look("systemctl list-timers --no-pager")
    look = f"stat -c '%U %G %a %n' {PROBE} {PROBE}/*.json {PROBE}/probe.conf"
    expected = [
        f"root spindle-agent 750 {PROBE}",
        f"root spindle-agent 640 {PROBE}/outputs.json",
        f"root spindle-agent 640 {PROBE}/probe.conf",
    ]
    assert host.look(look).splitlines() == expected
    first = written_at()
    soon = "[Timer]\\nOnActiveSec=1s\\nRandomizedDelaySec=0\\nAccuracySec=100ms\\n"
    host.look(
        f"mkdir -p /etc/systemd/system/spindle-probe.timer.d && printf '{soon}' > /etc/systemd/system/spindle-probe.timer.d/soon.conf"
        " && systemctl daemon-reload && systemctl restart spindle-probe.timer"
    )
    until(lambda: f"the timer starts the probe\n{host.journal()}", 60, lambda: written_at() > first)
    until("it has ended", 30, lambda: host.run("systemctl is-active spindle-probe").stdout.strip() == "inactive")
    assert host.look("systemctl show -p Result --value spindle-probe.service") == "success"
    assert host.look(look).splitlines() == expected, "the agent can still read all of it after a second time"
    host.look("systemctl restart spindle-agent.service")  # it looks at its host anew

    def told() -> dict[str, Any]:
        with lab_scope(host.stack.lab.pk):
            newest = ToolOutput.objects.filter(tool="machine").order_by("-id").first()
        return dict(json.loads(newest.stdout).get("probe", {})) if newest else {}

    until(lambda: f"the server knows of it: {told()}", 60, lambda: told().get("is_there"))
    assert "problem" not in told()
    doctor = host.run(f"runuser -u spindle-agent -- python3 /opt/spindle/agent.pyz doctor --state {STATE}").stdout
    assert "probe: last run" in doctor


def test_the_page_cache_is_dropped_on_request_only_where_root_allows_it(host: SystemdHost) -> None:
    assert json.loads(host.look(ASK))["reason"] == "the host's probe is not there, or does not allow it"
    host.look(f"runuser -u spindle-agent -- touch {STATE}/requests/drop-caches")  # an agent that asks nevertheless
    refused = f"cat {PROBE}/dropped.json"
    until(lambda: f"the unit answers\n{host.journal()}", 30, lambda: host.run(refused).returncode == 0)
    assert json.loads(host.look(refused))["reason"] == f"allow_drop_caches in {PROBE}/probe.conf is not yes"
    host.look(f"sed -i 's/^allow_drop_caches = no/allow_drop_caches = yes/' {PROBE}/probe.conf")
    host.look("systemctl start spindle-probe.service")  # as the timer does
    for _ in range(2):
        host.look(f"dd if=/dev/zero of={FILES}/large bs=1M count=32 status=none; sync; cat {FILES}/large > /dev/null")
        dropped = json.loads(host.look(ASK))
        assert dropped.get("done"), f"{dropped}\n{host.journal()}"
        assert dropped["cached_after"] < dropped["cached_before"]
    assert host.look("systemctl is-active spindle-drop-caches.path") == "active"
    assert host.run(f"runuser -u spindle-agent -- test -w {PROBE}/probe.conf").returncode != 0
    assert host.look(f"runuser -u spindle-agent -- python3 /opt/spindle/agent.pyz doctor --state {STATE}; true")


def test_an_older_agent_upgrades_itself_within_its_unit(host: SystemdHost, tmp_path: Path) -> None:
    fresh = tmp_path / "fresh.pyz"
    build(fresh)
    made = io.BytesIO()
    with zipfile.ZipFile(fresh) as before, zipfile.ZipFile(made, "w") as after:
        for name in before.namelist():
            text = before.read(name).decode()
            after.writestr(name, text.replace(f'VERSION = "{current_version()}"', 'VERSION = "1.0.1"'))
    program = base64.encodebytes(made.getvalue()).decode()
    # on standard input: the host does not see what is written on this machine after its overlay was made
    host.look(f"base64 -d > /opt/spindle/agent.pyz <<'END'\n{program}END\n")
    host.look(f"sed -i 's/^upgrade = no/upgrade = yes/' {STATE}/agent.conf && systemctl restart spindle-agent.service")
    wanted = f"Version {current_version()} of the agent has come up."
    until(lambda: f"it has changed over\n{host.journal()}", 60, lambda: wanted in host.journal("spindle-agent.service"))
    until("the server knows", 30, lambda: agent_of(host).version == current_version())
    assert host.look(f"stat -c '%U %a' {STATE}/program/agent.pyz") == "spindle-agent 700"
    assert host.look("stat -c %U /opt/spindle/agent.pyz") == "root"
    host.stack.wait_for(start(host), "finished", 60)
    host.look("systemctl restart spindle-agent.service")  # it hands over again
    host.stack.wait_for(start(host), "finished", 60)
    assert agent_of(host).version == current_version()
