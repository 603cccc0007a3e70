"""The run's own test files are out of the page cache: dropped, then read back page by page with mincore(2).

Since Linux 5.2 mincore tells the truth only of files that the caller may write, which these are. fio's `invalidate` drops them
once more when it opens them; what a filesystem caches elsewhere (ZFS in its ARC) is not seen here.

Where the host's administrator allows it (allow_drop_caches in probe.conf), the root probe is asked first to drop the whole page cache, with
inodes and directory entries; what it answers is evidence, and so is that it may not.
"""

import mmap
import os
from typing import Any, Dict, Optional

from ..admin import probe
from ..conf import PROBE_FOLDER
from .evidence import FAILED, NOT_CHECKED, PASSED, Figures, HostFinding, RunSite

KIND, LABEL = "caches_dropped", "caches dropped"
WINDOW = 1024 * mmap.PAGESIZE * 64  # bytes that are mapped at once: a byte of memory for each of its pages
OWN_CACHES = {
    "zfs": "ZFS caches in its ARC, which cannot be read back",
    "tmpfs": "tmpfs is memory",
    "ramfs": "ramfs is memory",
}


def check(asked: Dict[str, Any], site: RunSite) -> HostFinding:
    """Ask the probe to drop everything, drop the run's files, and count their pages in memory before and after."""
    dropped: Figures = {}
    words = ask_probe(site, dropped)
    finding = check_files(site)
    return finding._replace(text=f"{finding.text}; {words}", figures=dict(finding.figures, **dropped))


def ask_probe(site: RunSite, figures: Figures) -> str:
    """Let the host's root probe drop the whole page cache; return in words what came of it, and add the figures."""
    try:
        answer = probe.ask_to_drop_caches(site.state, site.probe_folder or PROBE_FOLDER, sleep=site.sleep)
    except OSError as problem:
        answer = {"reason": f"the probe could not be asked: {problem}"}
    if not answer.get("done"):
        return (
            f"the whole page cache was not dropped: {str(answer.get('reason') or 'the probe does not say why')[:300]}"
        )
    for name in ("cached_before", "cached_after"):
        if type(answer.get(name)) is int:
            figures[name] = answer[name]
    sizes = " to ".join(
        f"{figures[name] / 1e9:.3g} GB" for name in ("cached_before", "cached_after") if name in figures
    )
    return f"the host's probe dropped the whole page cache{', from ' + sizes if sizes else ''}"


def check_files(site: RunSite) -> HostFinding:
    """Write out and drop the run's files, and count their pages in memory before and after."""
    reason = OWN_CACHES.get(str(site.place.get("type")))
    if reason:
        return HostFinding(NOT_CHECKED, reason, {}, {})
    if not site.files:
        text = "no test file exists yet: fio makes it anew, so that no page of it can be in memory"
        return HostFinding(PASSED, text, {"files": 0, "resident_pages": 0}, {"resident_pages": 0})
    figures: Figures = {"files": len(site.files), "pages": 0, "resident_before": 0, "resident_pages": 0}
    for name, _ in site.files:
        problem = drop(site.folder, name, figures)
        if problem:
            return HostFinding(NOT_CHECKED, problem, {}, {})
    left, pages = figures["resident_pages"], figures["pages"]
    text = f"{left} of {pages} pages of the test files in memory after dropping, {figures['resident_before']} before (mincore)"
    return HostFinding(FAILED if left else PASSED, text, figures, {"resident_pages": 0})


def drop(folder: int, name: str, figures: Figures) -> str:
    """Drop one file from the page cache and add its pages to the figures. Why it could not be read back; '' if it could."""
    handle = os.open(name, os.O_RDWR | os.O_NOFOLLOW, dir_fd=folder)
    try:
        size = os.fstat(handle).st_size
        before = resident_pages(handle, size)
        os.fdatasync(handle)  # a page that is not on disk yet cannot be dropped
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        after = resident_pages(handle, size)
    finally:
        os.close(handle)
    if before is None or after is None:
        return (
            "the page cache could not be read back: no ctypes, or mincore refused (run install.sh again for the unit)"
        )
    figures["pages"] += -(-size // mmap.PAGESIZE)
    figures["resident_before"] += before
    figures["resident_pages"] += after
    return ""


def resident_pages(handle: int, size: int) -> Optional[int]:
    """Return how many pages of an open file are in memory, or None where that cannot be read."""
    try:
        import ctypes  # here: some Pythons are built without it

        libc = ctypes.CDLL(None, use_errno=True)
        count = 0
        for offset in range(0, size, WINDOW):
            length = min(WINDOW, size - offset)
            pages = -(-length // mmap.PAGESIZE)
            with mmap.mmap(handle, length, access=mmap.ACCESS_COPY, offset=offset) as mapped:
                first = ctypes.c_char.from_buffer(mapped)
                states = (ctypes.c_ubyte * pages)()
                failed = libc.mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(length), states)
                del first  # or the mapping could not be closed
            if failed:
                return None
            count += sum(state & 1 for state in bytes(states))
        return count
    except (ImportError, OSError, ValueError, AttributeError):
        return None
