from django.urls import path

from apps.runs import views
from apps.runs.start import saved_workload_views

urlpatterns = [
    path("runs/", views.runs, name="runs"),
    path("runs/new/", views.new, name="run-new"),
    path("runs/workloads/", saved_workload_views.saved_workloads, name="saved-workloads"),
    path("runs/workloads/<int:pk>/rename/", saved_workload_views.rename, name="saved-workload-rename"),
    path("runs/workloads/<int:pk>/remove/", saved_workload_views.remove, name="saved-workload-remove"),
    path("runs/<int:pk>/save-workload/", saved_workload_views.save, name="run-save-workload"),
    path("runs/<int:pk>/again/", views.again, name="run-again"),
    path("runs/<int:pk>/cancel/", views.cancel, name="run-cancel"),
    path("runs/<int:pk>/describe/", views.describe, name="run-describe"),
    # an uploaded file has its folders in its name, and no name ends with a slash
    path("runs/<int:pk>/artefacts/<path:name>/text/", views.artefact_text, name="run-artefact-view"),
    path("runs/<int:pk>/artefacts/<path:name>", views.artefact, name="run-artefact"),
]
