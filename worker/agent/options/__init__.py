"""The options of fio that this host knows: the values of each, and when it stands in the job file.

A key that is not in OPTIONS is refused by name, so that a new option of fio or of the server adds nothing here. What is refused with
a reason is in refusals.py.
"""

from typing import Any, Dict, List, NamedTuple, Tuple

from .kinds import (
    Bounds,
    Rule,
    access_shares,
    boolean,
    error_lists,
    hex_pattern,
    integer,
    memory_nodes,
    number,
    number_list,
    number_set,
    or_null,
    power_of_two,
    size_ranges,
    size_shares,
    steady_limit,
    word,
    word_list,
    word_with_numbers,
)

MIB = 1024 * 1024
GIB = 1024 * MIB
TIB = 1024 * GIB
LONGEST_RUN, HOUR, MANY = 31 * 86400, 3600 * 10**6, 2**31 - 1  # seconds, microseconds, what fits into fio's integers

REQUIRED = object()
# When the job file has the option: always, if it is not null, if it is not zero or false. `sync` and `fsync_every` make a
# line together, which `_sync` writes; BEHIND is in the line of another option.
ALWAYS, NOT_NULL, NOT_ZERO, WITH_SYNC, BEHIND = "always", "not null", "not zero", "with sync", "behind"
FOLLOWERS = {"block_size": ("write_block_size", ","), "rw": ("rw_step", ":")}


class AgentOption(NamedTuple):
    """An option: its rule, the value when it is left out, when it is written, fio's name for it, and the engines that have it.

    A job has a rare one only where it is not at its default, which is fio's.
    """

    rule: Rule
    default: Any
    written: str
    fio_name: str
    engines: Tuple[str, ...] = ()
    is_rare: bool = False


def rare(
    rule: Rule, default: Any, fio_name: str = "", written: str = NOT_NULL, engines: Tuple[str, ...] = ()
) -> AgentOption:
    return AgentOption(rule, default, written, fio_name, engines, True)


# Those that have one I/O under way at a time, and those that only work on names and sizes.
ONE_AT_A_TIME = ("psync", "sync", "pvsync", "pvsync2", "mmap", "vsync", "splice")
METADATA = ("falloc", "ftruncate", "filecreate", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete")
ENGINES = (
    "psync", "sync", "pvsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap", "null", "vsync", "splice",
) + METADATA  # fmt: skip

SERVICES: Bounds = {
    "roundrobin": ((1, MANY),), "random": ((1, MANY),), "sequential": ((1, MANY),), "zipf": ((0.000001, 100.0),),
    "pareto": ((0.000001, 0.999999),), "normal": ((0.000001, 99.999999),), "gauss": ((0.000001, 99.999999),),
}  # fmt: skip
THETA, SHARE = ((0.000001, 100.0), (0.0, 1.0)), ((0.000001, 0.999999), (0.0, 1.0))
DISTRIBUTIONS: Bounds = {"random": (), "zipf": THETA, "pareto": SHARE, "normal": ((0.0, 99.999999), (0.0, 1.0))}
CHECKSUMS = (
    "none", "md5", "crc64", "crc32c", "crc32c-intel", "crc32", "crc16", "crc7", "xxhash",
    "meta", "sha512", "sha256", "sha1", "sha3-224", "sha3-256", "sha3-384", "sha3-512", "pattern", "pattern_hdr", "null",
)  # fmt: skip

# `name` is checked apart: it is made from the job's position. The order is that of the job file.
OPTIONS: Dict[str, AgentOption] = {
    "rw": AgentOption(word("read", "write", "randread", "randwrite", "rw", "randrw"), REQUIRED, ALWAYS, "rw"),
    "block_size": AgentOption(integer(512, 16 * MIB, 512), REQUIRED, ALWAYS, "bs"),
    "file_size": AgentOption(integer(4096, 64 * TIB), REQUIRED, ALWAYS, "size"),
    "ioengine": AgentOption(word(*ENGINES), "psync", ALWAYS, "ioengine"),
    "iodepth": AgentOption(integer(1, 4096), 1, ALWAYS, "iodepth"),
    "numjobs": AgentOption(integer(1, 256), 1, ALWAYS, "numjobs"),
    "direct": AgentOption(boolean(), True, ALWAYS, "direct"),
    "runtime": AgentOption(or_null(integer(1, LONGEST_RUN)), None, NOT_NULL, "runtime"),
    "rwmixread": AgentOption(or_null(integer(0, 100)), None, NOT_NULL, "rwmixread"),
    "randseed": AgentOption(or_null(integer(1, MANY)), None, NOT_NULL, "randseed"),
    "ramp_time": AgentOption(integer(0, LONGEST_RUN), 0, NOT_ZERO, "ramp_time"),
    "sync": AgentOption(word("none", "fsync", "fdatasync", "dsync", "sync"), "none", WITH_SYNC, "sync"),
    "fsync_every": AgentOption(integer(0, 1000000), 0, WITH_SYNC, "fsync"),
    "time_based": AgentOption(boolean(), False, NOT_ZERO, "time_based"),
    "end_fsync": AgentOption(boolean(), False, NOT_ZERO, "end_fsync"),
    "group_reporting": AgentOption(boolean(), True, NOT_ZERO, "group_reporting"),
    "stonewall": AgentOption(boolean(), True, NOT_ZERO, "stonewall"),
    # files and layout
    "nrfiles": rare(integer(1, 10000), 1),
    "size_per_file": rare(integer(4096, 64 * TIB), None, fio_name="filesize"),
    "openfiles": rare(integer(1, 1024), None),
    "file_service_type": rare(word_with_numbers(SERVICES), None),
    "lockfile": rare(word("none", "exclusive", "readwrite"), "none"),
    "fallocate": rare(word("none", "native", "posix", "keep", "truncate"), "native"),
    "fadvise_hint": rare(word("0", "1", "random", "sequential", "noreuse"), "1"),
    "write_hint": rare(word("none", "short", "medium", "long", "extreme"), "none"),
    "invalidate": rare(boolean(), True),
    "pre_read": rare(boolean(), False),
    "overwrite": rare(boolean(), False),
    "file_append": rare(boolean(), False),
    "create_serialize": rare(boolean(), True),
    "create_fsync": rare(boolean(), True),
    "create_on_open": rare(boolean(), False),
    "create_only": rare(boolean(), False),
    "fsync_on_close": rare(boolean(), False),
    "sync_file_range": rare(word_list(("wait_before", "write", "wait_after"), MANY), None),
    # block sizes and offsets
    "write_block_size": rare(integer(512, 16 * MIB, 512), None, written=BEHIND),
    "bsrange": rare(size_ranges(512, 16 * MIB), None),
    "bssplit": rare(size_shares(512, 16 * MIB), None),
    "ba": rare(integer(512, 16 * MIB, 512), None),
    "bs_unaligned": rare(boolean(), False),
    "bs_is_seq_rand": rare(boolean(), False),
    "rw_step": rare(integer(1, GIB), None, written=BEHIND),
    "rw_sequencer": rare(word("sequential", "identical"), "sequential"),
    "offset": rare(integer(0, 64 * TIB, 512), 0),
    "offset_align": rare(integer(0, GIB, 512), 0),
    "offset_increment": rare(integer(0, TIB, 512), 0),
    "io_size": rare(integer(512, 1024 * TIB), None),
    "number_ios": rare(integer(1, TIB), None),
    "zonemode": rare(word("none", "strided"), "none"),
    "zonesize": rare(integer(512, TIB, 512), None),
    "zonerange": rare(integer(512, TIB, 512), None),
    "zoneskip": rare(integer(0, TIB, 512), 0),
    # random order
    "random_distribution": rare(access_shares(word_with_numbers(DISTRIBUTIONS, 1)), None),
    "percentage_random": rare(number_list(0, 100), None),
    "norandommap": rare(boolean(), False),
    "softrandommap": rare(boolean(), False),
    "randrepeat": rare(boolean(), True),
    "random_generator": rare(word("tausworthe", "lfsr", "tausworthe64"), "tausworthe"),
    "random_sequence_stride": rare(boolean(), False),
    # queue
    "iodepth_batch": rare(integer(1, 4096), 1),
    "iodepth_batch_complete_min": rare(integer(0, 4096), 1),
    "iodepth_batch_complete_max": rare(integer(0, 4096), None),
    "iodepth_low": rare(integer(1, 4096), None),
    "io_submit_mode": rare(word("inline", "offload"), "inline"),
    "serialize_overlap": rare(boolean(), False),
    # rates, waiting and latency targets
    "rate": rare(number_list(0, TIB), None),
    "rate_min": rare(number_list(0, TIB), None),
    "rate_iops": rare(number_list(0, MANY), None),
    "rate_iops_min": rare(number_list(0, MANY), None),
    "rate_process": rare(word("linear", "poisson"), "linear"),
    "rate_cycle": rare(integer(1, 3600000), 1000),
    "rate_ignore_thinktime": rare(boolean(), False),
    "thinktime": rare(integer(0, HOUR), 0),
    "thinktime_spin": rare(integer(0, HOUR), 0),
    "thinktime_blocks": rare(integer(1, MANY), 1),
    "thinktime_blocks_type": rare(word("complete", "issue"), "complete"),
    "thinktime_iotime": rare(integer(0, HOUR), 0),
    "thinkcycles": rare(integer(0, MANY), 0),
    "max_latency": rare(integer(1, HOUR), None),
    "latency_target": rare(integer(1, HOUR), None),
    "latency_window": rare(integer(1, HOUR), None),
    "latency_percentile": rare(number(0.0, 100.0), None),
    "latency_run": rare(boolean(), False),
    # start, end and order of jobs
    "startdelay": rare(integer(0, LONGEST_RUN), 0),
    "loops": rare(integer(1, 100), 1),
    "ramp_size": rare(integer(1, 64 * TIB), None),
    "new_group": rare(boolean(), False),
    "thread": rare(boolean(), False),
    "exitall": rare(boolean(), False),
    "exit_what": rare(word("group", "stonewall", "all"), "group"),
    "exitall_on_error": rare(boolean(), False),
    "flow": rare(integer(0, 1000), 0),
    "flow_id": rare(integer(0, 1000), 0),
    "flow_sleep": rare(integer(0, HOUR), 0),
    "steadystate": rare(steady_limit("iops", "iops_slope", "bw", "bw_slope", "lat", "lat_slope"), None),
    "steadystate_duration": rare(integer(2, LONGEST_RUN), None),
    "steadystate_ramp_time": rare(integer(0, LONGEST_RUN), 0),
    "steadystate_check_interval": rare(integer(1, 3600), 1),
    # data in the buffers
    "zero_buffers": rare(boolean(), False),
    "refill_buffers": rare(boolean(), False),
    "scramble_buffers": rare(boolean(), True),
    "buffer_pattern": rare(hex_pattern(), None),
    "buffer_compress_percentage": rare(integer(0, 100), None),
    "buffer_compress_chunk": rare(integer(4, 16 * MIB, 4), 512),
    "dedupe_percentage": rare(integer(0, 100), None),
    "dedupe_mode": rare(word("repeat", "working_set"), "repeat"),
    "dedupe_working_set_percentage": rare(integer(0, 100), 5),
    "dedupe_global": rare(boolean(), False),
    # verification
    "verify": rare(word(*CHECKSUMS), "none"),
    "do_verify": rare(boolean(), True),
    "verify_only": rare(boolean(), False),
    "verify_pattern": rare(hex_pattern(), None),
    "verify_pattern_interval": rare(boolean(), False),
    "verify_interval": rare(integer(512, 16 * MIB, 512), None),
    "verify_offset": rare(integer(64, 16 * MIB, 8), None),
    "verify_fatal": rare(boolean(), False),
    "verify_async": rare(integer(0, 8), 0),
    "verify_backlog": rare(integer(1, MANY), None),
    "verify_backlog_batch": rare(integer(1, MANY), None),
    "verify_header_seed": rare(boolean(), True),
    "verify_write_sequence": rare(boolean(), True),
    "verify_policy": rare(word_list(("completed", "fsynced")), None),
    # CPUs and memory
    "nice": rare(integer(0, 19), 0),
    "mem": rare(word("malloc", "shm", "mmap"), "malloc"),
    "mem_align": rare(power_of_two(512, 2 * MIB), None),
    "cpus_allowed": rare(number_set(4095), None),
    "cpus_allowed_policy": rare(word("shared", "split"), "shared"),
    "numa_cpu_nodes": rare(number_set(1023, 64), None),
    "numa_mem_policy": rare(memory_nodes(), None),
    "atomic": rare(boolean(), False),
    # errors
    "continue_on_error": rare(word("none", "read", "write", "io", "verify", "all"), "none"),
    "ignore_error": rare(error_lists(), None),
    "error_dump": rare(boolean(), False),
    # options of one engine
    "hipri": rare(
        boolean(),
        False,
        engines=(
            "io_uring",
            "pvsync2",
        ),
    ),
    "hipri_percentage": rare(integer(0, 100), 100, engines=("pvsync2",)),
    "fixedbufs": rare(boolean(), False, engines=("io_uring",)),
    "registerfiles": rare(boolean(), False, engines=("io_uring",)),
    "nonvectored": rare(boolean(), None, engines=("io_uring",)),
    "force_async": rare(integer(0, MANY), 0, engines=("io_uring",)),
    "nowait": rare(
        boolean(),
        False,
        engines=(
            "libaio",
            "io_uring",
            "pvsync2",
        ),
    ),
    "uncached": rare(
        boolean(),
        False,
        engines=(
            "io_uring",
            "pvsync2",
        ),
    ),
    "userspace_reap": rare(boolean(), False, engines=("libaio",)),
    "libaio_vectored": rare(boolean(), False, engines=("libaio",)),
    "thp": rare(boolean(), False, engines=("mmap",)),
    "stat_type": rare(
        word("stat", "lstat", "statx"),
        "stat",
        engines=(
            "filestat",
            "dirstat",
        ),
    ),
}
ENGINES_OF = {name: option.engines for name, option in OPTIONS.items() if option.engines}


def value_of(job: Dict[str, Any], name: str) -> Any:
    """Return an option of a checked job, which is its default where the job has none."""
    return job.get(name, OPTIONS[name].default)


def fio_name(name: str) -> str:
    return OPTIONS[name].fio_name or name


def lines_of(job: Dict[str, Any]) -> List[Tuple[str, str]]:
    """Return fio's options of a checked job with their values, in order, but for those that the agent adds."""
    lines: List[Tuple[str, str]] = []
    for key, option in OPTIONS.items():
        if option.written == WITH_SYNC:
            lines += _sync(job) if key == "sync" else []
        elif option.written != BEHIND and _is_written(option, job, key):
            follower, sign = FOLLOWERS.get(key, ("", ""))
            more = sign + OPTIONS[follower].rule.spell(job[follower]) if follower in job else ""
            lines.append((fio_name(key), option.rule.spell(job[key]) + more))
    return lines


def _is_written(option: AgentOption, job: Dict[str, Any], key: str) -> bool:
    value = job.get(key)
    return option.written == ALWAYS or (value is not None if option.written == NOT_NULL else bool(value))


def _sync(job: Dict[str, Any]) -> List[Tuple[str, str]]:
    if job["sync"] in ("fsync", "fdatasync"):
        return [(job["sync"], str(job["fsync_every"] or 1))]
    return [] if job["sync"] == "none" else [("sync", job["sync"])]
