"""Real data are read from the folder ``shared/data`` beside the checkout, where there is one."""

import os
from pathlib import Path

beside = Path(__file__).parents[2] / "shared" / "data"
if beside.is_dir():
    os.environ.setdefault("SKETCHFOREST_DATA", str(beside))
