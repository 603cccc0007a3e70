"""The shapes of plans in the REST interface's description."""

from typing import Any

from rest_framework import serializers as s


class PlanSummary(s.Serializer[Any]):
    id = s.IntegerField()
    url = s.URLField()
    page = s.URLField()
    study = s.CharField()
    name = s.CharField()
    title = s.CharField()
    order = s.CharField(help_text="interleaved, randomized, sequential, not_printed")
    seed = s.IntegerField(allow_null=True)
    stopping = s.DictField(help_text="`{kind: fixed | half_width | steady_state | not_printed, …}`")
    are_means = s.BooleanField(help_text="each run that is held is the mean of all rounds")
    is_from_report = s.BooleanField()
    notes = s.CharField()


class PlanConfigurationShape(s.Serializer[Any]):
    name = s.CharField()
    label = s.CharField()  # type: ignore[assignment]
    configuration = s.CharField(allow_null=True, help_text="of the study; null where the source has no numbers of it")
    host = s.IntegerField(allow_null=True)
    largest_file_size = s.IntegerField(allow_null=True, help_text="bytes")
    limit_reason = s.CharField()
    reason = s.CharField(help_text="why the whole row is not run")


class PlanPointShape(s.Serializer[Any]):
    name = s.CharField()
    label = s.CharField()  # type: ignore[assignment]
    tool = s.CharField()
    command = s.CharField()
    file_size = s.IntegerField(allow_null=True, help_text="bytes")
    ram_multiple = s.FloatField(allow_null=True, help_text="file size = this × RAM of the host")
    block_size = s.IntegerField(allow_null=True, help_text="bytes")
    threads = s.IntegerField(allow_null=True)
    iodepth = s.IntegerField(allow_null=True)
    operations = s.ListField(child=s.CharField())
    labels = s.DictField()


class PlanGuardShape(s.Serializer[Any]):
    kind = s.CharField()
    is_required = s.BooleanField()
    parameters = s.DictField()
    sentence = s.CharField()
    note = s.CharField()


class PlanCellShape(s.Serializer[Any]):
    configuration = s.CharField(help_text="name of the plan's row")
    point = s.CharField()
    state = s.CharField(help_text="waiting, running, partly, done, failed, not run, not held")
    done = s.IntegerField()
    least = s.IntegerField(help_text="rounds")
    most = s.IntegerField(help_text="rounds")
    progress = s.FloatField(help_text="of the runs under way, 0 to 1")
    file_size = s.IntegerField(allow_null=True, help_text="bytes")
    reason = s.CharField(help_text="why it is not run")
    note = s.CharField()
    runs = s.ListField(child=s.IntegerField())
    workload = s.DictField(allow_null=True, help_text="for `POST runs/`, where fio can run it")


class PlanStep(s.Serializer[Any]):
    position = s.IntegerField()
    round = s.IntegerField()
    configuration = s.CharField()
    point = s.CharField()


class CacheRule(s.Serializer[Any]):
    host = s.CharField()
    ram = s.IntegerField(allow_null=True, help_text="bytes")
    largest = s.IntegerField(help_text="bytes")
    multiple = s.FloatField(allow_null=True)
    factor = s.FloatField()
    is_met = s.BooleanField(allow_null=True)


class PlanEstimate(s.Serializer[Any]):
    seconds = s.FloatField(help_text="at least; hosts work side by side")
    by_host = s.DictField()
    known = s.IntegerField(help_text="rounds whose time is known")
    unknown = s.IntegerField()


class Plan(PlanSummary):
    configurations = PlanConfigurationShape(many=True)
    points = PlanPointShape(many=True)
    guards = PlanGuardShape(many=True)
    cells = PlanCellShape(many=True)
    steps = PlanStep(many=True, help_text="all steps in their order, `least` rounds")
    cache_rule = CacheRule(many=True)
    remaining = PlanEstimate(allow_null=True)
