// SPDX-License-Identifier: Apache-2.0
// The anchor sets, the byte-at-a-time search, and the choice of a wider one.
#include "ingest/base/secret_anchors.h"

// Anchors are grouped into sets so that real traces have the fewest false candidates. Anchors from
// token formats are matched in their exact case; those from names and commands, in either.
enum anchor_set {
    A = 1,   // bea oki :// AKI ASI BIA api :AA
    B = 2,   // A3T ghp gho ghr glp dck dop doo dor
    C = 4,   // CCA npm SG. SK(hex)
    D = 8,   // ssw ysq :\/ hf_ sk- xox ss_
    E = 16,  // uth tok adb hub
    F = 32,  // ede ecr -be eyJ
    G = 64,  // pwd url ig= ig\ (a backslash) k_l k_t
    H = 128, // key aws pas shp ghu ghs vap AIz pyp whs
};

#define LETTER(lower, sets) [lower] = (sets), [(lower) - 'a' + 'A'] = (sets)

const uint8_t secret_anchor_sets[SECRET_ANCHOR_BYTES][128] = {
    {['A'] = A | B | E | H,
     ['a'] = A | E | H,
     LETTER('b', A),
     ['C'] = C,
     ['d'] = B,
     LETTER('e', F),
     ['g'] = B | H,
     ['h'] = D | E,
     LETTER('i', G),
     ['K'] = H,
     ['k'] = G | H,
     ['n'] = C,
     LETTER('o', A),
     LETTER('p', G | H),
     ['S'] = C | D | H,
     ['s'] = D | H,
     LETTER('t', E),
     LETTER('u', E | G),
     ['v'] = H,
     ['w'] = H,
     ['x'] = D,
     LETTER('y', D),
     ['-'] = F,
     [':'] = A | D},
    {['A'] = A | H,      ['a'] = H,          LETTER('b', F),    ['C'] = C | F, ['c'] = B | F,
     LETTER('d', E | F), LETTER('e', A | H), ['f'] = D,         ['G'] = C | G, ['g'] = G,
     ['H'] = H,          ['h'] = B | H,      ['I'] = A | H,     ['K'] = A | C, ['k'] = A | D,
     ['l'] = B,          ['O'] = E,          ['o'] = B | D | E, ['p'] = A | C, LETTER('r', G),
     ['S'] = A | D,      ['s'] = D,          LETTER('t', E),    ['u'] = E,     LETTER('w', G | H),
     ['y'] = F | H,      ['/'] = A,          ['3'] = B,         ['\\'] = D,    ['_'] = G},
    {LETTER('a', A | C), ['B'] = E,      ['b'] = C | E,  ['c'] = C,      ['D'] = G,
     ['d'] = C | G,      ['E'] = F,      ['e'] = C | F,  ['f'] = C,      LETTER('h', E),
     LETTER('i', A),     ['J'] = F,      ['K'] = E,      ['k'] = B | E,  LETTER('l', G),
     ['m'] = C,          ['o'] = B,      ['P'] = H,      ['p'] = B | H,  LETTER('q', D),
     ['R'] = F,          ['r'] = B | F,  LETTER('s', H), ['T'] = B,      ['t'] = G,
     ['u'] = H,          LETTER('w', D), ['x'] = D,      LETTER('y', H), ['z'] = H,
     ['-'] = D,          ['.'] = C,      ['/'] = A | D,  ['0'] = C,      ['1'] = C,
     ['2'] = C,          ['3'] = C,      ['4'] = C,      ['5'] = C,      ['6'] = C,
     ['7'] = C,          ['8'] = C,      ['9'] = C,      ['='] = G,      ['\\'] = G,
     ['_'] = D},
};

#define PAIR(first, second) (((first)&31) << 5 | ((second)&31))
#define BIT(third)          (UINT32_C(1) << ((third)&31))
#define HEX_BITS            (UINT32_C(0x3ff) << ('0' & 31) | UINT32_C(0x3f) << ('a' & 31))

const uint32_t secret_anchor_thirds[SECRET_ANCHOR_PAIRS] = {
    [PAIR('a', 'd')] = BIT('b'),
    [PAIR('a', 'i')] = BIT('z'),
    [PAIR('a', 'k')] = BIT('i'),
    [PAIR('a', 'p')] = BIT('i'),
    [PAIR('a', 's')] = BIT('i') | BIT('t'), // and a3t: '3' has the same low bits as 's'
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
    [PAIR('k', 'e')] = BIT('y'),
    [PAIR('k', '_')] = BIT('l') | BIT('t'),
    [PAIR('-', 'b')] = BIT('e'),
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
    [PAIR(':', 'a')] = BIT('a'),
    [PAIR(':', '/')] = BIT('/'),
    [PAIR(':', '\\')] = BIT('/'),
};

size_t secret_anchor_next_scalar(struct str text, size_t from)
{
    for (size_t i = from; i + SECRET_ANCHOR_BYTES <= text.len; i++)
        if (secret_anchor_at(text.at + i))
            return i;
    return text.len;
}

#if defined(__x86_64__)

size_t secret_anchor_next(struct str text, size_t from)
{
    // 32 bytes at a time advance from to the anchor, or to the rest that is too short for them
    bool found = secret_anchor_has_avx2() && secret_anchor_wide_avx2(text, &from);
    return found ? from : secret_anchor_next_scalar(text, from);
}

#else

size_t secret_anchor_next(struct str text, size_t from)
{
    return secret_anchor_next_scalar(text, from);
}

#endif
