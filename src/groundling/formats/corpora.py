"""Where real corpora stand, and what each is: they are read from `--data DIR` or `$GROUNDLING_DATA`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from groundling.errors import DataError
from groundling.names import did_you_mean


@dataclass(frozen=True)
class Corpus:
    """One folder of corpora: what it holds, who publishes it and under which terms."""

    name: str
    path: str  # below the folder of corpora
    what: str
    source: str
    homepage: str
    licence: str


CORPORA = {
    row[0]: Corpus(*row)
    for row in (
        (
            "mscoco-vgnsl",
            "vision/mscoco_vgnsl",
            "10,000 image captions with labelled trees, and trees by trained induction systems",
            "MSCOCO captions in the split of VG-NSL",
            "https://github.com/ExplorerFreda/VGNSL",
            "captions CC BY 4.0, system outputs MIT",
        ),
        (
            "mscoco-val2017",
            "vision/mscoco_val2017",
            "25,014 image captions, text only",
            "MSCOCO 2017 validation captions",
            "https://cocodataset.org",
            "CC BY 4.0",
        ),
        (
            "multi30k",
            "vision/multi30k",
            "captions of Flickr30k images in English, German, French and Czech",
            "Multi30K",
            "https://github.com/multi30k/dataset",
            "research use",
        ),
        (
            "multi30k-features",
            "vision/multi30k_features",
            "one vector an image for 7,478 images of Multi30K",
            "derived from Flickr30k images",
            "https://github.com/multi30k/dataset",
            "research use",
        ),
        (
            "multi30k-trees",
            "vision/multi30k_trees",
            "parser-made trees of the English validation and test captions",
            "derived from Multi30K",
            "https://github.com/multi30k/dataset",
            "derived, research use",
        ),
        (
            "snli",
            "vision/snli_subset",
            "Flickr30k captions and hypotheses with Stanford parses",
            "Stanford Natural Language Inference corpus",
            "https://nlp.stanford.edu/projects/snli/",
            "CC BY-SA 4.0",
        ),
        (
            "treebanks",
            "vision/treebanks",
            "constituency treebanks: PTB sample, GUM, Sinica, CESS-ESP, Floresta, Alpino",
            "NLTK data and GUM",
            "https://www.nltk.org/nltk_data/",
            "each its own; PTB sample and Floresta non-commercial",
        ),
        (
            "concreteness",
            "vision/concreteness",
            "how concrete people find 39,954 English words",
            "Brysbaert, Warriner and Kuperman (2014)",
            "https://doi.org/10.3758/s13428-013-0403-5",
            "research use",
        ),
        (
            "evalb",
            "vision/evalb",
            "trees with the scores that EVALB prints for them",
            "EVALB by Sekine and Collins",
            "https://nlp.cs.nyu.edu/evalb/",
            "public domain",
        ),
        (
            "ljspeech",
            "vision/ljspeech_align",
            "word and phone times of 13,100 read sentences",
            "LJ Speech",
            "https://keithito.com/LJ-Speech-Dataset/",
            "public domain, alignments MIT",
        ),
        (
            "tts-timings",
            "vision/tts_timings",
            "word times of the MSCOCO captions as a synthesiser speaks them",
            "derived with eSpeak NG",
            "https://github.com/espeak-ng/espeak-ng",
            "CC BY 4.0",
        ),
        (
            "scan",
            "programs/scan",
            "20,910 commands and their actions, with the published splits",
            "SCAN",
            "https://github.com/brendenlake/SCAN",
            "BSD",
        ),
        (
            "clevr",
            "programs/clevr",
            "scenes of simple solids, questions with programs and answers",
            "CLEVR",
            "https://cs.stanford.edu/people/jcjohns/clevr/",
            "CC BY 4.0, templates BSD",
        ),
        (
            "mbpp",
            "programs/mbpp",
            "974 small Python tasks with tests",
            "Mostly Basic Python Problems",
            "https://github.com/google-research/google-research/tree/master/mbpp",
            "CC BY 4.0",
        ),
        (
            "humaneval",
            "programs/humaneval",
            "164 Python functions to complete, with tests",
            "HumanEval",
            "https://github.com/openai/human-eval",
            "MIT, HumanEval+ Apache-2.0",
        ),
        (
            "samples",
            "programs/samples",
            "programs that models wrote for HumanEval, MBPP, Spider and NL2Bash",
            "outputs released with several papers, LLMDebugger and InterCode among them",
            "https://github.com/FloridSleeves/LLMDebugger",
            "MIT, Apache-2.0",
        ),
        (
            "spider",
            "programs/spider",
            "questions, SQL and databases",
            "Spider",
            "https://yale-lily.github.io/spider",
            "CC BY-SA 4.0",
        ),
        (
            "nl2bash",
            "programs/nl2bash",
            "12,607 descriptions with Bash commands",
            "NL2Bash",
            "https://github.com/TellinaTool/nl2bash",
            "MIT",
        ),
        (
            "ud",
            "crosslingual/ud",
            "dependency treebanks, PUD in six languages among them",
            "Universal Dependencies",
            "https://universaldependencies.org",
            "CC BY-SA, some CC BY-NC-SA",
        ),
        (
            "align-gold",
            "crosslingual/align_gold",
            "word alignments by hand, and outputs of published aligners",
            "WPT shared tasks, KFTT, XL-WA and others",
            "https://web.eecs.umich.edu/~mihalcea/wpt/",
            "mostly unstated; KFTT CC BY-SA, XL-WA CC BY-NC-SA",
        ),
        (
            "bitext",
            "crosslingual/bitext",
            "parallel sentences: Multi30K, Europarl, NTREX, XQuAD, Tatoeba",
            "OPUS and the projects themselves",
            "https://opus.nlpl.eu",
            "CC BY, CC BY-SA; Multi30K research use",
        ),
        (
            "lexicons",
            "crosslingual/lexicons",
            "single-word translation pairs",
            "FreeDict",
            "https://freedict.org",
            "GPL-2+",
        ),
    )
}


def data_dir(option: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder of corpora: the one given, else `$GROUNDLING_DATA`, else None."""
    given = os.fspath(option) if option is not None else os.environ.get("GROUNDLING_DATA", "")
    if not given:
        return None
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder of corpora. Correct --data or $GROUNDLING_DATA.")
    return folder


def find(name: str, option: str | os.PathLike[str] | None = None) -> Path:
    """The folder of one corpus, or an error that says where to get it."""
    if name not in CORPORA:
        raise DataError(f"no corpus is called {name!r}.{did_you_mean(name, CORPORA)} See `groundling data list`.")
    corpus, root = CORPORA[name], data_dir(option)
    if root is None or not (root / corpus.path).is_dir():
        raise DataError(
            f"the corpus {name!r} is not here. Get it from {corpus.homepage} ({corpus.source}), put it at "
            f"{corpus.path} below a folder, and name that folder with --data or $GROUNDLING_DATA."
        )
    return root / corpus.path


def files_of(folder: Path) -> Iterator[Path]:
    """Every file of a corpus, in a fixed order."""
    return (
        path for path in sorted(folder.rglob("*"), key=lambda p: p.relative_to(folder).as_posix()) if path.is_file()
    )


def checksum(folder: Path, contents: bool = False) -> str:
    """SHA-256 over names and sizes of the files of a corpus; with `contents` over all they hold, too."""
    total = hashlib.sha256()
    for path in files_of(folder):
        total.update(f"{path.relative_to(folder).as_posix()}\t{path.stat().st_size}\n".encode())
        if contents:
            with path.open("rb") as handle:
                total.update(hashlib.file_digest(handle, "sha256").digest())
    return total.hexdigest()
