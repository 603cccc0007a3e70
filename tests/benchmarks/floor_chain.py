"""The floor of dispatch: POST → wake a long poll → exec, with the standard library and nothing else. Two processes, as with the real thing.

python floor_chain.py server PORT        answers POST /click and the long poll /poll
python floor_chain.py host PORT PROGRAM  polls, and starts the program when told
"""

import http.client
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

bell = threading.Semaphore(0)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/click":
            bell.release()
        else:
            bell.acquire()
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


def serve(port: int) -> None:
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def host(port: int, program: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while True:
        connection.request("POST", "/poll", b"{}")
        connection.getresponse().read()
        child = os.posix_spawn(program, [program], {})
        os.waitpid(child, 0)


if __name__ == "__main__":
    if sys.argv[1] == "server":
        serve(int(sys.argv[2]))
    else:
        host(int(sys.argv[2]), sys.argv[3])
