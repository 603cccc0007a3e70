from django.urls import path

from apps.trends import views

urlpatterns = [
    path("", views.trends, name="trends"),
    path("new/", views.new, name="trend-new"),
    path("marks/<int:pk>/remove/", views.remove_mark, name="trend-mark-remove"),
    path("changes/<int:pk>/acknowledge/", views.acknowledge, name="change-point-acknowledge"),
    path("<int:pk>/", views.trend, name="trend"),
    path("<int:pk>/edit/", views.edit, name="trend-edit"),
    path("<int:pk>/delete/", views.delete, name="trend-delete"),
    path("<int:pk>/look/", views.look, name="trend-look"),
    path("<int:pk>/marks/", views.add_mark, name="trend-marks"),
    path("<int:pk>/test/", views.test, name="trend-test"),
]
