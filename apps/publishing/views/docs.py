"""The OpenAPI description and its readable page, served from here without any other site."""

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

schema = SpectacularAPIView.as_view()
# Swagger UI writes style elements; scripts stay under the site's own policy. The page shows nothing of any lab.
docs = csp_update({"style-src": [SELF, UNSAFE_INLINE]})(SpectacularSwaggerSplitView.as_view(url_name="api-schema"))
