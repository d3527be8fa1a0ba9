// SPDX-License-Identifier: Apache-2.0
// The sets of anchors, one byte at a time, and the choice of a wider way.
#include "ingest/base/secret_anchors.h"

// Which anchors share a set was chosen so that real traces have the fewest other bytes that fit.
enum anchor_set {
    A = 1,   // a3t xox :// :\/ aiz key k_t
    B = 2,   // glp hf_ gho ghp ghr dop doo dor k_l
    C = 4,   // sk- ssw ss_ sg. sk(hex) ysq
    D = 8,   // npm dck url pwd ig= ig\ (a backslash)
    E = 16,  // uth tok hub adb
    F = 32,  // vap aws ghu ghs pyp shp pas whs
    G = 64,  // ede cca -be ecr
    H = 128, // eyj aki bia asi bea api :aa oki
};

#define LETTER(lower, sets) [lower] = (sets), [(lower) - 'a' + 'A'] = (sets)

const uint8_t secret_anchor_sets[SECRET_ANCHOR_BYTES][128] = {
    {LETTER('a', A | E | F | H),
     LETTER('b', H),
     LETTER('c', G),
     LETTER('d', B | D),
     LETTER('e', G | H),
     LETTER('g', B | F),
     LETTER('h', B | E),
     LETTER('i', D),
     LETTER('k', A | B),
     LETTER('n', D),
     LETTER('o', H),
     LETTER('p', D | F),
     LETTER('s', C | F),
     LETTER('t', E),
     LETTER('u', D | E),
     LETTER('v', F),
     LETTER('w', F),
     LETTER('x', A),
     LETTER('y', C),
     ['-'] = G,
     [':'] = A | H},
    {LETTER('a', F | H), LETTER('b', G),     LETTER('c', D | G), LETTER('d', E | G),
     LETTER('e', A | H), LETTER('f', B),     LETTER('g', C | D), LETTER('h', B | F),
     LETTER('i', A | H), LETTER('k', C | H), LETTER('l', B),     LETTER('o', A | B | E),
     LETTER('p', D | H), LETTER('r', D),     LETTER('s', C | H), LETTER('t', E),
     LETTER('u', E),     LETTER('w', D | F), LETTER('y', F | H), ['/'] = A,
     ['3'] = A,          ['\\'] = A,         ['_'] = A | B},
    {LETTER('a', C | G | H),
     LETTER('b', C | E),
     LETTER('c', C),
     LETTER('d', C | D),
     LETTER('e', C | G),
     LETTER('f', C),
     LETTER('h', E),
     LETTER('i', H),
     LETTER('j', H),
     LETTER('k', D | E),
     LETTER('l', B | D),
     LETTER('m', D),
     LETTER('o', B),
     LETTER('p', B | F),
     LETTER('q', C),
     LETTER('r', B | G),
     LETTER('s', F),
     LETTER('t', A),
     LETTER('u', F),
     LETTER('w', C),
     LETTER('x', A),
     LETTER('y', A),
     LETTER('z', A),
     ['-'] = C,
     ['.'] = C,
     ['/'] = A,
     ['0'] = C,
     ['1'] = C,
     ['2'] = C,
     ['3'] = C,
     ['4'] = C,
     ['5'] = C,
     ['6'] = C,
     ['7'] = C,
     ['8'] = C,
     ['9'] = C,
     ['='] = D,
     ['\\'] = D,
     ['_'] = B | C},
};

#define PAIR(first, second) (((first)&31) << 5 | ((second)&31))
#define BIT(third)          (UINT32_C(1) << ((third)&31))
#define HEX_BITS            (UINT32_C(0x3ff) << ('0' & 31) | UINT32_C(0x3f) << ('a' & 31))

const uint32_t secret_anchor_thirds[SECRET_ANCHOR_PAIRS] = {
    [PAIR('-', 'b')] = BIT('e'),
    [PAIR(':', '/')] = BIT('/'),
    [PAIR(':', '\\')] = BIT('/'),
    [PAIR(':', 'a')] = BIT('a'),
    [PAIR('a', 'd')] = BIT('b'),
    [PAIR('a', 'i')] = BIT('z'),
    [PAIR('a', 'k')] = BIT('i'),
    [PAIR('a', 'p')] = BIT('i'),
    [PAIR('a', 's')] = BIT('i') | BIT('t'), // asi and a3t: '3' has the lower bits of 's'
    [PAIR('a', 'w')] = BIT('s'),
    [PAIR('b', 'e')] = BIT('a'),
    [PAIR('b', 'i')] = BIT('a'),
    [PAIR('c', 'c')] = BIT('a'),
    [PAIR('d', 'c')] = BIT('k'),
    [PAIR('d', 'o')] = BIT('o') | BIT('p') | BIT('r'),
    [PAIR('e', 'c')] = BIT('r'),
    [PAIR('e', 'd')] = BIT('e'),
    [PAIR('e', 'y')] = BIT('j'),
    [PAIR('g', 'h')] = BIT('o') | BIT('p') | BIT('r') | BIT('s') | BIT('u'),
    [PAIR('g', 'l')] = BIT('p'),
    [PAIR('h', 'f')] = BIT('_'),
    [PAIR('h', 'u')] = BIT('b'),
    [PAIR('i', 'g')] = BIT('=') | BIT('\\'),
    [PAIR('k', '_')] = BIT('l') | BIT('t'),
    [PAIR('k', 'e')] = BIT('y'),
    [PAIR('n', 'p')] = BIT('m'),
    [PAIR('o', 'k')] = BIT('i'),
    [PAIR('p', 'a')] = BIT('s'),
    [PAIR('p', 'w')] = BIT('d'),
    [PAIR('p', 'y')] = BIT('p'),
    [PAIR('s', 'g')] = BIT('.'),
    [PAIR('s', 'h')] = BIT('p'),
    [PAIR('s', 'k')] = BIT('-') | HEX_BITS,
    [PAIR('s', 's')] = BIT('_') | BIT('w'),
    [PAIR('t', 'o')] = BIT('k'),
    [PAIR('u', 'r')] = BIT('l'),
    [PAIR('u', 't')] = BIT('h'),
    [PAIR('v', 'a')] = BIT('p'),
    [PAIR('w', 'h')] = BIT('s'),
    [PAIR('x', 'o')] = BIT('x'),
    [PAIR('y', 's')] = BIT('q'),
};

size_t secret_anchor_next_scalar(struct str text, size_t from)
{
    for (size_t i = from; i + SECRET_ANCHOR_BYTES <= text.len; i++)
        if (secret_anchor_at(text.at + i))
            return i;
    return text.len;
}

#if defined(__x86_64__)

// On from *at in steps; true when an anchor stands there.
static bool next_wide(struct str text, size_t *at)
{
    if (secret_anchor_has_avx512())
        return secret_anchor_wide_avx512(text, at);
    return secret_anchor_has_avx2() && secret_anchor_wide_avx2(text, at);
}

size_t secret_anchor_next(struct str text, size_t from)
{
    return next_wide(text, &from) ? from : secret_anchor_next_scalar(text, from);
}

#else

size_t secret_anchor_next(struct str text, size_t from)
{
    return secret_anchor_next_scalar(text, from);
}

#endif
