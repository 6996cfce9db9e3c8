"""Pipelining, clients that do not read, and workers that die."""

import os
import re
import socket
import time
from contextlib import suppress

import pytest
from services import LIMITS, serving

PIPELINED = 3000
ASKED = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Padding: " + b"x" * 40 + b"\r\n\r\n"


def test_pipelined_requests_do_not_share_a_header_limit(service):
    assert PIPELINED * len(ASKED) > 200_000
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as client:
        client.sendall(ASKED * PIPELINED)
        received = b""
        while received.count(b"HTTP/1.1 200") < PIPELINED or not received.endswith(b"}"):
            part = client.recv(1 << 16)
            assert part, received[-500:]
            received += part
    assert b"HTTP/1.1 400" not in received


def test_oversized_headers_are_rejected_first_or_pipelined(service):
    long = ASKED.replace(b"x" * 40, b"x" * 100_000)
    for sent in (long, ASKED + long):
        received = b""
        with socket.create_connection(("127.0.0.1", service.port), timeout=30) as client:
            client.sendall(sent)
            with suppress(OSError):
                while part := client.recv(1 << 16):
                    received += part
        assert received == b"" or b"HTTP/1.1 400" in received


def test_a_client_that_does_not_read_is_disconnected_and_logged_once(models, tmp_path):
    with serving(tmp_path, models["questions"], "--timeout", "1") as running:
        clients = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(5)]
        for client in clients:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.sendall(ASKED.replace(b"health", b"openapi.json") * 1000)
        wanted = "did not read its response"
        until = time.monotonic() + 30
        while running.log.read_text().count(wanted) < 5 and time.monotonic() < until:
            time.sleep(0.1)
        for client in clients:
            client.close()
        code, logged = running.stop()
    lines = [line for line in logged.splitlines() if wanted in line]
    assert len(lines) == 5
    assert len(logged.splitlines()) < 20
    assert "Traceback" not in logged
    assert code == 0


def asked(running):
    with suppress(OSError, ValueError):
        return running.ask("/suggest", {"row": "How long does soup keep?"})[0]
    return None


@pytest.fixture
def model(models, tmp_path):
    path = tmp_path / "model.sf"
    path.write_bytes(models["questions"].read_bytes())
    return path


@pytest.mark.skipif(os.name == "nt", reason="a mapped file cannot be cut off there")
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_truncated_mapped_model_stops_the_service_and_logs_why(model, tmp_path, workers):
    with serving(tmp_path, model, "--workers", workers, *LIMITS) as running:
        os.truncate(model, 4096)
        until = time.monotonic() + 120
        while running.process.poll() is None and time.monotonic() < until:
            asked(running)
            time.sleep(0.05)
        assert running.process.wait(timeout=1) == 1
        logged = running.log.read_text()
    assert "SIGBUS" in logged
    assert "rename it to the old name, or use --no-mmap" in logged
    assert "model.sf was changed in place" in logged
    assert "not a valid sketchforest model" in logged
    assert "Traceback" not in logged
    assert logged.count("was killed by") + logged.count("exited with code") <= 6 + workers


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be cut off there")
def test_a_model_in_memory_survives_truncation_of_its_file(model, tmp_path):
    with serving(tmp_path, model, "--no-mmap", *LIMITS) as running:
        os.truncate(model, 4096)
        for _ in range(3):
            assert asked(running) == 200
        assert running.stop()[0] == 0


def pids(running):
    return set(re.findall(r"Started server process \[(\d+)\]", running.log.read_text()))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there are no such signals")
def test_a_killed_worker_is_restarted_and_its_signal_logged(model, tmp_path):
    with serving(tmp_path, model, "--workers", "2", *LIMITS) as running:
        until = time.monotonic() + 60
        while len(pids(running)) < 2 and time.monotonic() < until:
            time.sleep(0.1)
        os.kill(int(min(pids(running))), 9)
        while len(pids(running)) < 3 and time.monotonic() < until:
            time.sleep(0.1)
        assert asked(running) == 200
        code, logged = running.stop()
    assert code == 0
    assert "was killed by SIGKILL: the system has probably run out of memory" in logged


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_sighup_reloads_the_model_files(models, model, tmp_path):
    import signal

    with serving(tmp_path, model, "--workers", "2", *LIMITS) as running:
        new = tmp_path / "new.sf"
        new.write_bytes(models["posts"].read_bytes())
        new.rename(model)
        assert asked(running) == 200
        running.process.send_signal(signal.SIGHUP)
        until, found = time.monotonic() + 60, None
        while found != "posts.csv" and time.monotonic() < until:
            with suppress(OSError):
                found = running.ask("/info")[1]["models"][0]["trained_on"]
            time.sleep(0.1)
        assert found == "posts.csv"
        code, logged = running.stop()
    assert code == 0
    assert "was killed by" not in logged
    assert "exited with code" not in logged
