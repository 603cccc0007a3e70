"""What each guard is called, in one place: on pages, in REST, in evidence and in the reasons of runs."""

LABELS = {
    "idle": "idle host",
    "users_out": "users out",
    "queues_off": "queues off",
    "fresh_system": "fresh system",
    "alone": "no other benchmark",
    "cache_rule": "cache rule",
    "caches_dropped": "caches dropped",
    "file_removed": "test file removed",
    "array_settled": "array settled",
    "preconditioned": "preconditioned",
    "space": "space",
    "filesystem": "filesystem as planned",
    "temperature": "temperature",
    "pause": "pause",
}


def label_guard(kind: str) -> str:
    """Return what people call a guard; of a kind that a newer agent or server had, its own name in words."""
    return LABELS.get(kind, kind.replace("_", " "))
