"""Links out of a similarity matrix of 100 x 100 against the `simalign` package's own functions, in one run.

$GROUNDLING_SIMALIGN names a folder with the package (pip download --no-deps simalign==0.4, unpacked); without it these
rows are left out. Only its two extraction functions are used, so scikit-learn, which they do not need, may be missing.
"""

import importlib
import importlib.util
import os
import sys
import types

import numpy as np

from benchmarks import Row, against, best_of
from groundling.algorithms.mutual_argmax import itermax, itermax_simalign, match

WORDS = 100


def simalign():
    folder = os.environ.get("GROUNDLING_SIMALIGN")
    if not folder:
        return None
    sys.path.insert(0, folder)
    for name, attribute in (("sklearn.preprocessing", "normalize"), ("sklearn.metrics.pairwise", "cosine_similarity")):
        if importlib.util.find_spec("sklearn") is None:
            stand_in = types.ModuleType(name)
            setattr(stand_in, attribute, None)
            sys.modules[name] = stand_in
    return importlib.import_module("simalign.simalign").SentenceAligner


def run() -> list[Row]:
    peer = simalign()
    if peer is None:
        print("benchmarks: mlpalign: no $GROUNDLING_SIMALIGN, nothing to compare with", file=sys.stderr)
        return []
    similarity = np.random.default_rng(0).random((WORDS, WORDS))
    itermax(similarity)  # load the compiled kernel
    match(similarity)
    assert (itermax_simalign(similarity) == (peer.iter_max(similarity) > 0)).all()
    chosen = peer.get_max_weight_match(similarity) > 0
    assert abs(similarity[chosen].sum() - similarity[match(similarity)].sum()) < 1e-6
    theirs = best_of(lambda: peer.iter_max(similarity), 20)
    return [
        against(
            "match, 100 x 100, against simalign's",
            best_of(lambda: match(similarity), 20) * 1e3,
            best_of(lambda: peer.get_max_weight_match(similarity), 1) * 1e3,
            20,
            "ms",
        ),
        against(
            "itermax (SimAlign's form), 100 x 100, against simalign's",
            best_of(lambda: itermax_simalign(similarity), 20) * 1e3,
            theirs * 1e3,
            5,
            "ms",
        ),
        against(
            "itermax (thesis' form, to the end), 100 x 100, against simalign's",
            best_of(lambda: itermax(similarity), 20) * 1e3,
            theirs * 1e3,
            1,
            "ms",
        ),
    ]
