"""The first real run on this machine for `bin/up`: short, small, in the agent's own directory."""

from typing import Any

from django.urls import reverse

from apps.agents.models import Agent
from apps.comparison.default_question import beside_published
from apps.core import units
from apps.inventory.models import Host, Target
from apps.labs.isolation import lab_scope, scoped
from apps.labs.middleware import readable_scope
from apps.labs.models import Lab
from apps.runs.models import Run
from apps.runs.services import start_runs
from apps.runs.states import State
from apps.runs.workload import KIB, MIB

LABEL = "first run"
# The published report measured these sizes too. They fit into any memory of today, so all jobs go round the page cache.
SIZES = (500 * MIB, 100 * MIB)
JOBS = (("randread", 4 * KIB), ("write", MIB), ("read", MIB))


def workload(size: int) -> dict[str, Any]:
    """Return the workload of the first run, with files of `size` bytes."""
    shared = {"file_size": size, "runtime": 8, "time_based": True, "direct": True}
    return {"tool": "fio", "jobs": [{"rw": rw, "block_size": block, **shared} for rw, block in JOBS]}


def chosen_size(quota: int | None) -> tuple[int | None, str]:
    """Return the file size in bytes that the host allows and a remark about it, or None where it allows none."""
    usual, least = SIZES[0], SIZES[-1]
    size = next((size for size in SIZES if quota is None or len(JOBS) * size <= quota), None)
    if size == usual:
        return size, ""
    allowed = f"this host's agent allows {units.size(quota)} of files"
    if size is None:
        return None, f"not started: {allowed}, and the first run needs {units.size(len(JOBS) * least)}"
    return size, f"files of {units.size(size)} in place of {units.size(usual)}: {allowed}"


def _local_host(lab: Lab, agent_id: int) -> Host | None:
    agent = Agent.objects.filter(lab=lab, pk=agent_id).select_related("host").first()
    return agent.host if agent else None


def _first_run(host: Host) -> Run | None:
    run: Run | None = Run.objects.filter(host=host, labels__purpose=LABEL).order_by("-id").first()
    return run


def _target(host: Host) -> Target | None:
    """Return the first target that the host's own agent offers, once its inventory is known."""
    target: Target | None = Target.objects.filter(host=host, is_agents_own=True).order_by("id").first()
    return target if target and host.tool_outputs.exists() else None


def _start(lab: Lab, host: Host) -> tuple[Run | None, str]:
    target = _target(host)
    if target is None:
        return None, ""
    size, note = chosen_size(host.agent.quota_of(target.path))
    if size is None:
        return None, note
    run = start_runs(lab=lab, target=target, spec=workload(size), who="bin/up")[0]
    Run.objects.filter(pk=run.pk).update(labels={"purpose": LABEL})
    return run, note


def status(lab: Lab, agent_id: int, *, start: bool) -> dict[str, Any]:
    """Return the state of the first run and the addresses to look at; with `start`, start it if there was none."""
    with lab_scope(lab.pk):
        host = _local_host(lab, agent_id)
        if host is None:
            return {
                "host": None,
                "host_online": False,
                "inventory": False,
                "run": None,
                "urls": {"overview": reverse("overview")},
            }
        run, note = _first_run(host), ""
        if start and (run is None or run.state in (State.FAILED, State.CANCELLED, State.INTERRUPTED)):
            started, note = _start(lab, host)
            run = started or run
    with scoped(readable_scope(lab.pk)):
        return _report(host, run) | {"note": note}


def _report(host: Host, run: Run | None) -> dict[str, Any]:
    urls = {"overview": reverse("overview"), "host": host.get_absolute_url()}
    if not run:
        urls |= {"comparisons": reverse("compare")}
    else:
        urls |= {"run": run.get_absolute_url()}
        urls |= {"compare": beside_published(run, "write"), "compare_read": beside_published(run, "read")}
    attempt = run.attempts.last() if run else None
    return {
        "host": host.pk,
        "host_online": host.agent.is_online,
        "inventory": _target(host) is not None,
        "run": run.pk if run else None,
        "run_state": run.state if run else None,
        "problem": run.problem if run else "",
        "read_in": bool(attempt and attempt.ingested_at),
        "progress": round(100 * run.progress) if run else 0,  # percent
        "urls": urls,
    }
