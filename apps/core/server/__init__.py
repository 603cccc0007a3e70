"""Limits and services in front of Django: connections, request bodies, response buffers, proxies, outages."""
