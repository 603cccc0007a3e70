"""Archives, read without unpacking them anywhere: one member in memory at a time, nothing written.

    for found in members(file, Limits(), "results.tar.gz"):
        if isinstance(found, Refusal): …

zip, tar, gz, bz2, xz and zst, and these in each other. There is no clock here: every limit counts bytes, entries and
levels, so that the same upload always gives the same answer; hostile archives are refused in well under 2 s because
they reach a limit before there is much work.
"""

from apps.parsers.archives.kinds import HEAD, is_archive
from apps.parsers.archives.shape import Limits, Member, Refusal
from apps.parsers.archives.walk import members

__all__ = ["HEAD", "Limits", "Member", "Refusal", "is_archive", "members"]
