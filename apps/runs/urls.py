from django.urls import path

from apps.runs import views

urlpatterns = [
    path("runs/", views.runs, name="runs"),
    path("runs/new/", views.new, name="run-new"),
    path("runs/<int:pk>/again/", views.again, name="run-again"),
    path("runs/<int:pk>/cancel/", views.cancel, name="run-cancel"),
    path("runs/<int:pk>/describe/", views.describe, name="run-describe"),
    # an uploaded file has its folders in its name, and no name ends with a slash
    path("runs/<int:pk>/artefacts/<path:name>/text/", views.artefact_text, name="run-artefact-view"),
    path("runs/<int:pk>/artefacts/<path:name>", views.artefact, name="run-artefact"),
]
