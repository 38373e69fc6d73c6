"""The inside pass of the compound PCFG: against a pass in logarithms written plainly, and torch-struct where it is."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import Row, absent, against, best_of
from groundling.neural.inside import Grammar, inside

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.pcfg import inside_in_logs

BATCH, LENGTH, NONTERMINALS, PRETERMINALS = 32, 20, 30, 60
LIMIT, LIMIT_BOTH = 0.16, 1.16  # CPU seconds, forward and with backward: measured earlier, on another day


def logs() -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of root, rules and emissions, as a network gives them."""
    torch.manual_seed(0)
    symbols = NONTERMINALS + PRETERMINALS
    root = torch.randn(BATCH, NONTERMINALS).log_softmax(1)
    rules = torch.randn(BATCH, NONTERMINALS, symbols**2).log_softmax(2).view(BATCH, NONTERMINALS, symbols, symbols)
    return root, rules, torch.randn(BATCH, LENGTH, PRETERMINALS) - 8


GRAMMAR = logs()


def ours(root: Tensor, rules: Tensor, emissions: Tensor) -> Tensor:
    return inside(Grammar(root.exp(), rules.exp(), emissions), torch.full((BATCH,), LENGTH))


def torch_struct() -> Callable[[Tensor, Tensor, Tensor], Tensor] | None:
    try:
        cky, semirings = import_module("torch_struct.cky"), import_module("torch_struct.semirings")
    except Exception:  # it is old: what it raises depends on the torch it meets
        return None
    return lambda root, rules, words: cky.CKY(semirings.LogSemiring).logpartition((words, rules, root))[0].view(-1)


def both(work: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    grammar = tuple(part.detach().requires_grad_() for part in GRAMMAR)
    torch.autograd.grad(work(*grammar).sum(), grammar)


def once(work: Callable[[Tensor, Tensor, Tensor], Tensor], expected: Tensor) -> float:
    """CPU seconds of a slow peer's forward pass, which must give the same log Z."""
    found: list[Tensor] = []
    seconds = best_of(lambda: found.append(work(*GRAMMAR).detach()), 1)
    assert torch.allclose(found[0], expected, rtol=1e-4)
    return seconds


def run() -> list[Row]:
    log_z = ours(*GRAMMAR)
    forward, full = best_of(lambda: ours(*GRAMMAR), 5), best_of(lambda: both(ours))
    size = f"inside pass, {BATCH} x {LENGTH} words, {NONTERMINALS}+{PRETERMINALS} symbols"
    rows = [
        against(f"{size}, forward", forward, LIMIT),
        against(f"{size}, with backward", full, LIMIT_BOTH),
        against("inside pass, forward, against one in logarithms", forward, once(inside_in_logs, log_z), 10),
    ]
    peer = torch_struct()
    if peer is None:
        rows.append(absent("inside pass, forward, against torch-struct", 10))
    else:
        rows.append(against("inside pass, forward, against torch-struct", forward, once(peer, log_z), 10))
        slow = best_of(lambda: both(peer), 1)
        rows.append(against("inside pass, with backward, against torch-struct", full, slow, 10))
    return rows
