"""What the guards of a run found, as REST shows it."""

from typing import Any

from rest_framework import serializers

from apps.api.fields import NumberField
from apps.core.quantities import written
from apps.runs.host_guards import BY_KIND as GUARD_KINDS
from apps.runs.host_guards.labels import label_guard

Json = dict[str, Any]


class GuardEvidenceSerializer(serializers.Serializer[Any]):
    """What one guard of a run found, and who looked when."""

    guard = serializers.CharField(help_text=f"{', '.join(GUARD_KINDS)}, or another condition of a plan")
    kind = serializers.CharField(source="guard", help_text="the same as `guard`: the name that plans use")
    label = serializers.SerializerMethodField(help_text="as people call it")  # type: ignore[assignment]
    purpose = serializers.CharField(default="", help_text="`preparation …` where it is a preparation of a plan")
    outcome = serializers.CharField(help_text="passed, failed, not checked")
    text = serializers.SerializerMethodField(help_text="what was found, in one sentence")
    figures = serializers.DictField(default=dict, help_text="as they were read on the host")
    limits = serializers.DictField(default=dict, help_text="what they were compared with")
    source = serializers.CharField(  # type: ignore[assignment]
        help_text="host; server: by the lab's inventory and runs; person: somebody's word, at which nobody looked"
    )
    phase = serializers.CharField(default="", help_text="`before`: right before fio started")
    is_required = serializers.BooleanField()
    is_waiting = serializers.BooleanField(default=False, help_text="the run waits for it now")
    waited_s = NumberField(default=0)
    limit_s = NumberField(default=0, help_text="how long the run may wait for it")
    checked_at = serializers.CharField(help_text="by the host's clock, where the host looked; empty: nobody looked")

    def get_text(self, entry: Json) -> str:
        return written(str(entry["text"]))

    def get_label(self, entry: Json) -> str:
        return label_guard(entry["guard"])


class RunGuardsSerializer(serializers.Serializer[Any]):
    """The guards of a run: what was asked for, and what was found."""

    asked = serializers.ListField(child=serializers.DictField(), help_text="as the host's agent was asked")
    evidence = GuardEvidenceSerializer(many=True)
