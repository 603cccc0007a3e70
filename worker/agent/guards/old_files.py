"""The test files of earlier runs are gone from the directory under test."""

import os
import re
from typing import Any, Dict

from .evidence import FAILED, NOT_CHECKED, PASSED, HostFinding, RunSite

KIND, LABEL = "file_removed", "test file removed"
OF_A_RUN = re.compile(r"attempt-\d+")
MOST = 10  # folders that are named


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Look beside this run's own folder for those of other runs, in which their files would be."""
    if site.is_shared:
        text = "other hosts use this directory too (shared_directory), and whose folders are in it cannot be told"
        return HostFinding(NOT_CHECKED, text, {}, {})
    own, left = os.fstat(site.folder), []
    above = os.open("..", os.O_RDONLY | os.O_DIRECTORY, dir_fd=site.folder)
    try:
        for name in sorted(os.listdir(above)):
            if OF_A_RUN.fullmatch(name) and os.lstat(name, dir_fd=above).st_ino != own.st_ino:
                left.append(name)
    finally:
        os.close(above)
    if left:
        text = f"folders of earlier runs are still there: {', '.join(left[:MOST])}"
        return HostFinding(FAILED, text, {"folders": len(left)}, {"folders": 0})
    return HostFinding(PASSED, "no folder of an earlier run is in the directory", {"folders": 0}, {"folders": 0})
