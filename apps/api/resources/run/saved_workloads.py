"""Workloads that the lab keeps under a name: save one of a workload, a job file or a run, rename and forget it."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.mixins import ListModelMixin, RetrieveModelMixin
from rest_framework.request import Request
from rest_framework.response import Response

from apps.api.authentication import who
from apps.api.fields import LinkField, TextField
from apps.api.openapi import problems
from apps.api.resources.runs import KnownFieldsSerializer, read_spec
from apps.api.viewsets import ScopedViewSet
from apps.labs.models import TokenScope
from apps.runs.models import Run, SavedWorkload
from apps.runs.start.job_file import LONGEST_JOB_FILE
from apps.runs.start.saved_workloads import LONGEST_NAME, remove_workload, rename_workload, save_workload
from apps.runs.workload import WorkloadError, job_file


class SavedWorkloadSerializer(serializers.ModelSerializer[SavedWorkload]):
    """A workload that the lab keeps under a name."""

    url = LinkField("api-saved-workload")
    workload = serializers.DictField(source="workload.spec", help_text="`{tool, jobs}`, as `POST runs/` takes it")
    job_file = serializers.SerializerMethodField(help_text="the same as fio spells it")

    class Meta:
        model = SavedWorkload
        fields = ("id", "name", "url", "workload", "job_file", "created_by", "created_at")
        read_only_fields = fields

    def get_job_file(self, saved: SavedWorkload) -> str:
        return job_file(saved.workload.spec)


class NewSavedWorkloadSerializer(KnownFieldsSerializer):
    """The body that saves a workload: its name, and one of the three that say what it is."""

    name = TextField(max_length=LONGEST_NAME)
    workload = serializers.DictField(required=False, help_text="as in `POST runs/`")
    job_file = TextField(required=False, trim_whitespace=False, max_length=LONGEST_JOB_FILE)
    run = serializers.IntegerField(required=False, help_text="id of a run of this lab that an agent was asked for")


class SavedWorkloadNameSerializer(KnownFieldsSerializer):
    """Another name for a saved workload."""

    name = TextField(max_length=LONGEST_NAME)


class SavedWorkloadViewSet(ListModelMixin, RetrieveModelMixin, ScopedViewSet[SavedWorkload]):
    """Workloads that the lab keeps under a name, to start them or to plan with them again."""

    keeps_answers = True
    model = SavedWorkload
    serializer_class = SavedWorkloadSerializer
    needed_scope = TokenScope.RUN
    ordering = "name"

    def get_queryset(self) -> Any:
        return SavedWorkload.objects.filter(lab=self.lab).select_related("workload")

    @extend_schema(request=NewSavedWorkloadSerializer, responses={201: SavedWorkloadSerializer, **problems(404)})
    def create(self, request: Request) -> Response:
        """Save a workload under a name that the lab does not have yet."""
        data = self.validate_body(NewSavedWorkloadSerializer)
        given = [name for name in ("workload", "job_file", "run") if name in data]
        if len(given) != 1:
            raise WorkloadError("workload", given, "one of workload, job_file and run")
        if "run" in data:
            run = get_object_or_404(Run.objects.select_related("workload"), pk=data["run"], lab=self.lab)
            spec = run.workload.spec if run.workload else {}
        else:
            spec = read_spec(data)
        saved = save_workload(self.lab, data["name"], spec, who(request))
        body = dict(SavedWorkloadSerializer(saved, context=self.get_serializer_context()).data)
        return Response(body, status=201, headers={"Location": body["url"]})

    @extend_schema(request=SavedWorkloadNameSerializer, responses=SavedWorkloadSerializer)
    def partial_update(self, request: Request, pk: int) -> Response:
        """Give a saved workload another name."""
        row = self.get_object()  # before its body: another lab's is not there, whatever was sent
        data = self.validate_body(SavedWorkloadNameSerializer)
        saved = rename_workload(row, data["name"], who(request))
        return Response(SavedWorkloadSerializer(saved, context=self.get_serializer_context()).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: int) -> Response:
        """Forget a saved workload; runs and plans that were made from it stay."""
        remove_workload(self.get_object(), who(request))
        return Response(status=204)
