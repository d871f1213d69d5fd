"""How far apart numbers are, as values and as floats."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def distances(x: Array, y: Array) -> tuple[Array, Array | None]:
    """Absolute distance (float64, NaN where it has none) and for floats the distance in ULP (uint64) of two columns.

    ULP: the number of steps from one value to the other through the representable ones, both zeros being one value, as
    in B. Dawson, "Comparing Floating Point Numbers", 2012.
    """
    with np.errstate(all="ignore"):
        if x.dtype.kind != "f":
            high, low = np.maximum(x, y).astype(object), np.minimum(x, y).astype(object)
            return np.array(high - low, np.float64), None
        apart = np.abs(x.astype(np.float64) - y.astype(np.float64))
        return apart, _steps(x, y)


def _steps(x: Array, y: Array) -> Array:
    unsigned = np.dtype(f"<u{x.dtype.itemsize}")
    sign = unsigned.type(1 << (8 * x.dtype.itemsize - 1))
    magnitudes = [v.view(unsigned) & ~sign for v in (x, y)]
    same_side = (x.view(unsigned) & sign) == (y.view(unsigned) & sign)
    high, low = np.maximum(*magnitudes), np.minimum(*magnitudes)
    return np.where(same_side, high - low, high + low).astype(np.uint64)
