from django.urls import path

from apps.runs import views

urlpatterns = [
    path("runs/", views.runs, name="runs"),
    path("runs/new/", views.new, name="run-new"),
    path("runs/<int:pk>/cancel/", views.cancel, name="run-cancel"),
    path("runs/<int:pk>/artefacts/<str:name>", views.artefact, name="run-artefact"),
    path("runs/<int:pk>/artefacts/<str:name>/text/", views.artefact_text, name="run-artefact-view"),
]
