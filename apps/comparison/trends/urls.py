from django.urls import path

from apps.comparison.trends import acts, destination_views, views

urlpatterns = [
    path("", views.trends, name="trends"),
    path("new/", views.new, name="trend-new"),
    path("destinations/", destination_views.destinations, name="destinations"),
    path("destinations/<int:pk>/test/", destination_views.test, name="destination-test"),
    path("destinations/<int:pk>/switch/", destination_views.switch, name="destination-switch"),
    path("destinations/<int:pk>/delete/", destination_views.delete, name="destination-delete"),
    path("deliveries/<int:pk>/again/", destination_views.again, name="delivery-again"),
    path("marks/<int:pk>/remove/", acts.remove_mark, name="trend-mark-remove"),
    path("changes/<int:pk>/acknowledge/", acts.acknowledge, name="change-point-acknowledge"),
    path("<int:pk>/", views.trend, name="trend"),
    path("<int:pk>/edit/", views.edit, name="trend-edit"),
    path("<int:pk>/delete/", views.delete, name="trend-delete"),
    path("<int:pk>/look/", acts.look, name="trend-look"),
    path("<int:pk>/marks/", acts.add_mark, name="trend-marks"),
    path("<int:pk>/test/", acts.test, name="trend-test"),
]
