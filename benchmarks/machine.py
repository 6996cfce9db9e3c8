"""What measurements depend on: processor, memory, versions. Nothing identifies the machine."""

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.measure import physical_bytes
from sketchforest._utils.units import size

_PACKAGES = ("sketchforest", "scikit-learn", "numpy", "scipy", "joblib", "napkinxc", "omikuji")


@dataclass(frozen=True)
class Machine:
    """CPU model, cores, memory, system, and the versions of installed packages."""

    cpu: str
    cores: int
    memory_bytes: int
    system: str
    python: str
    packages: dict[str, str]

    def describe(self, n_jobs: int) -> str:
        """Describe the machine in one line, for a run with this many threads."""
        versions = ", ".join(f"{name} {number}" for name, number in self.packages.items())
        cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
        return (
            f"{self.cpu}, {cores}, {size(self.memory_bytes)}, {n_jobs} used at once; "
            f"Python {self.python}, {versions}"
        )


def this_machine() -> Machine:
    packages = {}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            packages[package] = version(package)
    return Machine(
        cpu=_cpu_model(),
        cores=usable_cores(),
        memory_bytes=physical_bytes(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        packages=packages,
    )


def usable_cores() -> int:
    with suppress(AttributeError):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
