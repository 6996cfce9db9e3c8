"""Workers that share one socket, each with its models; the process that starts them is
`supervisor.Supervisor`."""

import ipaddress
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from socket import socket

import uvicorn

from sketchforest.serve.app import build_app
from sketchforest.serve.file_changes import Stamps, changes, stamps_of
from sketchforest.serve.limits import Limits
from sketchforest.serve.protocol import PromptProtocol
from sketchforest.serve.served_model import Source
from sketchforest.serve.supervisor import BEAT_SECONDS, CANNOT_START, Supervisor

IDLE_SECONDS = 5
END_SECONDS = 3  # for what has been asked when the service is told to end
# After which a thread that reads a long text gives way to the one that answers; Python's 5 ms would
# be waited for at each read from a socket.
SWITCH_SECONDS = 0.0005
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")

logger = logging.getLogger("uvicorn.error")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class Worker:
    """What a worker is told."""

    sources: Sequence[Source]
    host: str
    limits: Limits
    log_level: str
    stamps: Stamps

    def config(self, port: int = 0) -> uvicorn.Config:
        # From other machines a service may be known by any name.
        hosts = [*LOOPBACK_NAMES, self.host] if is_loopback(self.host) else None
        return uvicorn.Config(
            lambda: build_app(self.sources, self.limits, hosts),
            factory=True,
            host=self.host,
            port=port,
            http=PromptProtocol,
            ws="none",
            lifespan="off",
            log_level=self.log_level,
            access_log=self.log_level == "debug",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=self.limits.connections,
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=min(int(self.limits.seconds) + 1, END_SECONDS),
        )

    def run(self, sock: socket, beats: Connection) -> None:
        """In a process of its own."""
        sys.setswitchinterval(SWITCH_SECONDS)
        server = uvicorn.Server(self.config())
        threading.Thread(target=_beat, args=(server, beats), daemon=True).start()
        for change in changes(self.stamps):
            logger.warning("%s; this worker serves what it finds", change)
        try:
            server.run([sock])
        except KeyboardInterrupt:
            pass
        except (ValueError, OSError, MemoryError) as error:
            logger.error("%s", error)
            raise SystemExit(CANNOT_START) from None


def _beat(server: uvicorn.Server, beats: Connection) -> None:
    """Says that this worker lives, and whether it answers; ends it with the one that listens."""
    try:
        while True:
            beats.send(server.started)
            time.sleep(BEAT_SECONDS)
    except OSError:
        os.kill(os.getpid(), signal.SIGTERM)


def serve(
    sources: Sequence[Source], host: str, port: int, workers: int, limits: Limits, log_level: str
) -> int:
    """Answers until it is interrupted or terminated, and then what has been asked, for some
    seconds; the exit code."""
    stamps = stamps_of([source.path for source in sources if source.mmap])
    worker = Worker(sources, host, limits, log_level, stamps)
    sock = worker.config(port).bind_socket()
    return Supervisor(lambda beats: (worker.run, (sock, beats)), workers, stamps).run(END_SECONDS)
