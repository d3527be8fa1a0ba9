// SPDX-License-Identifier: Apache-2.0
// The sets of anchors, one byte at a time, and the choice of a wider way.
#include "ingest/base/secret_anchors.h"

// Which anchors share a set was chosen so that real traces have the fewest other bytes that fit.
enum anchor_set {
    A = 1,   // lpa vap eyj ede
    B = 2,   // aki abi a3t sk-
    C = 4,   // asi cca bea
    D = 8,   // hf_ uth ssw ss_
    E = 16,  // xox -be :// :\/ tok
    F = 32,  // hub aiz ecr aws
    G = 64,  // key npm
    H = 128, // ghp gho ghu ghs ghr pyp
};

#define LETTER(lower, sets) [lower] = (sets), [(lower) - 'a' + 'A'] = (sets)

const uint8_t secret_anchor_sets[SECRET_ANCHOR_BYTES][128] = {
    {LETTER('l', A), LETTER('v', A), LETTER('e', A | F), LETTER('a', B | C | F), LETTER('s', B | D),
     LETTER('c', C), LETTER('b', C), LETTER('h', D | F), LETTER('u', D), LETTER('x', E),
     LETTER('t', E), LETTER('k', G), LETTER('n', G), LETTER('g', H),
     LETTER('p', H), ['-'] = E, [':'] = E},
    {LETTER('p', A | G), LETTER('a', A), LETTER('y', A | H), LETTER('d', A), LETTER('k', B),
     LETTER('b', B | E), LETTER('s', C | D), LETTER('c', C | F), LETTER('e', C | G), LETTER('f', D),
     LETTER('t', D), LETTER('o', E), LETTER('u', F), LETTER('i', F), LETTER('w', F),
     LETTER('h', H), ['3'] = B, ['/'] = E, ['\\'] = E},
    {LETTER('a', A | C), LETTER('p', A | H), LETTER('j', A), LETTER('e', A | E),
     LETTER('i', B | C), LETTER('t', B),     LETTER('h', D), LETTER('w', D),
     LETTER('x', E),     LETTER('k', E),     LETTER('b', F), LETTER('z', F),
     LETTER('r', F | H), LETTER('s', F | H), LETTER('y', G), LETTER('m', G),
     LETTER('o', H),     LETTER('u', H),     ['-'] = B,      ['_'] = D,
     ['/'] = E},
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
