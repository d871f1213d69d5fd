"""The two decorators that compile the project's numeric functions.

Both are `numba.njit` with numpy's error model, so a division by zero gives an infinity or a NaN as IEEE 754 says
instead of an exception. Fast-math stays off and products and sums are never fused: the compiled function and the
plain interpreter (NUMBA_DISABLE_JIT=1) must give the same bits.
"""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a pure function of scalars, named tuples and homogeneous tuples, taken by value."""
    return cast(F, numba.njit(function, error_model="numpy"))


def inlined(function: F) -> F:
    """Compile a small helper that LLVM must inline into its callers: tuples by value are costly to pass by call."""
    return cast(F, numba.njit(function, error_model="numpy", forceinline=True))
