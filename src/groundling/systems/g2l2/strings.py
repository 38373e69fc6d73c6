"""Probabilistic strings (thesis 6.3.2): a length distribution L, and characters C independent given the length.

A value is one vector: L_l for l = 0 .. T, then J[l, k, c] = L_l C[l, k, c]. With J for C the thesis' formulas for
concat, repeat and expected strings are linear and need no division by L_l, which may be zero.
"""

from __future__ import annotations

import torch
from torch import Tensor

from groundling.systems.g2l2.domain import World
from groundling.worlds.scan import ACTIONS

TIMES = (2, 3, 4)
TINY = 1e-30


def unpack(value: Tensor) -> tuple[Tensor, Tensor]:
    """Return L [..., T + 1] and J [..., T + 1, T, characters]."""
    characters = len(ACTIONS)
    # D = (T + 1)(1 + T * characters); T is the positive root.
    size = value.shape[-1]
    longest = next(t for t in range(size) if (t + 1) * (1 + t * characters) == size)
    lengths, rest = value[..., : longest + 1], value[..., longest + 1 :]
    return lengths, rest.unflatten(-1, (longest + 1, longest, characters))


def pack(lengths: Tensor, joint: Tensor) -> Tensor:
    """Return the one vector."""
    return torch.cat([lengths, joint.flatten(-3)], -1)


def constant(world: World, characters: list[int]) -> Tensor:
    """Return the sure string of these characters, [batch, D]."""
    longest = world["target"].shape[1]
    lengths = torch.zeros(longest + 1, device=world["target"].device)
    joint = torch.zeros(longest + 1, longest, len(ACTIONS), device=world["target"].device)
    if len(characters) <= longest:
        lengths[len(characters)] = 1
        for place, character in enumerate(characters):
            joint[len(characters), place, character] = 1
    return pack(lengths, joint).expand(world.size, -1)


def concat(_: World, x: Tensor, y: Tensor) -> Tensor:
    """L^z_l = sum_i L^x_i L^y_(l-i); J^z[l, k] = sum_i J^x[i, k] L^y_(l-i) + L^x_i J^y[l-i, k-i].

    Strings longer than the longest target are dropped: they cannot be right.
    """
    (lx, jx), (ly, jy) = unpack(x), unpack(y)
    longest = lx.shape[-1] - 1
    lengths, joint = torch.zeros_like(lx * ly), torch.zeros_like(jx * jy)
    for i in range(longest + 1):
        left, rest = lx[..., i, None], longest + 1 - i
        shifted = torch.nn.functional.pad(ly[..., :rest], (i, 0))
        lengths = lengths + left * shifted
        joint = joint + jx[..., i, None, :, :] * shifted[..., None, None]
        moved = torch.nn.functional.pad(jy[..., :rest, : longest - i, :], (0, 0, i, 0, i, 0))
        joint = joint + left[..., None, None] * moved
    return pack(lengths, joint)


def repeat(_: World, x: Tensor, times: Tensor) -> Tensor:
    """L^z_l = L^x_(l/m) and C^z[l, k] = C^x[l/m, k mod (l/m)] where m divides l, else 0, in expectation over m."""
    lengths, joint = unpack(x)
    longest = lengths.shape[-1] - 1
    many, much = torch.zeros_like(lengths), torch.zeros_like(joint)
    for index, m in enumerate(TIMES):
        weight = times[..., index]
        for part in range(longest // m + 1):
            places = [k % part if k < part * m else -1 for k in range(longest)] if part else [-1] * longest
            spread = torch.nn.functional.pad(joint[..., part, :, :], (0, 0, 0, 1))[..., places, :]  # -1: the zero row
            unit = torch.zeros(longest + 1, device=x.device)
            unit[part * m] = 1
            many = many + (weight * lengths[..., part])[..., None] * unit
            much = much + weight[..., None, None, None] * spread[..., None, :, :] * unit[:, None, None]
    return pack(many, much)


def probability(world: World, value: Tensor) -> Tensor:
    """Return P(string = target) = L_l prod_k C[l, k, target_k], [batch]."""
    lengths, joint = unpack(value)
    rows, size = torch.arange(world.size, device=value.device), world["lengths"]
    mass = lengths[rows, size]
    target = world["target"].clamp(min=0)
    right = joint[rows, size].gather(2, target[:, :, None])[:, :, 0] / (mass[:, None] + TINY)
    inside = torch.arange(target.shape[1], device=value.device) < size[:, None]
    return mass * torch.where(inside, right, torch.ones_like(right)).prod(1)


SOFT = {
    "action": lambda index, world: constant(world, [index]),
    "empty": lambda world: constant(world, []),
    "concat": concat,
    "repeat": repeat,
}
