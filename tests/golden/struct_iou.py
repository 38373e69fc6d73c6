"""Trees of the thesis' figures, with the numbers that follow from them."""

from dataclasses import replace

from groundling.structures import Segmentation, Tree


def timed(text: str, boundaries: list[float]) -> Tree:
    return Tree.from_segments(Tree.from_brackets(text), Segmentation.from_boundaries(boundaries))


def characters(text: str, lengths: list[int]) -> Tree:
    tree = Tree.from_brackets(text)
    return replace(tree, words=tuple("x" * n for n in lengths)).in_characters()


# Figure 5.1: "Your turn" by forced alignment; a wrong structure; wrong boundaries.
YOUR_TURN = timed("(NP (PRP Your) (NN turn))", [2.56, 2.72, 3.01])
YOUR_TURN_LEFT = timed("(VP (VBP a) (NP (PRP Your) (NN turn)))", [2.55, 2.56, 2.72, 3.01])
YOUR_TURN_RIGHT = timed("(NP (PRP Your) (NN turn))", [2.51, 2.70, 3.10])

# The Hebrew figure: two morphological analyses, measured in characters.
HEBREW_GOLD = characters("(FRAGQ (NP (SYN_WDT (DTT a)) (NP (SYN_NN (NN b)))) (SYN_yyQM (yyQM ?)))", [4, 6, 1])
HEBREW_PRED = characters(
    "(SQ (NP (SYN_WDT (DTT a)) (NP (SYN_NNT (BNT b)) (NP (SYN_NN (NN c))))) (SYN_yyQM (yyQM ?)))", [4, 4, 2, 1]
)

# Figure 5.2: T1 and T2 of the examples of conflicted matchings, all labels made equal.
FIGURE_5_2 = Tree.from_brackets("(X (X b) (X (X d) (X e)))"), Tree.from_brackets("(X (X g) (X h))")
