"""Types of user input and output."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

# Anything numpy can convert (lists, data frames), or a scipy sparse container.
MatrixLike: TypeAlias = npt.ArrayLike | sparse.sparray | sparse.spmatrix
# The same after validation.
Matrix: TypeAlias = np.ndarray | sparse.csr_array | sparse.csr_matrix | sparse.csc_array
WeightsLike: TypeAlias = npt.ArrayLike | None
