from django.urls import path

from apps.studies.plans import views

urlpatterns = [
    path("studies/<slug:slug>/plan/", views.study_plan, name="study-plan"),
    path("studies/<slug:slug>/plan/new/", views.new, name="plan-new"),
    path("plans/<int:pk>/edit/", views.edit, name="plan-edit"),
    path("plans/<int:pk>/delete/", views.delete, name="plan-delete"),
    path("plans/<int:pk>/cell/", views.cell, name="plan-cell"),
    path("plans/<int:pk>/take/", views.take_runs, name="plan-take"),
]
