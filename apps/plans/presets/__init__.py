"""The registry of presets: each is one small file that says only what differs."""

from apps.plans.presets import (
    file_record_matrix,
    matrix,
    queue_depth,
    quick_check,
    saturation,
    size_sweep,
    steady_state,
    sync_trio,
    write_ladder,
)
from apps.plans.presets.preset import Preset

# What people ask for most comes first.
PRESETS: tuple[Preset, ...] = (
    quick_check.PRESET, matrix.PRESET, queue_depth.PRESET, saturation.PRESET, size_sweep.PRESET, sync_trio.PRESET,
    write_ladder.PRESET, file_record_matrix.PRESET, steady_state.PRESET,
)  # fmt: skip
BY_NAME = {preset.name: preset for preset in PRESETS}
