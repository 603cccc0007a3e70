"""A mail server that keeps what it is sent: a real conversation by SMTP, on a free port of this machine."""

import asyncio
import email
import email.policy
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Any

from tests.outside.product import wait_until


class SmtpSink:
    """The mails that arrived, as `(recipient, message)` in order. A recipient `refused…` is refused, as a mailbox that is not there."""

    def __init__(self) -> None:
        self.mails: list[tuple[str, EmailMessage]] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def to(self, address: str) -> list[str]:
        """Return the texts of the mails to an address."""
        return [str(mail.get_content()) for recipient, mail in self.mails if recipient == address]

    def wait_for(self, address: str, count: int = 1, seconds: float = 30) -> str:
        """Wait until so many mails to an address are there, and return the last one's text."""
        wait_until(f"{count} mails to {address}", seconds, lambda: len(self.to(address)) >= count)
        return self.to(address)[-1]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold one conversation."""
        recipients: list[str] = []
        writer.write(b"220 sink\r\n")
        while line := await reader.readline():
            word = line[:4].upper()
            if word == b"RCPT" and b"<refused" in line:
                writer.write(b"550 no such mailbox\r\n")
                continue
            if word == b"RCPT":
                recipients.append(re.findall(rb"<([^>]*)>", line)[0].decode())
            elif word == b"DATA":
                writer.write(b"354 go on\r\n")
                raw = (await reader.readuntil(b"\r\n.\r\n"))[:-5].replace(b"\r\n..", b"\r\n.")
                mail: Any = email.message_from_bytes(raw, policy=email.policy.default)
                self.mails += [(recipient, mail) for recipient in recipients]
                recipients = []
            writer.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
            if word == b"QUIT":
                break
        writer.close()


@contextmanager
def smtp_sink() -> Iterator[SmtpSink]:
    """Run a sink in a thread."""
    sink, loop, ready = SmtpSink(), asyncio.new_event_loop(), threading.Event()

    async def begin() -> None:
        server = await asyncio.start_server(sink.serve, "127.0.0.1", 0)
        sink.port = server.sockets[0].getsockname()[1]
        ready.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(begin())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield sink
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def link_in(text: str) -> str:
    """Return the path of the one link in a mail that is to be opened."""
    [link] = re.findall(r"^\s*https?://[^/\s]+(/\S+)\s*$", text, re.MULTILINE)
    return str(link)
