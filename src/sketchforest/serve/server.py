"""Workers that share one socket, and the pages of the model files that each of them maps."""

import ipaddress
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import uvicorn

from sketchforest.serve.app import build_app
from sketchforest.serve.guard import Guard
from sketchforest.serve.limits import Limits
from sketchforest.serve.protocol import PromptProtocol
from sketchforest.serve.served import Source

# What workers are told: uvicorn gives them the name of a function, and the environment.
_TOLD = "SKETCHFOREST_SERVE"
IDLE_SECONDS = 5
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def serve(
    sources: Sequence[Source], host: str, port: int, workers: int, limits: Limits, log_level: str
) -> None:
    """Answers until it is interrupted or terminated; what has been asked is answered before."""
    os.environ[_TOLD] = json.dumps(
        {
            "sources": [[name, str(path), threshold] for name, path, threshold in sources],
            "limits": asdict(limits),
            # From other machines a service may be known by any name.
            "hosts": [*LOOPBACK_NAMES, host] if is_loopback(host) else None,
        }
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # which uvicorn raises when it is done
    uvicorn.run(
        "sketchforest.serve.server:worker_app",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        http=PromptProtocol,
        ws="none",
        lifespan="off",
        log_level=log_level,
        access_log=log_level == "debug",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=int(limits.seconds) + 1,
        timeout_worker_healthcheck=60,
    )


def worker_app() -> Guard:
    told = json.loads(os.environ[_TOLD])
    sources = [Source(name, Path(path), more) for name, path, more in told["sources"]]
    return build_app(sources, Limits(**told["limits"]), told["hosts"])
