"""Saturation: more and more I/Os in flight until a percentile of latency passes a bound."""

from apps.core.units import size as size_words
from apps.plans.presets.preset import (
    ASYNCHRONOUS,
    SEQUENTIAL,
    PlanPointData,
    Preset,
    PresetOptions,
    make_point,
    words_of,
)
from apps.studies.plans.saturation.ladder import double_in_turn
from apps.studies.plans.stopping_rule import stopping_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return the loads of a ladder for each pattern, file size and block size, all with one engine.

    A list of depths that has 1 alone takes a synchronous engine, and the jobs alone are raised.
    """
    engine = ASYNCHRONOUS if max(options.iodepths) > 1 else SEQUENTIAL
    loads = double_in_turn(options.iodepths, options.numjobs)
    points = []
    for rw in options.patterns:
        for size in options.file_sizes:
            for block in options.block_sizes:
                words = [word for word, values in (
                    (rw, options.patterns), (words_of(size), options.file_sizes), (size_words(block), options.block_sizes)
                ) if len(values) > 1]  # fmt: skip
                for load in loads:
                    point = make_point(
                        " ".join([*words, load.words]), rw, size, block, runtime=options.runtime, numjobs=load.jobs,
                        iodepth=load.depth,
                    )  # fmt: skip
                    point["job"]["ioengine"] = engine
                    points.append(point)
    return points


PRESET = Preset(
    name="saturation",
    title="Saturation within a latency bound",
    text="The highest IOPS with p95 or p99 of latency within your bound: queue depth and jobs are doubled in turn until it is"
    " passed, and the next point is decided after each result. With queue depths 1 a synchronous engine runs, and the jobs alone are doubled.",
    file_sizes="4g",
    make_points=make_points,
    runtime=30,
    rule=stopping_of({"kind": "saturation"}).data,
    options={"patterns": "randread", "block_sizes": "4k", "iodepths": "1,2..256", "numjobs": "1,2..8"},
)
