from django.urls import path

from apps.comparison.in_studies import views

urlpatterns = [
    path("comparisons/put/", views.put, name="comparison-put"),
    path("studies/<slug:slug>/comparisons/", views.listed, name="study-comparisons"),
    path("study-comparisons/<int:pk>/edit/", views.edit, name="study-comparison-edit"),
    path("study-comparisons/<int:pk>/move/", views.move, name="study-comparison-move"),
    path("study-comparisons/<int:pk>/delete/", views.delete, name="study-comparison-delete"),
]
