"""Random writes until the steady state of the SNIA performance test."""

from apps.plans.presets.preset import KIB, PlanPointData, Preset, PresetOptions, make_point, words_of


def make_points(options: PresetOptions) -> list[PlanPointData]:
    """Return one point for each file size: 4 KiB random writes at depth 32, direct."""
    return [
        make_point(f"randwrite {words_of(size)}", "randwrite", size, 4 * KIB, runtime=options.runtime or 60, iodepth=32)
        for size in options.file_sizes
    ]


PRESET = Preset(
    name="steady-state",
    title="Steady state of random writes",
    text="What a solid-state disk sustains: rounds of 4 KiB random writes until five of them agree.",
    file_sizes="16g",
    make_points=make_points,
    runtime=60,
    rule={"kind": "steady_state", "window": 5, "range_percent": 20, "slope_percent": 10, "at_most": 25},
)
