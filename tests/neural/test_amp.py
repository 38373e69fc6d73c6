"""Each learner's step under bfloat16 autocast: it runs, its gradients are finite, its loss is near the full one."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks import gpu

SMALL = {
    "inside pass": lambda: [gpu.inside_pass(4, 6, 4, 6)],
    "VG-NSL": lambda: gpu.vse(8, 6, 50),
    "SubDP": lambda: [gpu.biaffine(6, 7, 2, 16)],
    "AV-NSL's encoder": lambda: [gpu.speech_encoder(4, 30)],
    "AV-NSL": lambda: [gpu.speech_learner(8, 6)],
    "MLPAlign": lambda: [gpu.aligner(64)],
}


@pytest.mark.parametrize("name", SMALL)
def test_half_precision_runs_and_stays_near(name: str) -> None:
    torch.manual_seed(0)
    for case in SMALL[name]():
        full = float(gpu.step(case, case.module, case.inputs))
        half = float(gpu.step(case, case.module, case.inputs, amp=True))
        assert half == pytest.approx(full, rel=gpu.AMP_TOLERANCE)
        assert all(p.grad.isfinite().all() for p in case.module.parameters() if p.grad is not None)


def test_g2l2_runs_in_half_precision() -> None:
    from benchmarks.g2l2 import lexicon

    from groundling.worlds import scan

    model = lexicon(60)
    examples = [item for item in scan.commands() if len(item.words) == 3][:4]
    full = model.loss(examples).mean()
    with torch.autocast("cpu", torch.bfloat16):
        half = model.loss(examples).mean()
    half.backward()
    assert half.item() == pytest.approx(full.item(), rel=1e-3)
    assert model.weights.grad is not None and model.weights.grad.isfinite().all()
