"""Imports point one way. The rule is here, every edge of the code is held against it, and nothing can skip it.

Run this file directly to print the graph as it is.
"""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# app → the apps it may import (besides itself)
DOMAIN = {"core", "parsers", "labs", "inventory", "runs"}
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "parsers": {"core"},
    "labs": {"core"},
    "inventory": {"core", "parsers", "labs"},
    "runs": {"core", "parsers", "labs", "inventory"},
    "studies": DOMAIN,
    "agents": DOMAIN | {"studies"},
    "plans": DOMAIN | {"studies", "agents", "comparison", "notifications"},
    "uploads": DOMAIN | {"studies"},
    "comparison": DOMAIN | {"studies"},
    "notifications": {"core", "labs"},
    "trends": DOMAIN | {"comparison", "notifications"},
    "search": DOMAIN | {"studies", "uploads", "comparison"},
    "wiki": DOMAIN | {"studies", "comparison"},
    "api": DOMAIN | {"studies", "agents", "uploads", "comparison", "plans", "search", "trends", "wiki"},
    "dashboard": DOMAIN | {"studies", "agents", "plans", "uploads", "comparison", "trends"},
    # the project's own entrances
    "urls": {"dashboard"},
    "asgi": {"agents", "dashboard", "api", "core"},
    "wsgi": set(),
    "settings": {"core"},
    "worker.celery": set(),
    "worker.beat": {"worker.celery"},
    "__init__": {"worker.celery"},
}
COMPARING = ("compare", "cells", "details", "likeness", "fact_names")
PLANNING = (
    "guards", "matrix", "order", "point_match", "problems", "progress", "saturation/ladder", "schema", "stopping_rule",
    "workload",
)  # fmt: skip
MATCHING = ("answers", "dependence", "fact_codes", "nearest", "run_group", "strata")
TRENDS = ("types", "steps", "differences", "trend", "words")
DISCOVERING = (
    "cards", "host_facts", "models", "readings", "tool_output", "tool_text", "tool_values", "util_linux",
)  # fmt: skip
PURE = [
    "apps/parsers",
    "apps/inventory/editing/edit_request.py",
    "apps/core/units.py",
    "apps/studies/machine_payloads",
    "apps/studies/report",
    "apps/studies/source.py",
    *(f"apps/studies/plans/{name}.py" for name in PLANNING),
    *(f"apps/comparison/{name}.py" for name in COMPARING),
    *(f"apps/inventory/discovery/{name}.py" for name in DISCOVERING),
    "apps/inventory/discovery/storage",
    "apps/inventory/discovery/tools",
    "apps/comparison/caveats",
    "apps/comparison/charts",
    "apps/comparison/statistics",
    *(f"apps/comparison/like_for_like/{name}.py" for name in MATCHING),
    "apps/inventory/findings",
    "apps/inventory/drawing",
    "apps/inventory/topology/geometry.py",
    "apps/inventory/topology/shared_paths.py",
    *(f"apps/inventory/ceilings/{name}.py" for name in ("ceiling", "disks", "parts", "rates")),
    "apps/inventory/snapshots/differences",
    "apps/inventory/fields.py",
    "apps/inventory/bulk/duplicates.py",
    "apps/comparison/claims/checks",
    *(f"apps/trends/{name}.py" for name in TRENDS),
    *(
        f"apps/inventory/slots/{name}.py"
        for name in ("driver_listing", "driver_names", "grid", "layout", "names", "placement", "spans")
    ),
    *(f"apps/inventory/raid_plans/{name}.py" for name in ("commands", "plan", "spread", "wish")),
    "apps/inventory/topology/redundancy.py",
    "apps/plans/scheduler.py",
    "apps/uploads/file_reader.py",
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
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(_tree(path)):
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


REGISTRIES = (
    "apps/comparison/caveats", "apps/comparison/questions", "apps/inventory/discovery/tools", "apps/inventory/findings",
)  # fmt: skip
# The nouns of the field that end like a participle or a gerund, and the rules of registries, which are named for what they see.
NOUNS = {"mapping", "table_mapping", "saved_mapping", "listing", "driver_listing", "ceiling", "drawing"}
NOUN_ENDINGS = ("matching",)


def _product() -> list[Path]:
    return _modules("apps") + _modules("worker")


def test_modules_and_functions_can_be_read() -> None:
    """No file has over 800 lines, no function over 60."""
    for path in _product():
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 800, f"{path} is too long"
        for node in ast.walk(_tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno < 60, f"{path}:{node.lineno} {node.name} is too long"


def test_a_folder_has_at_most_twenty_modules() -> None:
    """Registries, which have a module for each entry, may have more."""
    folders: dict[str, int] = defaultdict(int)
    for path in _product():
        if path.name != "__init__.py":
            folders[str(path.parent.relative_to(ROOT))] += 1
    assert len(folders) > 50
    assert not {folder: n for folder, n in folders.items() if n > 20 and folder not in REGISTRIES}


def test_modules_are_named_by_nouns() -> None:
    paths = [path.relative_to(ROOT) for path in _product()]
    names = [path for path in paths if str(path.parent) not in REGISTRIES and path.stem.endswith(("ing", "ed"))]
    assert not [str(path) for path in names if path.stem not in NOUNS and not path.stem.endswith(NOUN_ENDINGS)]
    assert not [str(path) for path in paths if path.stem.endswith("_test")]


def test_a_class_name_stands_once_in_the_repository() -> None:
    """Management commands are all `Command`, as Django wants it."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in _product():
        for node in _tree(path).body:
            if isinstance(node, ast.ClassDef) and node.name != "Command":
                places[node.name].append(str(path.relative_to(ROOT)))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def _names_of_modules() -> dict[str, Path]:
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in _product()
    }


def _top_imports(path: Path, modules: dict[str, Path]) -> set[str]:
    """Modules that are imported when this one is, without what only type checkers read."""
    found = set()
    for node in _tree(path).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else node.module)
    return found & set(modules)


def test_no_module_imports_itself_by_a_detour() -> None:
    modules = _names_of_modules()
    graph = {name: _top_imports(path, modules) - {name} for name, path in modules.items()}
    assert sum(map(len, graph.values())) > 1000, "the walk found hardly any import: it is broken"
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, f"circle: {' → '.join([*way[way.index(name) :], name])}"
        if name not in done:
            for other in graph[name]:
                visit(other, (*way, name))
            done.add(name)

    for name in graph:
        visit(name, ())


if __name__ == "__main__":
    for (importer, imported), where in sorted(edges().items()):
        print(f"{importer:12} → {imported:12} {len(where)} imports")
