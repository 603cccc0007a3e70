from django.urls import path

from apps.studies import run_views, views

study = "studies/<slug:slug>/"
urlpatterns = [
    path("studies/new/", views.new, name="study-new"),
    path("studies/runs/", run_views.place_runs, name="study-place-runs"),
    path(study + "edit/", views.edit, name="study-edit"),
    path(study + "delete/", views.delete, name="study-delete"),
    path(study + "configurations/", views.configurations, name="configurations"),
    path(study + "configurations/<int:pk>/", views.configuration, name="configuration"),
    path(study + "configurations/<int:pk>/delete/", views.configuration_delete, name="configuration-delete"),
]
