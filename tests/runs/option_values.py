"""Values of options, drawn by their kind, and jobs of them that go together."""

import random
from typing import Any

from apps.parsers.fio.job_options import agreement, kinds
from apps.runs.fio_options import OPTIONS, FioOption, OptionKind
from apps.runs.workload import WorkloadError, checked

KIB, MIB = 1024, 1024**2


def at_limits(kind: OptionKind) -> list[Any]:
    """Return values at the limits of what a kind takes."""
    if isinstance(kind, kinds.PowerOfTwo):
        return [kind.low, kind.high]
    if isinstance(kind, kinds.WholeNumber):
        first = -(-kind.low // kind.multiple_of) * kind.multiple_of
        return [first, kind.high // kind.multiple_of * kind.multiple_of, *([None] if kind.is_optional else [])]
    if isinstance(kind, kinds.OneOf):
        return list(kind.words)
    if isinstance(kind, kinds.RealNumber):
        return [kind.low, kind.high, (kind.low + kind.high) / 2]
    return SOME[type(kind)](kind)


SOME: dict[type, Any] = {
    kinds.YesOrNo: lambda kind: [True, False],
    kinds.HexPattern: lambda kind: ["0xde", "0x" + "0f" * 64],
    kinds.NumberList: lambda kind: [[kind.low], [kind.high] * kind.most],
    kinds.NumberSet: lambda kind: [[0], [0, kind.high], list(range(kind.most))],
    kinds.SizeRanges: lambda kind: [[[kind.low, kind.high]], [[4096, 4096], [512, 65536]]],
    kinds.SizeShares: lambda kind: [[[[kind.low, 100]]], [[[4096, 60], [65536, 40]], [[kind.high, 100]]]],
    kinds.WordWithNumbers: lambda kind: [
        [word, *(end[at] for end in bounds)] for word, bounds in kind.words.items() for at in (0, 1)
    ],
    kinds.AccessShares: lambda kind: [
        *SOME[kinds.WordWithNumbers](kind.simple), ["zoned", [60, 10], [40, 90]], ["sequence", 2, 0, 1],
    ],
    kinds.WordList: lambda kind: [
        [*words, kind.most] if kind.most else list(words) for words in (kind.words, kind.words[:1])
    ],
    kinds.SteadyLimit: lambda kind: [[word, 0.3, "%"] for word in kind.words] + [[kind.words[0], 5]],
    kinds.MemoryNodes: lambda kind: [["local"], ["prefer", 1], ["bind", 0, kind.high], ["interleave", *range(64)]],
    kinds.ErrorLists: lambda kind: [[[5]], [[], [5, 28], [kind.high]]],
}  # fmt: skip


def sensible(option: FioOption, chance: random.Random) -> Any:
    """Return a value that a small run can have."""
    kind = option.kind
    if option.name in CALM:
        return chance.choice(CALM[option.name])
    if isinstance(kind, kinds.PowerOfTwo):
        return chance.choice([512, 4096])
    if isinstance(kind, kinds.ByteSize):
        return chance.choice([size for size in (512, 4096, 16 * KIB, 64 * KIB) if kind.accepts(size)])
    if isinstance(kind, kinds.Duration):
        return chance.choice([number for number in (1, 2, 100, 5000) if kind.accepts(number)])
    if isinstance(kind, kinds.WholeNumber):
        return chance.choice([number for number in (0, 1, 2, 5, 50, 2000) if kind.accepts(number)])
    return chance.choice(at_limits(kind))


# What has to fit to others, or to the machine that runs the test, or would make a run long or wide.
CALM: dict[str, list[Any]] = {
    "ioengine": ["null", "psync", "sync", "pvsync", "pvsync2", "libaio", "posixaio", "mmap"],
    "block_size": [4096, 8192], "file_size": [MIB, 2 * MIB], "iodepth": [1, 4, 16], "numjobs": [1, 2, 3],
    "runtime": [None, 1, 2], "ramp_time": [0], "startdelay": [0, 1], "nrfiles": [1, 2, 8], "size_per_file": [256 * KIB],
    "cpus_allowed": [[0]], "numa_cpu_nodes": [[0]], "numa_mem_policy": [["local"], ["default"]], "loops": [1, 2],
    "rate": [[10 * MIB], [10 * MIB, 5 * MIB]], "rate_min": [[1]], "rate_iops": [[5000], [5000, 0]],
    "rate_iops_min": [[1]], "zonesize": [64 * KIB], "zonerange": [128 * KIB], "thinktime": [10, 100],
    "thinktime_spin": [1, 10], "steadystate_duration": [4], "steadystate_check_interval": [1, 2],
    "rw_step": [512, 4096], "bsrange": [[[4096, 16 * KIB]], [[4096, 8192], [512, 4096]]],
    "bssplit": [[[[4096, 60], [8192, 40]]], [[[4096, 100]], [[8192, 50], [16 * KIB, 50]]]],
    "offset": [0, 4096], "offset_increment": [0, 64 * KIB], "io_size": [256 * KIB, 4 * MIB],
    "verify_offset": [512], "verify_interval": [4096, 512], "number_ios": [1, 100], "percentage_random": [[50], [100, 0]],
    "steadystate": [["iops", 0.3, "%"], ["bw_slope", 5]], "randseed": [None, 7], "ba": [4096],
    "max_latency": [3_000_000], "latency_target": [100_000], "latency_window": [100_000], "flow_sleep": [0, 10],
    "nice": [0, 5],
}  # fmt: skip


def draw_job(chance: random.Random, most_rare: int = 6, names: list[FioOption] | None = None) -> dict[str, Any]:
    """Return a job whose options go together, with up to `most_rare` of the rare ones beside the usual ones."""
    while True:
        usual = {option.name: sensible(option, chance) for option in OPTIONS if not option.is_rare}
        usual |= {"stonewall": True, "sync": "none", "fsync_every": 0} if chance.random() < 0.7 else {}
        job = {**usual, **_rare(chance, most_rare, names)}
        for _ in range(12):  # what is amiss goes, until nothing is
            try:
                return dict(checked({"jobs": [job]})["jobs"][0])
            except WorkloadError as error:
                _mend(job, error, chance)


def _rare(chance: random.Random, most: int, names: list[FioOption] | None) -> dict[str, Any]:
    pool = names or [option for option in OPTIONS if option.is_rare]
    chosen = chance.sample(pool, min(len(pool), chance.randint(0, most)))
    job = {option.name: sensible(option, chance) for option in chosen}
    for option in chosen:
        if option.engines:
            job["ioengine"] = chance.choice(option.engines)
    for name in list(job):  # what an option would do nothing without
        while (name := agreement.NEEDS.get(name, "")) and name not in job:
            option = next(option for option in OPTIONS if option.name == name)
            values = [value for value in at_limits(option.kind) if value != option.default]
            job[name] = chance.choice(CALM.get(name, values))
    if "verify" in job and job["verify"] in ("pattern", "pattern_hdr"):
        job["verify_pattern"] = "0xdeadbeef"
    return job


def _mend(job: dict[str, Any], error: WorkloadError, chance: random.Random) -> None:
    name = error.field.rpartition(".")[2]
    option = next(option for option in OPTIONS if option.name == name)
    if option.is_rare and name in job:
        del job[name]
    elif name == "iodepth":
        job["iodepth"] = 1
    elif option.is_rare:  # one that is missing
        job.pop("verify", None)
    else:
        job[name] = option.default if option.default is not ... else sensible(option, chance)
        if name == "direct":
            job[name] = False
