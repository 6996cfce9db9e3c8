"""The benchmarks need more than the package does: benchmarks/requirements.txt."""

from importlib.util import find_spec

collect_ignore_glob = []
if find_spec("pandas") is None or find_spec("matplotlib") is None:
    collect_ignore_glob.append("test_*.py")
