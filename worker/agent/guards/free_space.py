"""The filesystem has room for what fio will still write, and a margin."""

import os
from typing import Any, Dict

from ..conf import FREE_MARGIN
from .evidence import FAILED, PASSED, HostFinding, RunSite

KIND, LABEL = "space", "space"


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Compare the free space of the open folder's filesystem with the bytes of the files that do not exist yet."""
    status = os.fstatvfs(site.folder)
    free = status.f_bavail * status.f_frsize
    figures, limits = {"free_bytes": free}, {"needed_bytes": site.wanted_bytes, "margin_bytes": FREE_MARGIN}
    is_enough = free >= site.wanted_bytes + FREE_MARGIN
    text = f"{free} bytes are free; {site.wanted_bytes} and a margin of {FREE_MARGIN} are needed"
    return HostFinding(PASSED if is_enough else FAILED, text, figures, limits)
