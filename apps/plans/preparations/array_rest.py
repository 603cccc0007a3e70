"""The host waits until no array under the target resyncs or rebuilds any more."""

from apps.plans.preparations.preparation import WAIT, PreparationKind

KIND = PreparationKind(
    kind="array_rest",
    label="end of a resync or rebuild",
    sentence=lambda values: (
        f"Wait until no array under the target resyncs, rebuilds or lacks a member, at most {values['wait_s']} s."
    ),
    times=("start", "round", "step"),
    parameters=(WAIT,),
    guard=lambda values: {"guard": "array_settled", "wait_s": values["wait_s"]},
)
