"""A pause before the run: the host is left alone for so many seconds."""

from typing import Any, Dict

from .evidence import PASSED, HostFinding, RunSite, limit, wait

KIND, LABEL = "pause", "pause"
LONGEST_S = 86400.0


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Sleep; a cancelled run ends meanwhile."""
    seconds = limit(asked, "seconds", 0.0, 0.0, LONGEST_S)
    took = wait(seconds, site.sleep)
    return HostFinding(PASSED, f"waited {took:.1f} s", {"seconds": round(took, 3)}, {"seconds": seconds})
