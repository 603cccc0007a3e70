from django.urls import include, path, re_path

from apps.api.problems import not_found
from apps.api.resources import (
    claims,
    comparisons,
    docs,
    hosts,
    inventory_files,
    labs,
    parts,
    plans,
    runs,
    samples,
    search,
    series,
    side_by_side,
    snapshots,
    studies,
    trends,
    uploads,
)
from apps.api.resources.plan import cells, estimates, results, schedules
from apps.api.resources.questions import views as questions
from apps.api.resources.run import saved_workloads
from apps.api.router import LabRouter
from apps.inventory.editing.registry import BY_NAME

ALIKE = ("controller", "disk", "array", "filesystem", "nic", "switch", "networklink", "storagepath")
EDITED = (*ALIKE, "enclosure")
router = LabRouter()
router.register("claims", claims.ClaimViewSet, "claim")
router.register("comparisons", comparisons.SavedComparisonViewSet, "comparison")
router.register("enclosures", hosts.EnclosureViewSet, "enclosure")
router.register("hosts", hosts.HostViewSet, "host")
router.register("inventory/imports", inventory_files.InventoryImportViewSet, "inventory-import")
router.register("labs", labs.LabViewSet, "lab")
router.register("labs/<int:pk>/invitations", labs.InvitationViewSet, "lab-invitation")
router.register("labs/<int:pk>/members", labs.MemberViewSet, "lab-member")
router.register("plans", plans.PlanViewSet, "plan")
router.register("queue", runs.QueueViewSet, "queue")
router.register("runs", runs.RunViewSet, "run")
router.register("saved-workloads", saved_workloads.SavedWorkloadViewSet, "saved-workload")
router.register("snapshots", snapshots.SnapshotViewSet, "snapshot")
router.register("targets", parts.TargetViewSet, "target")
router.register("tokens", labs.TokenViewSet, "token")
router.register("trends", trends.WatchViewSet, "trend")
router.register("trends/<int:pk>/marks", trends.TrendMarkViewSet, "trend-mark")
router.register("uploads", uploads.UploadViewSet, "upload")
for name in ALIKE:
    router.register(BY_NAME[name].plural, parts.viewset_of(name), name)

urlpatterns = [
    path("api/schema/", docs.schema, name="api-schema"),
    path("api/docs/", docs.docs, name="api-docs"),
    path("api/v1/runs/<int:pk>/series/", series.RunSeriesView.as_view(), name="api-run-series"),
    path("api/v1/runs/<int:pk>/histograms/", series.RunHistogramsView.as_view(), name="api-run-histograms"),
    path("api/v1/samples/", samples.SamplesView.as_view(), name="api-samples"),
    path("api/v1/samples.<str:format>", samples.SamplesView.as_view(), name="api-samples-as"),
    path("api/v1/compare/side-by-side/", side_by_side.SideBySideView.as_view(), name="api-side-by-side"),
    path("api/v1/inventory/export/", inventory_files.InventoryExportView.as_view(), name="api-inventory-export"),
    path("api/v1/questions/", questions.QuestionsView.as_view(), name="api-questions"),
    path("api/v1/questions.<str:format>", questions.QuestionsView.as_view(), name="api-questions-as"),
    path("api/v1/questions/<slug:factor>/", questions.QuestionView.as_view(), name="api-question"),
    path("api/v1/questions/<slug:factor>.<str:format>", questions.QuestionView.as_view(), name="api-question-as"),
    path("api/v1/compare/", comparisons.CompareView.as_view(), name="api-compare"),
    path("api/v1/compare.<str:format>", comparisons.CompareView.as_view(), name="api-compare-as"),
    path("api/v1/runs/<int:pk>.<str:format>", runs.RunViewSet.as_view({"get": "retrieve"}), name="api-run-as"),
    path(
        "api/v1/runs/<int:pk>/artefacts/<path:name>",
        runs.RunViewSet.as_view({"get": "artefact"}),
        name="api-run-artefact",
    ),
    path("api/v1/plans/<int:pk>/saturation/", results.PlanSaturationView.as_view(), name="api-plan-saturation"),
    path("api/v1/plans/<int:pk>/steady-state/", results.PlanSteadyStateView.as_view(), name="api-plan-steady-state"),
    path("api/v1/plans/<int:pk>/estimate/", estimates.PlanEstimateView.as_view(), name="api-plan-estimate"),
    path(
        "api/v1/plans/<int:pk>/cells/<slug:configuration>/<slug:point>/skip/",
        cells.PlanCellSkipView.as_view(),
        name="api-plan-cell-skip",
    ),
    path(
        "api/v1/plans/<int:pk>/cells/<slug:configuration>/<slug:point>/retry/",
        cells.PlanCellRetryView.as_view(),
        name="api-plan-cell-retry",
    ),
    path("api/v1/plans/<int:pk>/schedule/", schedules.PlanScheduleView.as_view(), name="api-plan-schedule"),
    path(
        "api/v1/plans/<int:pk>/schedule/pause/",
        schedules.PlanSchedulePauseView.as_view(),
        name="api-plan-schedule-pause",
    ),
    path(
        "api/v1/plans/<int:pk>/schedule/resume/",
        schedules.PlanScheduleResumeView.as_view(),
        name="api-plan-schedule-resume",
    ),
    path("api/v1/studies/", studies.StudyViewSet.as_view({"get": "list"}), name="api-studies"),
    path("api/v1/studies/<slug:slug>/", studies.StudyViewSet.as_view({"get": "retrieve"}), name="api-study"),
    path("api/v1/tables/<slug:slug>/<str:name>/", studies.TableView.as_view(), name="api-table"),
    path("api/v1/charts/<slug:slug>/<str:name>/", studies.ChartView.as_view(), name="api-chart"),
    path("api/v1/search/", search.SearchView.as_view(), name="api-search"),
    path("api/v1/", include(router.urls)),
    re_path(r"^api/(?P<path>.*)$", not_found, name="api-nowhere"),
]
