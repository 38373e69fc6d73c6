"""Each learner's step on the GPU: equal to the CPU's, under AMP, and achieved against attainable.

`python -m benchmarks.gpu [--out DIR] [--cpu]` prints a table; `--cpu` tries the cases without a GPU. Attainable is the
longest of three times: its matrix products at the speed of a large float32 product, its memory traffic at the speed of
a large copy, its operations at the rate of tiny ones; all three are measured first, on the same machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import Row

TOLERANCE, AMP_TOLERANCE = 2e-3, 0.1  # relative, of the loss


class Case(NamedTuple):
    """One learner: its module, what it is given (tensors, nested), and the loss of a step."""

    name: str
    module: nn.Module
    inputs: Any
    loss: Callable[[Any, Any], Tensor]


def cases() -> list[Case]:
    torch.manual_seed(0)
    return [cky_e2(), inside_pass(), *vse(), biaffine(), speech_encoder(), speech_learner(), aligner()]


def cky_e2() -> Case:
    from benchmarks.g2l2 import lexicon
    from groundling.worlds import scan

    pool = [item for item in scan.commands() if len(item.words) == 8 and len(item.actions) <= 24]
    chosen = [pool[i] for i in np.random.default_rng(0).permutation(len(pool))[:32]]
    name = "CKY-E2 (G2L2), 32 x 8 words, 200 entries"
    return Case(name, lexicon(200), (), lambda module, _: module.loss(chosen).mean())


class Rules(nn.Module):
    """The logits of a grammar, so that its inside pass has parameters."""

    def __init__(self, batch: int, n: int, nonterminals: int, preterminals: int):
        super().__init__()
        symbols = nonterminals + preterminals
        self.root = nn.Parameter(torch.randn(batch, nonterminals))
        self.rules = nn.Parameter(torch.randn(batch, nonterminals, symbols**2))
        self.words = nn.Parameter(torch.randn(batch, n, preterminals) - 8)


def inside_pass(batch: int = 32, n: int = 20, nonterminals: int = 30, preterminals: int = 60) -> Case:
    from groundling.neural.inside import Grammar, inside

    symbols = nonterminals + preterminals

    def loss(module: Rules, lengths: Tensor) -> Tensor:
        rules = module.rules.softmax(2).view(batch, nonterminals, symbols, symbols)
        return -inside(Grammar(module.root.softmax(1), rules, module.words), lengths).mean()

    name = f"inside pass (compound PCFG), {batch} x {n} words, {nonterminals}+{preterminals}"
    return Case(name, Rules(batch, n, nonterminals, preterminals), torch.full((batch,), n), loss)


def vse(batch: int = 128, n: int = 12, words: int = 8000) -> list[Case]:
    from groundling.systems.vgnsl.config import Config
    from groundling.systems.vgnsl.learner import Batch, Learner

    inputs = Batch(
        torch.randint(2, words, (batch, n)), torch.full((batch,), n), torch.randn(batch, 2048), torch.arange(batch)
    )
    return [
        Case(
            f"VSE loss (VG-NSL, {negatives} negatives), {batch} x {n} words",
            Learner(Config(negatives=negatives), words, 2048),  # type: ignore[arg-type]
            inputs,
            lambda module, given: module.loss(given, None)[0],  # no generator: the best merges, the same everywhere
        )
        for negatives in ("all", "aligned")
    ]


def biaffine(sentences: int = 200, n: int = 25, layers: int = 13, dim: int = 384) -> Case:
    from groundling.systems.subdp.config import Config
    from groundling.systems.subdp.parser import Parser
    from groundling.systems.subdp.vectors import Batch

    ends = torch.randint(0, sentences * n, (2, sentences, n))
    batch = Batch(
        torch.randn(sentences * n, layers, dim).half(), ends[0], ends[1], torch.ones(sentences, n + 1, dtype=torch.bool)
    )
    heads = torch.randint(0, n + 1, (sentences, n))
    rows = torch.arange(sentences)[:, None].expand(-1, n), torch.arange(1, n + 1).expand(sentences, -1), heads
    gold = torch.randint(0, 37, (sentences * n,))

    def loss(module: Any, given: Any) -> Tensor:
        vectors, where, labels = given
        scored = module(vectors)
        flat = tuple(index.reshape(-1) for index in where)
        arcs = -scored.arcs[flat].float().mean()
        return arcs + nn.functional.nll_loss(module.labels(scored, flat).float(), labels)

    parser = Parser(Config(dropout=0.0), layers, dim, 37, 17)
    return Case(f"biaffine parser (SubDP), {sentences} x {n} words", parser, (batch, rows, gold), loss)


def speech_encoder(batch: int = 50, frames: int = 150) -> Case:
    from groundling.systems.avnsl.config import Config
    from groundling.systems.avnsl.encoder import build_encoder

    encoder = build_encoder(Config(encoder_hide=0.0), 128)
    inputs = (
        torch.randn(batch, frames, 40),
        torch.full((batch,), frames),
        torch.randn(batch, 128),
        torch.arange(batch),
    )

    def loss(module: Any, given: Any) -> Tensor:
        mels, lengths, features, numbers = given
        return module.loss(module(mels, lengths), features, numbers)

    return Case(f"speech encoder (AV-NSL), {batch} x {frames} frames", encoder, inputs, loss)


def speech_learner(batch: int = 128, n: int = 12) -> Case:
    from groundling.systems.avnsl.config import Config
    from groundling.systems.avnsl.learner import Batch, Learner

    inputs = Batch(torch.randn(batch, n, 64), torch.full((batch,), n), torch.randn(batch, 128), torch.arange(batch))
    learner = Learner(Config(embedding_dim=512, scorer_hidden_dim=128), 64, 128)
    return Case(f"VSE loss (AV-NSL), {batch} x {n} segments", learner, inputs, lambda m, given: m.loss(given, None)[0])


def aligner(cells: int = 8192) -> Case:
    from groundling.systems.mlpalign.config import Config
    from groundling.systems.mlpalign.model import MLP

    network = MLP(Config())
    inputs = torch.rand(cells, len(network.mean)), torch.randint(0, 3, (cells,))
    return Case(
        f"MLP (MLPAlign), {cells} cells",
        network,
        inputs,
        lambda m, g: nn.functional.cross_entropy(m(g[0]).float(), g[1]),
    )


def move(value: Any, device: torch.device) -> Any:
    """The same nested inputs on a device."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, tuple):
        parts = [move(part, device) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


class Traffic(TorchDispatchMode):
    """Count operations and the bytes of what they read and write; views move nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = self.operations = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if not func.is_view and func not in (torch.ops.aten.detach.default, torch.ops.aten.empty.memory_format):
            tensors = [t for t in tree_flatten((args, kwargs, found))[0] if isinstance(t, Tensor)]
            self.bytes += sum(t.numel() * t.element_size() for t in tensors)
            self.operations += 1
        return found


def step(case: Case, module: nn.Module, inputs: Any, amp: bool = False) -> Tensor:
    """Forward and backward."""
    device = next(module.parameters()).device.type
    module.zero_grad(set_to_none=True)
    with torch.autocast(device, torch.bfloat16, enabled=amp):
        loss = case.loss(module, inputs)
    loss.backward()
    return loss.detach()


def seconds(work: Callable[[], object], device: torch.device, repeats: int = 20) -> float:
    """Median wall time of a call, the GPU's work included."""
    times = []
    for _ in range(3):
        work()
    for _ in range(repeats):
        _wait(device)
        start = time.perf_counter()
        work()
        _wait(device)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def attainable(device: torch.device, size: int = 8192) -> dict[str, float]:
    """Multiply-adds a second, bytes a second and operations a second that this machine gives to simple programs."""
    size = size if device.type == "cuda" else 512
    a, b = (torch.randn(size, size, device=device) for _ in range(2))
    many, tiny = torch.empty(size * size * 4, device=device), torch.zeros(1, device=device)
    halves = a.bfloat16(), b.bfloat16()
    return {
        "flops": 2 * size**3 / seconds(lambda: a @ b, device, 5),
        "flops_bf16": 2 * size**3 / seconds(lambda: halves[0] @ halves[1], device, 5),
        "bytes": 2 * many.numel() * 4 / seconds(lambda: many + 1, device, 5),
        "operations": 500 / seconds(lambda: [tiny.add_(1) for _ in range(500)], device, 5),
    }


def measure(case: Case, device: torch.device, limits: dict[str, float], repeats: int = 20) -> dict[str, Any]:
    """All that is told of one case."""
    here = float(step(case, case.module, case.inputs))
    grads = [p.grad.clone() for p in case.module.parameters() if p.grad is not None]
    module, inputs = case.module.to(device), move(case.inputs, device)
    there = float(step(case, module, inputs))
    gap = max(
        (
            float((p.grad.cpu() - g).norm() / g.norm().clamp_min(1e-9))
            for p, g in zip(_graded(module), grads, strict=True)
        ),
        default=0.0,
    )
    amp = float(step(case, module, inputs, amp=True))
    finite = all(bool(p.grad.isfinite().all()) for p in _graded(module))
    with FlopCounterMode(display=False) as flops, Traffic() as traffic:
        step(case, module, inputs)
    took = seconds(lambda: step(case, module, inputs), device, repeats)
    with_amp = seconds(lambda: step(case, module, inputs, amp=True), device, repeats)
    times = {
        "matrix products": flops.get_total_flops() / limits["flops"],
        "memory": traffic.bytes / limits["bytes"],
        "launches": traffic.operations / limits["operations"],
    }
    bound = max(times, key=lambda name: times[name])
    return {
        "name": case.name, "cpu_loss": here, "gpu_loss": there, "loss_gap": abs(there - here) / max(abs(here), 1e-9),
        "gradient_gap": gap, "amp_loss": amp, "amp_gap": abs(amp - here) / max(abs(here), 1e-9), "amp_finite": finite,
        "ms": 1e3 * took, "amp_ms": 1e3 * with_amp, "gflop": flops.get_total_flops() / 1e9, "gb": traffic.bytes / 1e9,
        "operations": traffic.operations, "bound": bound, "attainable_ms": 1e3 * times[bound],
        "share": times[bound] / took, "busy": busy_share(lambda: step(case, module, inputs), took, device),
    }  # fmt: skip


def _graded(module: nn.Module) -> list[Any]:
    return [p for p in module.parameters() if p.grad is not None]


def busy_share(work: Callable[[], object], took: float, device: torch.device) -> float | None:
    """The share of the wall time in which a kernel runs; None where the profiler cannot look."""
    if device.type != "cuda":
        return None
    try:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            work()
            torch.cuda.synchronize()
        kernels = sum(event.self_device_time_total for event in profile.key_averages())
        return kernels / 1e6 / took if kernels else None
    except Exception:  # some containers forbid it
        return None


def table(found: list[dict[str, Any]], limits: dict[str, float]) -> str:
    lines = [
        "measured: " + ", ".join(f"{name} {value:.3g}/s" for name, value in limits.items()),
        f"{'step (forward + backward)':<58} {'ms':>8} {'AMP ms':>8} {'attainable':>10} {'bound by':>15} {'share':>6} "
        f"{'busy':>6} {'loss gap':>9} {'grad gap':>9} {'AMP gap':>9}",
    ]
    for one in found:
        if "error" in one:
            lines.append(f"{one['name']:<58} {one['error']}")
            continue
        busy = "-" if one["busy"] is None else f"{one['busy']:.0%}"
        lines.append(
            f"{one['name']:<58} {one['ms']:>8.2f} {one['amp_ms']:>8.2f} {one['attainable_ms']:>10.2f} "
            f"{one['bound']:>15} {one['share']:>6.0%} {busy:>6} "
            f"{one['loss_gap']:>9.1e} {one['gradient_gap']:>9.1e} {one['amp_gap']:>9.1e}"
        )
    return "\n".join(lines)


def measure_all(device: torch.device, repeats: int = 20) -> tuple[list[dict[str, Any]], dict[str, float]]:
    limits, found = attainable(device), []
    for case in cases():
        try:
            found.append(measure(case, device, limits, repeats))
        except (RuntimeError, TypeError, ValueError) as error:  # the others go on
            found.append({"name": case.name, "error": repr(error)[:300]})
        print(table(found[-1:], limits).splitlines()[-1], flush=True)
    return found, limits


def run() -> list[Row]:
    """Where there is a GPU: the gap to the CPU, over the tolerance."""
    if not torch.cuda.is_available():
        return []
    found, _ = measure_all(torch.device("cuda"))
    return [
        Row(f"GPU v CPU loss, {one['name']}", one["loss_gap"], TOLERANCE, TOLERANCE / max(one["loss_gap"], 1e-9), 1, "")
        for one in found
    ]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path)
    options.add_argument("--cpu", action="store_true")
    asked = options.parse_args()
    device = torch.device("cpu" if asked.cpu else "cuda")
    found, limits = measure_all(device, 1 if asked.cpu else 20)
    text = table(found, limits)
    print(text)
    if asked.out:
        asked.out.mkdir(parents=True, exist_ok=True)
        name = torch.cuda.get_device_name() if device.type == "cuda" else "CPU"
        facts = {"device": name, "torch": torch.__version__, "limits": limits, "cases": found}
        (asked.out / "gpu.json").write_text(json.dumps(facts, indent=1) + "\n")
        (asked.out / "gpu.txt").write_text(text + "\n")


if __name__ == "__main__":
    main()
