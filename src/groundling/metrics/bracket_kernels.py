"""ParsEval straight from text, compiled: what `bracketing.py` and `parseval.py` do to trees, on bytes."""

from __future__ import annotations

import numpy as np

from groundling.algorithms.compiled import compiled
from groundling.metrics.bracket_reader import (
    BEGIN,
    END,
    EQUALS,
    FAULT,
    FIRST,
    FREE,
    GONE,
    KEPT,
    LABEL,
    LABEL_END,
    LAST,
    MINUS,
    STATE,
    TAG,
    TAG_END,
    USED,
    Bytes,
    Ints,
    Names,
    Rules,
    equal,
    find,
    line_ends,
    read_line,
)  # fmt: skip

COLUMNS = 8  # length, status, matched, gold, test, crossing, words, tags; then (found, all) of each type


@compiled
def is_quote(text: Bytes, words: Ints, k: int, quotes: Names) -> bool:
    """Whether word k is a quotation mark that may carry this tag."""
    if words[END, k] - words[BEGIN, k] != 1:
        return False
    byte = text[words[BEGIN, k]]
    return (byte == 39 or byte == 34 or byte == 47) and find(text, words[TAG, k], words[TAG_END, k], quotes) >= 0


@compiled
def rescue_quotes(a: Bytes, words_a: Ints, n: int, b: Bytes, words_b: Ints, m: int, quotes: Names) -> None:
    """Keep on both sides a quotation mark that only one side keeps."""
    j = 0
    for i in range(n):
        if is_quote(a, words_a, i, quotes):
            while j < m and not is_quote(b, words_b, j, quotes):
                j += 1
            if j == m:
                return
            if words_a[KEPT, i] != words_b[KEPT, j]:
                words_a[KEPT, i] = words_b[KEPT, j] = 1
            j += 1


@compiled
def reduce_words(words: Ints, n: int, before: Ints) -> int:
    """Close the gaps of deleted words; before[k] is the new number of word k."""
    count = 0
    for k in range(n):
        before[k] = count
        if words[KEPT, k]:
            for row in range(4):
                words[row, count] = words[row, k]
            count += 1
    before[n] = count
    return count


@compiled
def reduce_brackets(text: Bytes, brackets: Ints, m: int, n: int, before: Ints, rules: Rules, delete: Names) -> int:
    """Drop the brackets that do not count, and cut functions off labels for EVALB; returns how many are left."""
    count = 0
    for k in range(m):
        first, last = before[brackets[FIRST, k]], before[brackets[LAST, k]]
        begin, end = brackets[LABEL, k], brackets[LABEL_END, k]
        if rules.evalb:
            cut = begin
            while cut < end and text[cut] != MINUS and text[cut] != EQUALS:
                cut += 1
            end = cut
            if first == last or find(text, begin, end, delete) >= 0:
                continue
        elif (last - first == 1 and not rules.words) or (last - first == n and not rules.whole):
            continue
        brackets[FIRST, count], brackets[LAST, count] = first, last
        brackets[LABEL, count], brackets[LABEL_END, count], brackets[STATE, count] = begin, end, FREE
        count += 1
    return count


@compiled
def label_equal(a: Bytes, one: Ints, i: int, b: Bytes, two: Ints, j: int, names: Names) -> bool:
    """Whether the labels of bracket i of one and j of two count as the same."""
    return equal(a, one[LABEL, i], one[LABEL_END, i], b, two[LABEL, j], two[LABEL_END, j], names)


# Spans are compared in the loops below before any call: most pairs differ there, and a call costs more than they do.


@compiled
def drop_doubles(text: Bytes, brackets: Ints, m: int, labels: bool, names: Names) -> int:
    """Mark all but the first of equal brackets as gone; returns how many count."""
    count = 0
    for i in range(m):
        for j in range(i):
            if brackets[FIRST, i] != brackets[FIRST, j] or brackets[LAST, i] != brackets[LAST, j]:
                continue
            if not labels or label_equal(text, brackets, i, text, brackets, j, names):
                brackets[STATE, i] = GONE
                break
        if brackets[STATE, i] == FREE:
            count += 1
    return count


@compiled
def match(a: Bytes, one: Ints, n: int, b: Bytes, two: Ints, m: int, labels: bool, names: Names) -> int:
    """Pair equal brackets one to one; returns how many pairs."""
    count = 0
    for i in range(n):
        for j in range(m):
            if one[STATE, i] != FREE:
                break
            if two[STATE, j] != FREE or one[FIRST, i] != two[FIRST, j] or one[LAST, i] != two[LAST, j]:
                continue
            if not labels or label_equal(a, one, i, b, two, j, names):
                one[STATE, i] = two[STATE, j] = USED
                count += 1
    return count


@compiled
def crossed(one: Ints, n: int, two: Ints, m: int) -> int:
    """How many brackets of two cross one of one."""
    count = 0
    for j in range(m):
        start, end = two[FIRST, j], two[LAST, j]
        for i in range(n):
            s, e = one[FIRST, i], one[LAST, i]
            if s < start < e < end or start < s < end < e:
                count += 1
                break
    return count


@compiled
def typed(
    a: Bytes, one: Ints, n: int, b: Bytes, two: Ints, m: int, rules: Rules, names: Names, types: Names, row: Ints
) -> None:
    """Add (found, all) of each type of gold bracket to row."""
    for i in range(n):
        begin = end = one[LABEL, i]
        while end < one[LABEL_END, i] and a[end] != MINUS and a[end] != EQUALS:
            end += 1
        kind = find(a, begin, end, types)
        if kind < 0:
            continue
        seen = False
        for j in range(0 if rules.multiset else i):
            if one[FIRST, i] == one[FIRST, j] and one[LAST, i] == one[LAST, j]:
                seen = seen or label_equal(a, one, i, a, one, j, names)
        if seen:
            continue
        found = one[STATE, i] == USED
        for j in range(0 if rules.labels and rules.multiset else m):
            if one[FIRST, i] == two[FIRST, j] and one[LAST, i] == two[LAST, j]:
                found = found or not rules.labels or label_equal(a, one, i, b, two, j, names)
        row[2 * kind] += int(found)
        row[2 * kind + 1] += 1


@compiled
def compare_lines(
    a: Bytes, b: Bytes, count: int, rules: Rules, delete: Names, short: Names, quotes: Names,
    labels: Names, same_words: Names, types: Names,
) -> Ints:  # fmt: skip
    """Compare line i of a with line i of b, for all i: rows of COLUMNS and the types. Status as in EVALB, or FAULT."""
    ends_a, ends_b = line_ends(a, count), line_ends(b, count)
    rows = np.zeros((count, COLUMNS + 2 * types.classes.shape[0]), np.int64)
    widest = 0
    for i in range(count):
        widest = max(widest, ends_a[i] - (ends_a[i - 1] if i else 0), ends_b[i] - (ends_b[i - 1] if i else 0))
    words_a, words_b = np.zeros((5, widest + 1), np.int64), np.zeros((5, widest + 1), np.int64)
    one, two = np.zeros((5, widest + 1), np.int64), np.zeros((5, widest + 1), np.int64)
    stack, before = np.zeros((4, widest + 1), np.int64), np.zeros(widest + 2, np.int64)
    for i in range(count):
        row = rows[i]
        n, bn = read_line(a, ends_a[i - 1] + 1 if i else 0, ends_a[i], rules, words_a, one, stack)
        m, bm = read_line(b, ends_b[i - 1] + 1 if i else 0, ends_b[i], rules, words_b, two, stack)
        fault = n == FAULT or m == FAULT or (not rules.evalb and (n == 0 or m == 0))
        kept_n = kept_m = 0
        for k in range(max(n, 0)):
            fault = fault or (rules.evalb and words_a[TAG, k] < 0)
            words_a[KEPT, k] = find(a, words_a[TAG, k], words_a[TAG_END, k], delete) < 0
            row[0] += find(a, words_a[TAG, k], words_a[TAG_END, k], short) < 0
            kept_n += words_a[KEPT, k]
        for k in range(max(m, 0)):
            fault = fault or (rules.evalb and words_b[TAG, k] < 0)
            words_b[KEPT, k] = find(b, words_b[TAG, k], words_b[TAG_END, k], delete) < 0
            kept_m += words_b[KEPT, k]
        row[6] = kept_n
        if fault or kept_m == 0:
            row[1] = FAULT if fault else 2
            continue
        if kept_n != kept_m and quotes.classes.shape[0]:
            rescue_quotes(a, words_a, n, b, words_b, m, quotes)
        n = reduce_words(words_a, n, before)
        bn = reduce_brackets(a, one, bn, n, before, rules, delete)
        m = reduce_words(words_b, m, before)
        bm = reduce_brackets(b, two, bm, m, before, rules, delete)
        fits = n == m
        for k in range(n if fits and rules.evalb else 0):
            w, v = words_a[:, k], words_b[:, k]
            fits = fits and equal(a, w[BEGIN], w[END], b, v[BEGIN], v[END], same_words)
            row[7] += equal(a, w[TAG], w[TAG_END], b, v[TAG], v[TAG_END], labels)
        if not fits:
            row[1], row[7] = 1, 0
            continue
        row[6], row[3], row[4] = n, bn, bm
        if not rules.multiset:
            row[3] = drop_doubles(a, one, bn, rules.labels, labels)
            row[4] = drop_doubles(b, two, bm, rules.labels, labels)
        row[2] = match(a, one, bn, b, two, bm, rules.labels, labels)
        row[5] = crossed(one, bn, two, bm) if rules.evalb else 0
        typed(a, one, bn, b, two, bm, rules, labels, types, row[COLUMNS:])
    return rows
