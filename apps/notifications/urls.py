from django.urls import path

from apps.notifications import views

urlpatterns = [
    path("destinations/", views.destinations, name="destinations"),
    path("destinations/<int:pk>/test/", views.test, name="destination-test"),
    path("destinations/<int:pk>/switch/", views.switch, name="destination-switch"),
    path("destinations/<int:pk>/delete/", views.delete, name="destination-delete"),
    path("deliveries/<int:pk>/again/", views.again, name="delivery-again"),
]
