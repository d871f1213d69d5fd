"""SplitMix64, the project's only source of random numbers, and its keyed streams.

A generator is one 64-bit word; each function takes it and returns the next one first. The masks keep the plain
interpreter, whose integers do not wrap, on the same bits as compiled code. Nothing here calls the C library's
mathematics, so a draw has the same bits everywhere. Source: G. Steele, D. Lea, C. Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014; S. Vigna, splitmix64.c.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from blocks.kernel import inlined
from blocks.math import Vec3

SQRT_3 = 1.7320508075688772


def word(x: int) -> int:
    """x as an unsigned 64-bit word.

    Compiled code types a plain integer below 2^63 as a signed one, whose shifts copy the sign: the draws would be wrong
    without a word of it being said.
    """
    return x & 0xFFFFFFFFFFFFFFFF


@overload(word, jit_options={"forceinline": True})
def _compiled_word(x: Any) -> Callable[[Any], Any] | None:
    def cast(x: Any) -> Any:
        return np.uint64(x)

    return cast if isinstance(x, types.Integer) else None


@inlined
def next_uint64(state: int) -> tuple[int, int]:
    """(next state, 64 random bits)."""
    state = word(word(state) + 0x9E3779B97F4A7C15)
    z = word((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9)
    z = word((z ^ (z >> 27)) * 0x94D049BB133111EB)
    return state, z ^ (z >> 31)


@inlined
def uniform(state: int) -> tuple[int, float]:
    """(next state, a multiple of 2^-53 in [0, 1))."""
    state, bits = next_uint64(state)
    return state, float(bits >> 11) * 1.1102230246251565e-16


@inlined
def uniform_symmetric(state: int, sigma: float) -> tuple[int, float]:
    """(next state, a draw from [-sqrt(3) sigma, sqrt(3) sigma)): zero mean, standard deviation sigma."""
    state, u = uniform(state)
    return state, (2.0 * u - 1.0) * (SQRT_3 * sigma)


@inlined
def uniform_symmetric3(state: int, sigma: float) -> tuple[int, Vec3]:
    """(next state, three independent draws of uniform_symmetric, x first)."""
    state, x = uniform_symmetric(state, sigma)
    state, y = uniform_symmetric(state, sigma)
    state, z = uniform_symmetric(state, sigma)
    return state, Vec3(x, y, z)


def stream(seed: int, node: str, purpose: str) -> int:
    """Initial state of the stream of (seed, node, purpose), the same in every process and on every machine.

    A BLAKE2b digest of the three, so that one more node or purpose never shifts the draws of another. The separator
    cannot occur in a name of printable characters, so different keys stay different.
    """
    key = f"{seed}\x1f{node}\x1f{purpose}".encode()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")
