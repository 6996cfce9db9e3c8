"""Install an extra of the project one requirement at a time, and list those without a wheel.

python tests/install_extras.py test
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))[
    "project"
]


def requirements(extra: str) -> list[str]:
    """Requirements of an extra, including those of our other extras that it names."""
    found = []
    for requirement in PROJECT["optional-dependencies"][extra]:
        ours = re.fullmatch(r"sketchforest\[(.*)\]", requirement)
        found += (
            [each for name in ours[1].split(",") for each in requirements(name)]
            if ours
            else [requirement]
        )
    return found


def install(requirement: str) -> bool:
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return subprocess.run([*pip, "--only-binary=:all:", requirement]).returncode == 0


if __name__ == "__main__":
    missing = [each for each in requirements(sys.argv[1]) if not install(each)]
    if missing:
        print("no wheel for this Python:", ", ".join(missing))
