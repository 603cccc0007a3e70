"""Archives, read without unpacking them anywhere: one member in memory at a time, nothing written to disk.

    for result in iterate_members(file, ArchiveLimits(), "results.tar.gz"):
        if isinstance(result, ArchiveRefusal): …

zip, tar, gz, bz2, xz and zst are read, and these inside each other. There is no clock here: every limit counts bytes,
entries or levels, so that the same upload always gives the same result. Hostile archives are refused in well under 2 s,
because they reach a limit before there is much work.
"""

from apps.parsers.archives.kinds import HEAD, detect_archive
from apps.parsers.archives.models import ArchiveLimits, ArchiveMember, ArchiveRefusal
from apps.parsers.archives.walk import iterate_members

__all__ = ["HEAD", "ArchiveLimits", "ArchiveMember", "ArchiveRefusal", "detect_archive", "iterate_members"]
