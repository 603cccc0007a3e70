"""Filesystems against each other."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, named, of_fact

# These do not read ahead as their device is set, but by a size of their own: it comes with them.
OWN_READ_AHEAD = ("btrfs", "bcachefs", "zfs", "nfs", "cifs", "smb", "ceph", "fuse", "overlay")


def implied_between(ours: str, theirs: str) -> tuple[str, ...]:
    """Return the read-ahead where one of the filesystems has its own."""
    return ("read_ahead",) if ours.startswith(OWN_READ_AHEAD) or theirs.startswith(OWN_READ_AHEAD) else ()


FACTOR = Factor(
    name="filesystem",
    fact="filesystem",
    title=_("Filesystem"),
    question=_("Which filesystem is faster?"),
    level_of=of_fact("filesystem"),
    asks=STREAMS_FIRST,
    implied=("mkfs_options", "mount_options", "filesystem_*"),
    implied_between=implied_between,
    first=("ext4", "ext3", "xfs"),
    name_of=named({"none": _("no filesystem")}),
)
