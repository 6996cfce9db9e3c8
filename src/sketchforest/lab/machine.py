"""What figures depend on: processor, memory, versions. Nothing that names the machine."""

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sketchforest.lab.memory import physical_bytes

_PACKAGES = ("sketchforest", "scikit-learn", "numpy", "scipy", "joblib", "napkinxc", "omikuji")


def machine_facts() -> dict[str, Any]:
    """CPU model, cores, memory, system, and the versions of the packages that are installed."""
    return {
        "cpu": _cpu_model(),
        "cores": _usable_cores(),
        "memory_bytes": physical_bytes(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": _versions(),
    }


def _versions() -> dict[str, str]:
    versions = {}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


def _usable_cores() -> int:
    with suppress(AttributeError):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
