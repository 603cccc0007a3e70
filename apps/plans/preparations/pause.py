"""The host is left alone for some seconds before a run."""

from apps.plans.preparations.preparation import PreparationKind, PreparationParameter

KIND = PreparationKind(
    kind="pause",
    label="pause",
    sentence=lambda values: f"The host is left alone for {values['seconds']} s.",
    times=("start", "round", "step"),
    parameters=(PreparationParameter("seconds", "Seconds", 1, 86_400, is_needed=True),),
    guard=lambda values: {"guard": "pause", "seconds": values["seconds"], "wait_s": 0},
    seconds=lambda values: float(values["seconds"]),
)
