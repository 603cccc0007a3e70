"""The options that every workload has: those that most jobs set."""

from apps.parsers.fio.job_options.kinds import KIB, MIB, TIB, ByteSize, Duration, OneOf, WholeNumber, YesOrNo
from apps.parsers.fio.job_options.option import REQUIRED, FioOption, FormSection, OptionGroup, Written

PATTERNS = {
    "read": "sequential read", "write": "sequential write", "randread": "random read", "randwrite": "random write",
    "rw": "sequential mix", "randrw": "random mix",
}  # fmt: skip
# Those that have one I/O under way at a time, those that have several, and those that only work on names and sizes.
ONE_AT_A_TIME = ("psync", "sync", "pvsync", "pvsync2", "mmap", "vsync", "splice")
METADATA = ("falloc", "ftruncate", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete")
ENGINES = (
    "psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null", "vsync", "splice", *METADATA,
)  # fmt: skip
SYNCS = {
    "none": "none", "fsync": "fsync after writes", "fdatasync": "fdatasync after writes", "dsync": "O_DSYNC",
    "sync": "O_SYNC",
}  # fmt: skip
MAIN, CHECKS, MORE = FormSection.MAIN, FormSection.CHECKS, FormSection.MORE
LONGEST_RUN = 31 * 86400  # seconds; a host's own limit is usually a day
SECOND = 10**6

# In the order of the form and of the job file.
USUAL = (
    FioOption(
        "rw", OneOf(PATTERNS, {"readwrite": "rw"}), REQUIRED, Written.ALWAYS, "", MAIN, "Pattern", initial="randread",
        aliases=("readwrite",),
    ),
    FioOption(
        "block_size", ByteSize(512, 16 * MIB, 512), REQUIRED, Written.ALWAYS, "bs", MAIN, "Block size",
        "bytes per I/O, 4k = 4096", "4k", aliases=("blocksize",),
    ),
    FioOption(
        "file_size", ByteSize(4 * KIB, 64 * TIB), REQUIRED, Written.ALWAYS, "size", MAIN, "File size",
        "larger than RAM, or use direct I/O", "1g",
    ),
    FioOption(
        "runtime", Duration(1, LONGEST_RUN, is_optional=True, unit=SECOND), None, Written.IF_CHANGED, "", MAIN,
        "Runtime, s", "empty: one pass over the file", 30, aliases=("timeout",),
    ),
    FioOption(
        "ioengine", OneOf({word: word for word in ENGINES}), "psync", Written.ALWAYS, "", MAIN, "Engine",
        initial="psync",
    ),
    FioOption(
        "iodepth", WholeNumber(1, 4096), 1, Written.ALWAYS, "", MAIN, "I/O depth", "above 1: asynchronous engine", 1
    ),
    FioOption("numjobs", WholeNumber(1, 256), 1, Written.ALWAYS, "", MAIN, "Jobs (numjobs)", initial=1),
    FioOption("sync", OneOf(SYNCS), "none", Written.WITH_SYNC, "", MAIN, "Sync", initial="none"),
    FioOption("direct", YesOrNo(), True, Written.ALWAYS, "", CHECKS, "direct I/O (bypass page cache)", initial=True),
    FioOption("time_based", YesOrNo(), False, Written.IF_TRUE, "", CHECKS, "time-based", initial=True),
    FioOption("end_fsync", YesOrNo(), False, Written.IF_TRUE, "", CHECKS, "fsync at the end"),
    FioOption(
        "ramp_time", Duration(0, LONGEST_RUN, unit=SECOND), 0, Written.IF_CHANGED, "", MORE, "Ramp time, s",
        "not counted", 0,
    ),
    FioOption(
        "rwmixread", WholeNumber(0, 100, is_optional=True), None, Written.IF_CHANGED, "", MORE, "Reads in the mix, %"
    ),
    FioOption(
        "fsync_every", WholeNumber(0, 1_000_000), 0, Written.WITH_SYNC, "", MORE, "Sync after n writes",
        "fsync and fdatasync only", 0,
    ),
    FioOption(
        "randseed", WholeNumber(1, 2**31 - 1, is_optional=True), None, Written.IF_CHANGED, "", MORE, "Random seed",
        "empty: fio's own",
    ),
    FioOption(
        "group_reporting", YesOrNo(), True, Written.IF_TRUE, "", FormSection.RARE, "One result for all of its processes",
        group=OptionGroup.TIME,
    ),
    FioOption(
        "stonewall", YesOrNo(), True, Written.LAST, "", FormSection.RARE, "Begins after the jobs above have ended",
        group=OptionGroup.TIME, aliases=("wait_for_previous",),
    ),
)  # fmt: skip
