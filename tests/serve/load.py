"""Load test: requests per second and latency, also mixed with invalid requests.

    python tests/serve/load.py --model delicious.sf --rows rows.json --seconds 20
    python tests/serve/load.py --model delicious.sf --rows rows.json --seconds 300 --mixed

`rows.json` is a list of rows as /suggest takes them. The script starts a service with two workers.
Clients share its processors, so the CPU time of the workers, also printed, predicts better what
another machine would do.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import tempfile
import time
from pathlib import Path

import numpy as np
from services import serving

TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


def request(path, content, **headers):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    head = {"Host": "localhost", "Content-Type": "application/json", **headers}
    head.setdefault("Content-Length", len(body))
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def answer(reader):
    """Return the status of the next response."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12])


async def good_client(port, requests, end, times, failures):
    """Send one request after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < end:
        asked = time.perf_counter()
        writer.write(random.choice(requests))
        status = await answer(reader)
        times.append(time.perf_counter() - asked)
        if status != 200:
            failures.append(status)
    writer.close()


BAD = {
    "malformed": lambda row: request("/suggest", b'{"row": '),
    "wrong fields": lambda row: request("/suggest", {"row": row, "file": "/etc/passwd"}),
    "wrong row": lambda row: request("/suggest", {"row": [row]}),
    "too large": lambda row: request("/suggest", b" " * 3_000_000),
    "too many rows": lambda row: request("/suggest", {"rows": [row] * 1001}),
    "no http": lambda row: b"HELLO\r\n\r\n",
    "unknown path": lambda row: request("/nothing", {}),
}


async def bad_client(port, row, end, statuses):
    """Send invalid and incomplete requests, each on a connection of its own."""
    whole = request("/suggest", {"row": row})
    while time.perf_counter() < end:
        kind = random.choice([*BAD, "disconnect", "slow"])
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, TimeoutError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            status = "closed"
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if kind in BAD:
                    writer.write(BAD[kind](row))
                    status = await asyncio.wait_for(answer(reader), 30)
                else:
                    writer.write(whole[: random.randrange(1, len(whole))])
                    await writer.drain()
                    if kind == "slow":
                        status = await asyncio.wait_for(answer(reader), 30)
            statuses[kind, status] = statuses.get((kind, status), 0) + 1
            writer.close()
        await asyncio.sleep(0.02)


def children(pid):
    """Return the process ids of the workers."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    commands = {c: Path(f"/proc/{c}/cmdline").read_text() for c in found}
    return [int(c) for c, command in commands.items() if "spawn_main" in command]


def processor_seconds(pids):
    stat = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(fields[11]) + int(fields[12]) for fields in stat) / TICK


def memory(pids):
    """Return the memory of the workers in MB; shared pages count once."""
    total = 0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


async def measure(port, pids, requests, seconds, clients, bad_row=None):
    times, failures, statuses = [], [], {}
    started, used = time.perf_counter(), processor_seconds(pids)
    end = started + seconds
    work = [good_client(port, requests, end, times, failures) for _ in range(clients)]
    if bad_row is not None:
        work += [bad_client(port, bad_row, end, statuses) for _ in range(6)]
        work.append(watch(pids, end))
    await asyncio.gather(*work)
    took, used = time.perf_counter() - started, processor_seconds(pids) - used
    return {
        "requests_per_second": round(len(times) / took, 1),
        "per_processor_second": round(len(times) / used, 1),
        "p50_ms": round(1000 * float(np.quantile(times, 0.5)), 2),
        "p99_ms": round(1000 * float(np.quantile(times, 0.99)), 2),
        "requests": len(times),
        "failures": len(failures),
        **(
            {"bad": {f"{k}: {s}": n for (k, s), n in sorted(statuses.items(), key=str)}}
            if statuses
            else {}
        ),
    }


async def watch(pids, end):
    while time.perf_counter() < end:
        print(f"  memory {memory(pids):.0f} MB", flush=True)
        await asyncio.sleep(max(0.1, min(30, end - time.perf_counter())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--mixed", action="store_true")
    given = parser.parse_args()
    rows = json.loads(Path(given.rows).read_text())
    single = [request("/suggest", {"row": row}) for row in rows]
    batch = [
        request("/suggest", {"rows": rows[at : at + given.batch]})
        for at in range(0, len(rows) - given.batch + 1, given.batch)
    ]
    explain = [request("/explain", {"row": row, "k": 1}) for row in rows[:50]]
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(folder, given.model, "--workers", 2, "--max-body", 2_000_000) as service,
    ):
        time.sleep(1)
        pids = children(service.process.pid)
        print(f"load of the machine {os.getloadavg()}, workers {pids}, {memory(pids):.0f} MB")
        if given.mixed:
            mixture = single + batch * 10 + explain
            print(asyncio.run(measure(service.port, pids, mixture, given.seconds, 4, rows[0])))
            print(
                f"memory at the end {memory(pids):.0f} MB; workers {children(service.process.pid)}"
            )
        for _ in range(0 if given.mixed else given.repeat):
            for name, requests in (("one row", single), (f"{given.batch} rows", batch)):
                found = asyncio.run(
                    measure(service.port, pids, requests, given.seconds, given.clients)
                )
                print(name, found, os.getloadavg(), flush=True)
        print(service.stop()[0], "Traceback" in service.log.read_text())


if __name__ == "__main__":
    main()
