"""Worker processes that share a socket, each with its own copy of the application."""

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
from sketchforest.serve.limits import Limits
from sketchforest.serve.protocol import HeaderTimeoutProtocol
from sketchforest.serve.served_model import ModelSource
from sketchforest.serve.supervisor import (
    HEARTBEAT_SECONDS,
    STARTUP_FAILED,
    FileStates,
    Supervisor,
    describe_changes,
    file_states,
)

KEEP_ALIVE_SECONDS = 5
GRACE_SECONDS = 3  # to finish open requests on shutdown
# The event loop needs the GIL at each read from a socket. With Python's 5 ms it would wait that
# long for a thread that tokenizes a long text.
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
    """The settings of a worker; sent to its process."""

    sources: Sequence[ModelSource]
    host: str
    limits: Limits
    log_level: str
    model_files: FileStates

    def config(self, port: int = 0) -> uvicorn.Config:
        # A service open to other machines can have any name.
        hosts = [*LOOPBACK_NAMES, self.host] if is_loopback(self.host) else None
        return uvicorn.Config(
            lambda: build_app(self.sources, self.limits, hosts),
            factory=True,
            host=self.host,
            port=port,
            http=HeaderTimeoutProtocol,
            ws="none",
            lifespan="off",
            log_level=self.log_level,
            access_log=self.log_level == "debug",
            server_header=False,
            proxy_headers=False,
            limit_concurrency=self.limits.connections,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=min(int(self.limits.seconds) + 1, GRACE_SECONDS),
        )

    def run(self, sock: socket, supervisor: Connection) -> None:
        """Serve in a process of its own."""
        sys.setswitchinterval(SWITCH_SECONDS)
        server = uvicorn.Server(self.config())
        threading.Thread(target=_send_heartbeats, args=(server, supervisor), daemon=True).start()
        for change in describe_changes(self.model_files):
            logger.warning("%s; this worker serves the file as it is now", change)
        try:
            server.run([sock])
        except KeyboardInterrupt:
            pass
        except (ValueError, OSError, MemoryError) as error:
            logger.error("%s", error)
            raise SystemExit(STARTUP_FAILED) from None


def _send_heartbeats(server: uvicorn.Server, supervisor: Connection) -> None:
    """Report whether the server is ready; stop the worker when the supervisor is gone."""
    try:
        while True:
            supervisor.send(server.started)
            time.sleep(HEARTBEAT_SECONDS)
    except OSError:
        os.kill(os.getpid(), signal.SIGTERM)


def serve(
    sources: Sequence[ModelSource],
    host: str,
    port: int,
    workers: int,
    limits: Limits,
    log_level: str,
) -> int:
    """Serve until interrupted or terminated; return the exit code."""
    model_files = file_states([source.path for source in sources if source.mmap])
    worker = Worker(sources, host, limits, log_level, model_files)
    sock = worker.config(port).bind_socket()
    supervisor = Supervisor(
        lambda heartbeats: (worker.run, (sock, heartbeats)), workers, model_files
    )
    return supervisor.run(GRACE_SECONDS)
