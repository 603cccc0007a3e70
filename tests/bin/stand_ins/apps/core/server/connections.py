"""Stand-in for the limits of connections: the tests of the launcher send nothing slow."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Connection

__all__ = ["Connection"]
