"""The look at a page sees what is wrong with it; else its silence would say nothing."""

import pytest

from tests.e2e.looking import look

pytestmark = [pytest.mark.browser]
BAD = """<!doctype html><html lang="en"><head><title>Bad</title><style>
@media (prefers-color-scheme: dark) { body { background: #111; color: #222 } }</style></head>
<body><main><h1>Bad</h1><p>words</p><img src="data:,"><div style="width: 600px">wide</div></main>
<script>console.error("something is wrong")</script></body></html>"""


@pytest.mark.django_db(transaction=True)
def test_a_bad_page_is_told_in_every_way(open_browser, complaints):
    page = open_browser()
    page.route("**/bad/", lambda route: route.fulfill(body=BAD, content_type="text/html"))
    said = "\n".join(look(page, "/bad/", complaints))
    for word in ("image-alt", "dark: color-contrast", "px wide on a phone", "complains: something is wrong"):
        assert word in said, said
