"""From a treebank and two text files to a parser of another language, in one call that can be killed and taken up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from groundling.backbones.text import TextEncoder
from groundling.backbones.translation import Translator
from groundling.errors import ConfigError, DataError
from groundling.formats import pharaoh
from groundling.structures import Alignment, Dependencies
from groundling.systems.mlpalign import align
from groundling.systems.subdp.bitext import Bitext, joined, read_bitext, read_lines, warnings_of
from groundling.systems.subdp.config import Config
from groundling.systems.subdp.job import Job, read_treebank, read_treebanks
from groundling.systems.subdp.model import Model
from groundling.systems.subdp.project import silver_hard, silver_self, silver_soft
from groundling.systems.subdp.shards import read_shards, write_shards
from groundling.systems.subdp.silver import Inventory, Silver, treebank
from groundling.systems.subdp.tokens import rules_of
from groundling.systems.subdp.train import Trees, new_parser, train_source, train_target
from groundling.systems.subdp.translate import translate_file
from groundling.systems.subdp.vectors import Words, cached_vectors
from groundling.systems.subdp.word_encoder import load_encoder
from groundling.training.devices import pick_device
from groundling.training.locks import Lock
from groundling.training.progress import track
from groundling.training.runs import RunFolder, load_model
from groundling.training.store import hash_data, make_folder, write_text

Say = Callable[[str], None]


def same_shape(config: Config, model: Config) -> Config:
    """The settings with those of a trained parser where they say what its weights are.

    >>> same_shape(Config(target_epochs=3), Config(lstm_dim=0, target_epochs=30)).lstm_dim
    0
    """
    shape = ("encoder", "layers", "arc_dim", "label_dim", "dropout", "lstm_dim", "subtypes")
    return replace(config, **{key: getattr(model, key) for key in shape})


def train_source_model(
    config: Config,
    trees: Sequence[Dependencies],
    dev: Sequence[Dependencies],
    folder: str | Path,
    *,
    encoder: TextEncoder,
    seed: int = 0,
    resume: bool = False,
    cache: Path | None = None,
    device: str = "auto",
    info: dict[str, Any] | None = None,
) -> Model:
    """Train P_1 on gold trees and save it; without `dev` every tenth sentence is held out."""
    if not dev:
        dev, trees = trees[::10], [tree for k, tree in enumerate(trees) if k % 10]
    inventory = Inventory.of(trees, config.subtypes)
    gold = [treebank(side, inventory, config.subtypes) for side in (trees, dev)]
    layers = config.layers or tuple(range(encoder.layers))
    vectors = [cached_vectors(encoder, [t.words for t in side], layers, cache) for side in gold]
    with RunFolder(folder, resume=resume) as run:
        run.keep_config(config)
        parser, history = train_source(
            config, Trees(vectors[0], gold[0]), Trees(vectors[1], gold[1]), inventory, seed=seed, run=run, device=device
        )
        facts = {**(info or {}), "seed": seed, "dev_las": history.best_value}
        model = Model(config, inventory, parser, encoder=encoder, info=facts, device=device)
        model.save(folder)
    return model


def align_bitext(
    encoder: TextEncoder, sources: Sequence[Words], targets: Sequence[Words], config: Config
) -> list[Alignment]:
    """Word alignments by the encoder itself, as in the thesis (SimAlign)."""
    fits = max(config.align_layers) < encoder.layers
    layers = config.align_layers if fits else (encoder.layers - 1,)
    found = align(sources, targets, encoder=encoder, method=config.align_method, layer=layers, centre=True)
    return list(track(found, "aligning", total=len(sources)))


class Transfer:
    """The steps of one transfer in one folder: `source/`, `alignments.pharaoh`, `silver/`, and the parser itself."""

    def __init__(
        self, folder: str | Path, job: Job, config: Config, *, seed: int = 0, resume: bool = False,
        encoder: TextEncoder | None = None, device: str = "auto", say: Say = lambda _: None,
    ) -> None:  # fmt: skip
        job.check()
        if job.model:  # its weights decide how the parser is built
            config = same_shape(config, load_model(job.model, Config)[0])
        self.folder, self.job, self.config, self.seed, self.resume = Path(folder), job, config, seed, resume
        self.device, self.say = device, say
        self.encoder = encoder or load_encoder(config.encoder, device)
        self.cache = self.folder / "vectors"
        self.layers = config.layers or tuple(range(self.encoder.layers))

    def run(self) -> Model:
        """All steps; those that are done already, from an earlier call with `resume`, are not done again."""
        make_folder(self.folder)
        with Lock(self.folder / "transfer.lock"):
            return self._run()

    def _run(self) -> Model:
        self._remember()
        bitext = self._bitext()
        source = self._source()
        if self.job.method == "dt":
            source.save(self.folder)
            return source
        silver = self._silver(source, bitext)
        return self._target(source, silver)

    def _remember(self) -> None:
        """Keep what was asked, and refuse to go on with something else."""
        asked = {"job": asdict(self.job), "config": asdict(self.config), "seed": self.seed}
        asked["data"] = hash_data(*self.job.files())
        asked = json.loads(json.dumps(asked))
        path = self.folder / "transfer.json"
        made = any(not p.name.startswith(("transfer.", ".")) for p in self.folder.iterdir())
        if path.exists() and made:  # a call that failed before its first step may be corrected and given again
            if not self.resume:
                raise ConfigError(
                    f"{self.folder}: already holds a transfer. Go on with `--resume`, or choose another folder."
                )
            if json.loads(path.read_text()) != asked:
                raise ConfigError(
                    f"{path}: the transfer began with other files or settings. Give the same ones, or another folder."
                )
        write_text(path, json.dumps(asked, indent=2) + "\n")

    def _bitext(self) -> Bitext:
        self.say("reading bitext")
        job, (first, second) = self.job, self.job.languages
        target = job.target or self._translated()
        pairs = [(job.source, target, first), *((one.text, one.translations, one.language) for one in job.more)]
        bitext = joined([read_bitext(a, b, (code, second), job.tokenised) for a, b, code in pairs])
        sample = read_lines(job.text, second, job.tokenised) if job.text else []
        codes = [] if job.tokenised else dict.fromkeys([first, second, *(one.language for one in job.more)])
        for warning in (*filter(None, map(rules_of, codes)), *warnings_of(bitext, sample)):
            self.say(f"warning: {warning}")
        return bitext

    def _translated(self) -> str:
        path = self.folder / "translated.txt"
        if not path.exists():
            self.say("translating")
            translator = Translator(self.job.translator, *self.job.translate_codes, pick_device(self.device))
            empty = translate_file(self.job.source, path, translator.translate)
            if empty:
                self.say(f"warning: {empty} lines have no translation (empty, or into another language)")
        return str(path)

    def _source(self) -> Model:
        if self.job.model:
            return Model.load(self.job.model, encoder=self.encoder, device=self.device)
        folder = self.folder / "source"
        if (folder / "run.json").exists():
            return Model.load(folder, encoder=self.encoder, device=self.device)
        self.say("training the source parser")
        dev = read_treebank(self.job.dev) if self.job.dev else []
        return train_source_model(
            self.config, read_treebanks(self.job), dev, folder, encoder=self.encoder, seed=self.seed,
            resume=True, cache=self.cache, device=self.device,
        )  # fmt: skip

    def _silver(self, source: Model, bitext: Bitext) -> list[Silver]:
        done = self.folder / "silver" / "done"
        if done.exists():
            return read_shards(done.parent)[0]
        links = [] if self.job.method == "st" else self._alignments(bitext)
        bare = sum(not alignment.sure for alignment in links)
        if bare:
            self.say(f"warning: {bare} of {len(links)} pairs have no link, so nothing is learned from them")
        self.say("making silver trees")
        silver = self._make_silver(source, bitext, links)
        write_shards(done.parent, silver, source.inventory)
        write_text(done, f"{len(silver)}\n")
        return read_shards(done.parent)[0]  # as a resumed run reads them: rounded alike

    def _make_silver(self, source: Model, bitext: Bitext, links: list[Alignment]) -> list[Silver]:
        side = bitext.targets if self.job.method == "st" else bitext.sources
        vectors = cached_vectors(self.encoder, side, self.layers, self.cache)
        if self.job.method == "st":
            return silver_self(source.parser, vectors, bitext.targets, source.inventory)
        if self.job.method == "hard":
            return silver_hard(source.parser, vectors, bitext.targets, links, source.inventory)
        own = cached_vectors(self.encoder, bitext.targets, self.layers, self.cache) if self.config.fill else None
        return silver_soft(source.parser, vectors, bitext.targets, links, self.config, own)

    def _alignments(self, bitext: Bitext) -> list[Alignment]:
        path = self.folder / "alignments.pharaoh"
        if self.job.alignments:
            given = list(pharaoh.read(self.job.alignments))
            if given and len(given) <= max(bitext.kept):
                raise DataError(f"{self.job.alignments}: {len(given)} alignments, fewer than the bitext has lines.")
            return [given[k] for k in bitext.kept]
        if not path.exists():
            self.say("aligning words")
            pharaoh.write(path, align_bitext(self.encoder, bitext.sources, bitext.targets, self.config))
        return list(pharaoh.read(path))

    def _target(self, source: Model, silver: list[Silver]) -> Model:
        self.say("training the target parser")
        vectors = cached_vectors(self.encoder, [tree.words for tree in silver], self.layers, self.cache)
        start = source.parser
        if self.job.method == "randi":
            start = new_parser(self.config, vectors, source.inventory, self.seed + 1)
        best = "max dev_las" if self.job.method in ("st", "hard") else "min dev_loss"
        with RunFolder(self.folder, resume=True) as run:
            parser, history = train_target(
                self.config, Trees(vectors, silver), start, seed=self.seed, run=run, device=self.device, best=best,
                gold=self._gold(source.inventory) if self.config.source_share and self.job.treebank else None,
            )  # fmt: skip
            if self.job.method == "dt-init":
                parser = self._back_to_treebank(parser, source.inventory)
            facts = {"seed": self.seed, "method": self.job.method, "silver": history.best_value}
            model = Model(self.config, source.inventory, parser, encoder=self.encoder, info=facts, device=self.device)
            model.save(self.folder)
        return model

    def _gold(self, inventory: Inventory) -> Trees:
        trees = treebank(read_treebanks(self.job), inventory, self.config.subtypes)
        return Trees(cached_vectors(self.encoder, [t.words for t in trees], self.layers, self.cache), trees)

    def _back_to_treebank(self, parser: Any, inventory: Inventory) -> Any:
        """DT with SubDP init (table 9.3): the SubDP parser goes on with the gold trees of the source."""
        gold = self._gold(inventory)
        config = replace(self.config, target_batch_words=self.config.source_batch_words)
        with RunFolder(self.folder / "again", resume=True) as run:
            made, _ = train_target(
                config, gold, parser, seed=self.seed, run=run, device=self.device, best="max dev_las"
            )
        return made
