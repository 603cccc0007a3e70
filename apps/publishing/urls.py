from django.urls import path, re_path

from apps.publishing.problems import not_found
from apps.publishing.views import compare, comparisons, docs, inventory, runs, samples, uploads

urlpatterns = [
    path("api/schema/", docs.schema, name="api-schema"),
    path("api/docs/", docs.docs, name="api-docs"),
    path("api/v1/hosts/", inventory.hosts, name="api-hosts"),
    path("api/v1/hosts/<int:pk>/", inventory.host, name="api-host"),
    path("api/v1/hosts/<int:pk>/topology/", inventory.host_topology, name="api-host-topology"),
    path("api/v1/targets/", inventory.targets, name="api-targets"),
    path("api/v1/targets/<int:pk>/", inventory.target, name="api-target"),
    path("api/v1/snapshots/<int:pk>/", inventory.snapshot, name="api-snapshot"),
    path("api/v1/runs/", runs.runs, name="api-runs"),
    path("api/v1/runs/<int:pk>/", runs.run, name="api-run"),
    path("api/v1/runs/<int:pk>.<str:format>", runs.run, name="api-run-as"),
    path("api/v1/runs/<int:pk>/cancel/", runs.run_cancel, name="api-run-cancel"),
    path("api/v1/runs/<int:pk>/samples/", runs.run_samples, name="api-run-samples"),
    path("api/v1/runs/<int:pk>/series/", runs.run_series, name="api-run-series"),
    path("api/v1/runs/<int:pk>/histograms/", runs.run_histograms, name="api-run-histograms"),
    path("api/v1/runs/<int:pk>/artefacts/", runs.run_artefacts, name="api-run-artefacts"),
    path("api/v1/runs/<int:pk>/artefacts/<path:name>", runs.run_artefact, name="api-run-artefact"),
    path("api/v1/samples/", samples.samples, name="api-samples"),
    path("api/v1/samples.<str:format>", samples.samples, name="api-samples-as"),
    path("api/v1/uploads/", uploads.uploads, name="api-uploads"),
    path("api/v1/uploads/<int:pk>/", uploads.upload, name="api-upload"),
    path("api/v1/uploads/<int:pk>/keep/", uploads.upload_keep, name="api-upload-keep"),
    path("api/v1/comparisons/", comparisons.comparisons, name="api-comparisons"),
    path("api/v1/comparisons/<int:pk>/", comparisons.comparison, name="api-comparison"),
    path("api/v1/compare/", compare.compare, name="api-compare"),
    path("api/v1/compare.<str:format>", compare.compare, name="api-compare-as"),
    re_path(r"^api/(?P<path>.*)$", not_found, name="api-nowhere"),
]
