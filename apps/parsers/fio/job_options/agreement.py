"""Whether the options of a job go together, and what a job needs of files and memory.

The host checks the same with the same text, `worker/agent/options/agreement.py`; only the line that imports the defaults differs.
"""

from typing import Any, Dict, Iterator, List, Tuple

from apps.parsers.fio.job_options.defaults import ENGINES_OF, METADATA, ONE_AT_A_TIME, value_of

Job = Dict[str, Any]
RANDOM = ("randread", "randwrite", "randrw")
WRITING = ("write", "randwrite", "rw", "randrw")
MIXED = ("rw", "randrw")
IN_MAP, OF_PIECE = 8, 128  # blocks in a byte of the random map; bytes that fio notes of a write that it will verify
OF_SEED = 48  # bytes that fio keeps of each block of a working set for dedupe (struct frand_state)

# An option and the one without which it would do nothing, though it looked as if it had been applied.
NEEDS = {
    "openfiles": "nrfiles", "file_service_type": "nrfiles", "bs_is_seq_rand": "write_block_size",
    "bs_unaligned": "bsrange", "rw_sequencer": "rw_step", "zonesize": "zonemode", "zonerange": "zonemode",
    "zoneskip": "zonemode", "thinktime_spin": "thinktime", "thinktime_blocks": "thinktime",
    "thinktime_blocks_type": "thinktime", "thinktime_iotime": "thinktime", "latency_window": "latency_target",
    "latency_percentile": "latency_target", "latency_run": "latency_target", "exit_what": "exitall", "flow_id": "flow",
    "flow_sleep": "flow", "steadystate": "steadystate_duration", "steadystate_duration": "steadystate",
    "steadystate_ramp_time": "steadystate", "steadystate_check_interval": "steadystate",
    "buffer_compress_chunk": "buffer_compress_percentage", "dedupe_mode": "dedupe_percentage",
    "dedupe_working_set_percentage": "dedupe_mode", "dedupe_global": "dedupe_mode", "do_verify": "verify",
    "verify_only": "verify", "verify_pattern": "verify", "verify_pattern_interval": "verify_pattern",
    "verify_interval": "verify", "verify_offset": "verify", "verify_fatal": "verify", "verify_async": "verify",
    "verify_backlog": "verify", "verify_backlog_batch": "verify_backlog", "verify_header_seed": "verify",
    "verify_write_sequence": "verify", "verify_policy": "verify", "cpus_allowed_policy": "cpus_allowed",
    "hipri_percentage": "hipri", "random_sequence_stride": "random_distribution",
}  # fmt: skip
ONLY_RANDOM = (
    "ba", "random_distribution", "percentage_random", "norandommap", "softrandommap", "random_generator",
    "random_sequence_stride",
)  # fmt: skip


def disagreements(job: Job) -> Iterator[Tuple[str, str]]:
    """Yield an option and what would be expected of it, for all that do not go together in a job."""
    for check in (_usual, _needs, _order, _sizes, _files, _queue, _rates, _steady, _data, _verify, _host):
        yield from check(job)


def is_set(job: Job, name: str) -> bool:
    """Return whether a job has an option at another value than its default."""
    return name in job and job[name] != value_of({}, name)


def _usual(job: Job) -> Iterator[Tuple[str, str]]:
    if job["time_based"] and job["runtime"] is None:
        yield "time_based", "false, because there is no runtime"
    if job["direct"] and job["ioengine"] == "mmap":
        yield "direct", "false: mmap goes through the page cache"
    if job["fsync_every"] and job["sync"] not in ("fsync", "fdatasync"):
        yield "fsync_every", "0, unless sync is fsync or fdatasync"
    if job["rwmixread"] is not None and job["rw"] not in MIXED:
        yield "rwmixread", "no mix, unless rw is rw or randrw"
    if job["ioengine"] == "ftruncate" and job["rw"] not in ("write", "randwrite"):
        yield "rw", "write or randwrite: ftruncate does nothing else"


def _needs(job: Job) -> Iterator[Tuple[str, str]]:
    for name in job:
        engines = ENGINES_OF.get(name, ())
        if engines and is_set(job, name) and job["ioengine"] not in engines:
            yield name, "nothing, unless ioengine is " + " or ".join(engines)
        if name in NEEDS and is_set(job, name) and not is_set(job, NEEDS[name]):
            yield name, "nothing without " + NEEDS[name]
        if name in ONLY_RANDOM and is_set(job, name) and job["rw"] not in RANDOM:
            yield name, "nothing, unless rw is " + " or ".join(RANDOM)


def _order(job: Job) -> Iterator[Tuple[str, str]]:
    for name in ("random_distribution", "file_service_type"):
        if name in job and job[name][0] == "zipf" and job[name][1:2] == [1]:
            yield name, "zipf with another number than 1"
    if is_set(job, "random_sequence_stride") and value_of(job, "random_distribution")[0] != "sequence":
        yield "random_sequence_stride", "false, unless random_distribution is a sequence"


def _sizes(job: Job) -> Iterator[Tuple[str, str]]:
    sizes, one_file = block_sizes(job), size_of_file(job)
    if max(sizes) > one_file:
        name = next(name for name in ("bssplit", "bsrange", "write_block_size", "block_size") if name in job)
        yield name, "at most the file size, %d" % one_file
    for name in ("bssplit", "write_block_size"):
        if name in job and "bsrange" in job:
            yield name, "nothing beside bsrange"
    if job.get("rw_step", 0) % 512 and job["rw"] not in RANDOM:
        yield "rw_step", "a multiple of 512, unless rw is " + " or ".join(RANDOM)
    if "bssplit" in job and "write_block_size" in job:
        yield "write_block_size", "nothing beside bssplit"
    if is_set(job, "bs_unaligned") and job["direct"]:
        yield "bs_unaligned", "false with direct I/O"
    if "ba" in job and not value_of(job, "norandommap"):
        yield "ba", "nothing, unless norandommap is true"


def _files(job: Job) -> Iterator[Tuple[str, str]]:
    sizes, one_file = block_sizes(job), size_of_file(job)
    files = value_of(job, "nrfiles")
    if "size_per_file" in job:
        if job["file_size"] > files * job["size_per_file"]:
            yield "file_size", "at most that of all files, %d" % (files * job["size_per_file"])
        if last_offset(job) + max(sizes) > job["size_per_file"]:
            yield "offset", "less than the size of a file, with its increments and a block"
    elif job["file_size"] % files:
        yield "file_size", "a multiple of nrfiles, %d" % files
    if job.get("openfiles", 1) > files:
        yield "openfiles", "at most nrfiles, %d" % files
    if is_set(job, "zonemode"):
        order = [max(sizes), job.get("zonesize", 0), job.get("zonerange", job.get("zonesize", 0)), one_file]
        if "zonesize" not in job or files > 1:
            yield "zonemode", "none, unless there is a zonesize and a single file"
        elif sorted(order) != order:
            yield "zonesize", "at least a block, and at most the zonerange, which is at most the file"
    if is_set(job, "file_append") and (job["rw"] not in WRITING or job["ioengine"] == "mmap"):
        yield "file_append", "false, unless rw writes and ioengine is not mmap"


def _queue(job: Job) -> Iterator[Tuple[str, str]]:
    is_offloaded = value_of(job, "io_submit_mode") == "offload"
    if job["iodepth"] > 1 and job["ioengine"] in ONE_AT_A_TIME + METADATA and not is_offloaded:
        yield "iodepth", "1: %s has one I/O under way at a time" % job["ioengine"]
    for name in ("iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max", "iodepth_low"):
        if job.get(name, 0) > job["iodepth"]:
            yield name, "at most the iodepth, %d" % job["iodepth"]
    if value_of(job, "iodepth_batch_complete_min") > job.get("iodepth_batch_complete_max", job["iodepth"]):
        yield "iodepth_batch_complete_max", "at least iodepth_batch_complete_min"


def _rates(job: Job) -> Iterator[Tuple[str, str]]:
    for name, other in (("rate", "rate_iops"), ("rate_min", "rate_iops_min")):
        if any(job.get(name, ())) and any(job.get(other, ())):
            yield other, "nothing beside " + name
    for name, most in (("rate_min", "rate"), ("rate_iops_min", "rate_iops")):
        for least, limit in zip(both(job.get(name, [0])), both(job.get(most, [0]))):
            if limit and least > limit:
                yield name, "at most the " + most
    if value_of(job, "thinktime_spin") > value_of(job, "thinktime"):
        yield "thinktime_spin", "at most the thinktime"


def _steady(job: Job) -> Iterator[Tuple[str, str]]:
    if "steadystate_duration" in job:
        every, length = value_of(job, "steadystate_check_interval"), job["steadystate_duration"]
        if length <= every or length % every:
            yield "steadystate_duration", "a multiple of steadystate_check_interval, and more than it"


def _data(job: Job) -> Iterator[Tuple[str, str]]:
    if is_set(job, "dedupe_mode"):
        unique = value_of(job, "dedupe_working_set_percentage")
        if value_of(job, "nrfiles") > 1:
            yield "dedupe_mode", "repeat with several files"
        if (value_of(job, "dedupe_percentage") or 0) + unique > 100:
            yield "dedupe_percentage", "at most 100 together with dedupe_working_set_percentage"


def _verify(job: Job) -> Iterator[Tuple[str, str]]:
    if not is_set(job, "verify"):
        return
    sizes = block_sizes(job)
    if job["rw"] not in WRITING or job["ioengine"] in METADATA:
        yield "verify", "none, unless rw writes data"
    if value_of(job, "do_verify") and job["time_based"] and job["rw"] not in MIXED and "verify_backlog" not in job:
        yield "verify_backlog", "a number of writes, because time_based leaves no time to verify at the end"
    if len(sizes) > 1 and value_of(job, "norandommap"):
        yield "norandommap", "false with verify and several block sizes"
    if len(sizes) > 1 and job.get("random_distribution", ["random"])[0] != "random":
        yield "random_distribution", "random with verify and several block sizes: the others have no map"
    interval = job.get("verify_interval", min(sizes))
    if any(size % interval for size in sizes):
        yield "verify_interval", "a divisor of all block sizes"
    if job.get("verify_offset", 0) and job["verify_offset"] + 512 > interval:
        yield "verify_offset", "512 less than the verify_interval at most"
    if job["verify"] in ("pattern", "pattern_hdr") and "verify_pattern" not in job:
        yield "verify_pattern", "a pattern, because verify is " + str(job["verify"])


def _host(job: Job) -> Iterator[Tuple[str, str]]:
    if "cpus_allowed" in job and "numa_cpu_nodes" in job:
        yield "numa_cpu_nodes", "nothing beside cpus_allowed"
    if is_set(job, "atomic") and not (job["direct"] and job["ioengine"] in ("io_uring", "libaio", "pvsync2")):
        yield "atomic", "false, unless direct is true and ioengine is io_uring, libaio or pvsync2"


def both(values: List[int]) -> List[int]:
    """Return the numbers of reads and of writes; one alone is for both."""
    return [values[0], values[-1]]


def block_sizes(job: Job) -> List[int]:
    """Return the different sizes in bytes that a job's I/Os may have, or the least and the greatest of a range."""
    if "bsrange" in job:
        sizes = [size for pair in job["bsrange"] for size in pair]
    elif "bssplit" in job:
        sizes = [size for split in job["bssplit"] for size, _ in split]
    else:
        sizes = [job["block_size"], job.get("write_block_size", job["block_size"])]
    return sorted(set(sizes))


def size_of_file(job: Job) -> int:
    """Return the bytes of one of a job's files, without what is left out at its beginning."""
    return int(job.get("size_per_file") or job["file_size"] // value_of(job, "nrfiles"))


def offset_of(job: Job, clone: int) -> int:
    """Return where the I/O of one of a job's processes begins in its files."""
    return int(value_of(job, "offset") + clone * value_of(job, "offset_increment"))


def last_offset(job: Job) -> int:
    return offset_of(job, job["numjobs"] - 1)


def length_of_file(job: Job, clone: int) -> int:
    """Return the length in bytes of each file of one of a job's processes."""
    return size_of_file(job) + (0 if "size_per_file" in job else offset_of(job, clone))


def files_bytes(job: Job) -> int:
    """Return the bytes of all files of a job; the null engine has none."""
    if job["ioengine"] == "null":
        return 0
    every = sum(length_of_file(job, clone) for clone in range(job["numjobs"]))
    return int(every * value_of(job, "nrfiles") * (2 if is_set(job, "file_append") else 1))


def files_count(job: Job) -> int:
    return 0 if job["ioengine"] == "null" else int(job["numjobs"] * value_of(job, "nrfiles"))


def groups_of(jobs: List[Job]) -> List[List[Job]]:
    """Return the jobs that run at the same time, together: a stonewall begins another group."""
    groups: List[List[Job]] = []
    for job in jobs:
        if job["stonewall"] or not groups:
            groups.append([])
        groups[-1].append(job)
    return groups


def memory_bytes(job: Job) -> int:
    """Return the memory of a job's processes: buffers, maps of random offsets, seeds of dedupe, notes of what is verified."""
    sizes = block_sizes(job)
    blocks = job["file_size"] // min(sizes) + 1
    one = max(sizes) * job["iodepth"]
    if job["rw"] in RANDOM and not value_of(job, "norandommap"):
        one += blocks // IN_MAP
    if is_set(job, "verify"):
        one += min(blocks, value_of(job, "verify_backlog") or blocks) * OF_PIECE
    if is_set(job, "dedupe_mode"):
        one += blocks * value_of(job, "dedupe_working_set_percentage") // 100 * OF_SEED
    return int(one * job["numjobs"])


def seconds_of(job: Job) -> int:
    """Return how many seconds a job takes at least, where it says so."""
    return int((job["runtime"] or 0) + job["ramp_time"] + value_of(job, "startdelay"))
