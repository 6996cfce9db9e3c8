"""Run a service on a free local port, and send it requests."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

LIMITS = ("--timeout", "4", "--max-rows", "50", "--max-body", "20000")


class Service:
    """A running `sketchforest serve`."""

    def __init__(self, process, port, log):
        self.process, self.port, self.log = process, port, log

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, path, content=None, *, method=None, body=None, headers=None):
        """Return the status and the body, parsed if JSON; keep the headers in `self.headers`."""
        sent = {"Content-Type": "application/json"} if content is not None else {}
        body = json.dumps(content).encode() if content is not None else body
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            method = method or ("GET" if body is None else "POST")
            connection.request(method, path, body, sent | (headers or {}))
            answer = connection.getresponse()
            self.headers = answer.headers
            text = answer.read().decode()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, json.loads(text) if is_json else text
        finally:
            connection.close()

    def stop(self, number=signal.SIGTERM):
        """Return the exit code and the log."""
        self.process.send_signal(number)
        return self.process.wait(timeout=30), self.log.read_text()


def is_answering(service):
    found = re.search(r"running on http://127\.0\.0\.1:(\d+)", service.log.read_text())
    if not found:
        return False
    service.port = int(found[1])
    try:
        return service.ask("/health")[0] == 200
    except OSError:  # the address is logged before a worker listens
        return False


@contextmanager
def serving(folder, *arguments):
    """Run a service in a session of its own, so that no worker is left behind."""
    command = [sys.executable, "-m", "sketchforest", "serve", "--port", "0", *map(str, arguments)]
    log = Path(folder) / "serve.log"
    with log.open("w") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written, start_new_session=True)
    try:
        service = Service(process, 0, log)
        started = time.monotonic()
        while not is_answering(service):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < started + 120, log.read_text()
            time.sleep(0.1)
        yield service
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=30)
