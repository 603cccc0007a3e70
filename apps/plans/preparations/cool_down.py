"""The host waits until the target's disks are cool enough, where their sensors can be read."""

from apps.plans.preparations.preparation import WAIT, PreparationKind, PreparationParameter

KIND = PreparationKind(
    kind="cool_down",
    label="cool down",
    sentence=lambda values: (
        f"Wait until the target's disks have at most {values['celsius']:g} °C, at most {values['wait_s']} s."
    ),
    times=("start", "round", "step"),
    parameters=(PreparationParameter("celsius", "At most °C", 0, 120, is_whole=False, is_needed=True), WAIT),
    guard=lambda values: {"guard": "temperature", "celsius": values["celsius"], "wait_s": values["wait_s"]},
)
