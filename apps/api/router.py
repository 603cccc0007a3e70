"""Addresses of view sets, named as pages and scripts know them: `api-trends`, `api-trend`, `api-run-cancel`."""

from rest_framework.routers import DynamicRoute, Route, SimpleRouter


class LabRouter(SimpleRouter):
    """Django REST framework's router, with typed numbers in addresses and names of our own."""

    routes = [
        Route("{prefix}/", {"get": "list", "post": "create"}, "api-{basename}s", False, {}),
        DynamicRoute("{prefix}/{url_path}/", "api-{basename}-{url_name}", False, {}),
        Route(
            "{prefix}/{lookup}/",
            {"get": "retrieve", "put": "update", "patch": "partial_update", "delete": "destroy"},
            "api-{basename}",
            True,
            {},
        ),
        DynamicRoute("{prefix}/{lookup}/{url_path}/", "api-{basename}-{url_name}", True, {}),
    ]

    def __init__(self) -> None:
        super().__init__(use_regex_path=False)
