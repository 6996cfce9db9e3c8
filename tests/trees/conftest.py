"""The kernels that trees are grown with level by level: NumPy's, and those of the GPU, which run on
the CPU where there is none."""

import ctypes
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from sketched_data import FORESTS, label_data, regression_data
from sklearn.base import clone

from sketchforest._trees import levels
from sketchforest._trees.levels.cuda_kernels import CudaKernels
from sketchforest._trees.levels.numpy_kernels import NumpyKernels

SOURCE = Path(__file__).parent.parent / "native" / "cuda_on_cpu.cpp"


class EmulatedKernels(CudaKernels):
    """Those of kernels.cu, compiled for the CPU."""

    def __init__(self, library):
        super().__init__(np, self._launch_on_cpu)
        self._library = library

    def download(self, values):
        return values

    def free_bytes(self):
        return 1 << 32

    def free_memory(self):
        pass

    def _launch_on_cpu(self, name, n_blocks, n_threads, shared, args):
        values = [self._native(arg) for arg in args]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        assert self._library.launch(name.encode(), n_blocks, n_threads, pointers)

    @staticmethod
    def _native(arg):
        if isinstance(arg, np.ndarray):
            assert arg.flags.c_contiguous
            return ctypes.c_void_p(arg.ctypes.data)
        assert isinstance(arg, np.generic)  # with the width that the kernel takes
        return np.ctypeslib.as_ctypes_type(arg.dtype)(arg.item())


@pytest.fixture(scope="session")
def emulated_kernels(tmp_path_factory):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++")
    library = tmp_path_factory.mktemp("kernels") / "kernels.so"
    kernels = resources.files(levels).joinpath("kernels.cu")
    options = ["-std=c++20", "-O1", "-ffp-contract=off", "-w", "-shared", "-fPIC"]
    subprocess.run(
        [compiler, *options, f'-DKERNELS="{kernels}"', SOURCE, "-o", library], check=True
    )
    return EmulatedKernels(ctypes.CDLL(str(library)))


@pytest.fixture(params=["numpy", "emulated", "gpu"])
def kernels(request):
    if request.param == "numpy":
        return NumpyKernels()
    if request.param == "emulated":
        return request.getfixturevalue("emulated_kernels")
    cupy = pytest.importorskip("cupy")
    if not cupy.cuda.is_available():
        pytest.skip("needs a GPU")
    return CudaKernels.on_device()


@pytest.fixture(params=FORESTS, scope="module")
def fitted(request):
    """A fitted forest, its X, Y (two-dimensional) and sample weights."""
    forest, name = clone(FORESTS[request.param]), request.param
    X, Y = label_data(n=150)
    if "output" in name:
        X, Y = regression_data(16, n_outputs=1 if name == "one output" else 3, n=150)
    weights = np.random.default_rng(0).exponential(size=150) if "weighted" in name else None
    return forest.fit(X, Y, weights), X, Y.reshape(150, -1), weights
