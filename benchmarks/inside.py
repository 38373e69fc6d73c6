"""The inside pass of the compound PCFG: against a pass in logarithms written plainly, and torch-struct where it is."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import Row, against, best_of
from groundling.neural.inside import Grammar, inside

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.pcfg import inside_in_logs

BATCH, LENGTH, NONTERMINALS, PRETERMINALS = 32, 20, 30, 60
LIMIT, LIMIT_BOTH = 0.16, 1.16  # CPU seconds, forward and with backward: the fastest we know of


def logs() -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of root, rules and emissions, as a network gives them."""
    torch.manual_seed(0)
    symbols = NONTERMINALS + PRETERMINALS
    root = torch.randn(BATCH, NONTERMINALS).log_softmax(1)
    rules = torch.randn(BATCH, NONTERMINALS, symbols**2).log_softmax(2).view(BATCH, NONTERMINALS, symbols, symbols)
    return root, rules, torch.randn(BATCH, LENGTH, PRETERMINALS) - 8


def ours(root: Tensor, rules: Tensor, emissions: Tensor) -> Tensor:
    return inside(Grammar(root.exp(), rules.exp(), emissions), torch.full((BATCH,), LENGTH))


def torch_struct() -> Callable[[Tensor, Tensor, Tensor], Tensor] | None:
    try:
        cky, semirings = import_module("torch_struct.cky"), import_module("torch_struct.semirings")
    except Exception:  # it is old: what it raises depends on the torch it meets
        return None
    return lambda root, rules, words: cky.CKY(semirings.LogSemiring).logpartition((words, rules, root))[0].view(-1)


def both(work: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    grammar = [part.requires_grad_() for part in logs()]
    work(*grammar).sum().backward()


def run() -> list[Row]:
    grammar = logs()
    forward, full = best_of(lambda: ours(*grammar)), best_of(lambda: both(ours))
    size = f"inside pass, {BATCH} x {LENGTH} words, {NONTERMINALS}+{PRETERMINALS} symbols"
    rows = [
        against(f"{size}, forward", forward, LIMIT),
        against(f"{size}, with backward", full, LIMIT_BOTH),
    ]
    plain = best_of(lambda: inside_in_logs(*grammar), 1)
    assert torch.allclose(ours(*grammar), inside_in_logs(*grammar), rtol=1e-4)
    rows.append(against("inside pass, forward, against one in logarithms", forward, plain, 10))
    peer = torch_struct()
    if peer is not None:
        assert torch.allclose(ours(*grammar), peer(*grammar).detach(), rtol=1e-4)
        rows.append(
            against("inside pass, forward, against torch-struct", forward, best_of(lambda: peer(*grammar), 1), 10)
        )
        rows.append(
            against("inside pass, with backward, against torch-struct", full, best_of(lambda: both(peer), 1), 10)
        )
    return rows
