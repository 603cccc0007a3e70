"""Imports point one way. The rule is here, every edge of the code is held against it, and nothing can skip it.

Run this file directly to print the graph as it is.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# app → the apps it may import (besides itself)
DOMAIN = {"lib", "parsers", "labs", "inventory", "runs"}
ALLOWED: dict[str, set[str]] = {
    "lib": set(),
    "parsers": {"lib"},
    "labs": {"lib"},
    "inventory": {"lib", "parsers", "labs"},
    "runs": {"lib", "parsers", "labs", "inventory"},
    "studies": DOMAIN,
    "agents": DOMAIN | {"studies"},
    "uploads": DOMAIN | {"studies"},
    "comparison": DOMAIN | {"studies"},
    "search": DOMAIN | {"studies", "uploads", "comparison"},
    "publishing": DOMAIN | {"studies", "agents", "uploads", "comparison", "search"},
    "dashboard": DOMAIN | {"studies", "agents", "uploads", "comparison"},
    # the project's own entrances
    "urls": {"dashboard"},
    "asgi": {"agents", "dashboard", "lib", "publishing", "uploads"},
    "wsgi": set(),
    "settings": {"lib"},
    "worker.celery": set(),
    "worker.beat": {"worker.celery"},
    "__init__": {"worker.celery"},
}
COMPARING = (
    "compare", "statistics", "ratios", "modes", "advice", "judging", "cells", "confounders", "likest", "factors", "method",
    "details", "repetitions",
)  # fmt: skip
TRENDS = ("shape", "noise", "steps", "differences", "trend", "words")
DISCOVERING = (
    "arcconf", "attached", "buses", "cards", "cpuinfo", "dmidecode", "dmsetup", "drives", "ethtool", "findmnt", "found", "host_facts", "joining",
    "layers", "links", "lsblk", "lspci", "lvm", "lvs", "machine", "mdadm", "mdstat", "megacli", "meminfo", "mkfs", "mounts", "nics", "nvme",
    "omreport", "os_release", "printed", "smartctl", "ssacli", "storage", "storcli", "storcli2", "sysctl", "sysfs", "tool_text", "tools", "tw_cli",
    "uname", "vdevs", "volumes", "zpool",
)  # fmt: skip
PURE = [
    "apps/parsers",
    "apps/inventory/editing/numbering.py",
    "apps/inventory/editing/wanted.py",
    "apps/lib/units.py",
    "apps/studies/machine_payloads",
    "apps/studies/tables",
    "apps/studies/reported.py",
    "apps/studies/source.py",
    "apps/studies/planning",
    *(f"apps/comparison/{name}.py" for name in COMPARING),
    *(f"apps/inventory/discovery/{name}.py" for name in DISCOVERING),
    "apps/comparison/caveats",
    "apps/comparison/drawing",
    "apps/inventory/findings",
    "apps/inventory/drawing",
    "apps/inventory/geometry.py",
    "apps/inventory/sharing.py",
    *(
        f"apps/inventory/ceiling{name}.py"
        for name in ("", "_disks", "_links", "_network", "_parts", "_paths", "_rates")
    ),
    "apps/inventory/differences_of",
    "apps/inventory/field_words.py",
    "apps/inventory/bulk/duplicates.py",
    "apps/comparison/claims",
    *(f"apps/comparison/trends/{name}.py" for name in TRENDS),
    "apps/inventory/slots",
    "apps/inventory/raid_plans",
    "apps/inventory/redundancy.py",
    "apps/uploads/reading.py",
    "apps/uploads/tabular.py",
    "apps/uploads/sandbox/child.py",
]
NOT_PURE = {"django", "rest_framework", "celery", "redis", "logging", "datetime.datetime.now", "time", "requests"}


def _place(parts: tuple[str, ...]) -> str:
    if parts[0] == "worker":
        return ".".join(parts[:2])
    return parts[1] if len(parts) > 1 else "__init__"


def _modules(folder: str) -> list[Path]:
    return [path for path in (ROOT / folder).rglob("*.py") if "migrations" not in path.parts]


@cache
def _imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            inside_agent = "worker/agent" in str(path)  # it runs from an archive, under whatever name
            assert node.level == 0 or inside_agent, f"{path}:{node.lineno} imports relatively; name the module in full"
            found += [f"{node.module if not node.level else 'agent'}.{alias.name}" for alias in node.names]
    return found


def edges() -> dict[tuple[str, str], list[str]]:
    """(importing app, imported app) → where."""
    graph = defaultdict(list)
    for path in _modules("apps") + [ROOT / "worker/celery.py", ROOT / "worker/beat.py"]:
        here = _place(path.relative_to(ROOT).with_suffix("").parts)
        for name in _imports(path):
            if name.split(".")[0] in ("apps", "worker"):
                there = _place(tuple(name.split(".")))
                if there != here:
                    graph[here, there].append(str(path.relative_to(ROOT)))
    return graph


def test_every_app_has_a_rule() -> None:
    folders = {path.name for path in (ROOT / "apps").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= set(ALLOWED)


def test_imports_point_one_way() -> None:
    graph = edges()
    assert len(graph) > 15, "the walk found hardly any import: it is broken"
    wrong = {edge: where for edge, where in graph.items() if edge[1] not in ALLOWED[edge[0]]}
    assert not wrong


def test_the_rule_has_no_circle() -> None:
    seen: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"circle: {' → '.join([*path, name])}"
        for other in ALLOWED.get(name, ()):
            visit(other, (*path, name))
        seen.append(name)

    for name in ALLOWED:
        visit(name, ())


def test_the_agent_and_the_server_share_no_code() -> None:
    for path in _modules("worker/agent"):
        assert not [name for name in _imports(path) if name.startswith(("apps", "bin"))], path
    for path in _modules("apps"):
        assert not [name for name in _imports(path) if name.startswith("worker.agent")], path


def test_the_agent_imports_only_the_standard_library() -> None:
    import sys

    allowed = set(sys.stdlib_module_names) | {"worker", "agent"}
    for path in _modules("worker/agent"):
        foreign = [name for name in _imports(path) if name.split(".")[0] not in allowed]
        assert not foreign, f"{path} imports {foreign}"


def test_pure_modules_import_nothing_that_acts() -> None:
    for place in PURE:
        paths = _modules(place) if (ROOT / place).is_dir() else [ROOT / place]
        assert paths
        for path in paths:
            acting = [name for name in _imports(path) if name.split(".")[0] in NOT_PURE]
            assert not acting, f"{path} imports {acting}"


def test_sizes_stay_readable() -> None:
    """Files: median ≤ 80 lines, 90 % ≤ 250, none over 400. Functions: none over 60 lines."""
    paths = _modules("apps") + _modules("worker")
    lengths = sorted(len(path.read_text(encoding="utf-8").splitlines()) for path in paths if path.name != "__init__.py")
    assert lengths[len(lengths) // 2] <= 100
    assert lengths[int(len(lengths) * 0.9)] <= 250
    assert lengths[-1] <= 400
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}:{node.lineno} {node.name} is too long"


if __name__ == "__main__":
    for (importer, imported), where in sorted(edges().items()):
        print(f"{importer:12} → {imported:12} {len(where)} imports")
