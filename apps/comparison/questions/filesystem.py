"""Filesystems against each other."""

from django.utils.translation import gettext_lazy as _

from apps.comparison.questions.factor import STREAMS_FIRST, Factor, named, of_fact

FACTOR = Factor(
    name="filesystem",
    fact="filesystem",
    title=_("Filesystem"),
    question=_("Which filesystem is faster?"),
    level_of=of_fact("filesystem"),
    asks=STREAMS_FIRST,
    implied=("mkfs_options", "mount_options", "filesystem_*"),
    first=("ext4", "ext3", "xfs"),
    name_of=named({"none": _("no filesystem")}),
)
