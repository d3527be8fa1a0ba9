// SPDX-License-Identifier: Apache-2.0
// Numbers and texts of JSON as traces write them.
#ifndef INGEST_JSON_NUMBER_H
#define INGEST_JSON_NUMBER_H

#include "ingest/base/buf.h"

// Eight bytes of text, from each of which '0' was taken, to the number that they print: pairs, then
// fours, then all, each in one multiplication.
static inline uint64_t json_eight_digits(uint64_t zeros)
{
    zeros = zeros * 10 + (zeros >> 8);
    return (((zeros & 0x000000FF000000FFu) * 0x000F424000000064u) +
            (((zeros >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
           32;
}

// Decimal microseconds to nanoseconds without a detour through double: digits past the third are
// cut, exponent forms are converted exactly, then cut.
// Larger times than max_ns are cut to it. False when it is no number.
bool json_us_to_ns(struct str text, int64_t max_ns, int64_t *ns);

// The same as whole microseconds and the nanoseconds after them, both negative below 0. What does
// not fit is cut to INT64_MAX microseconds.
bool json_us_parts(struct str text, int64_t *us, int64_t *part_ns);

// An integer; a fraction is cut. False when it is no number or does not fit.
bool json_to_i64(struct str text, int64_t *value);

// True when the raw text of a JSON string can be taken as it stands: printable ASCII, no escapes.
bool json_text_is_plain(struct str raw);

// Appends the raw text of a JSON string with its escapes resolved, as well-formed UTF-8. Returns
// false when something had to be repaired: invalid UTF-8, escapes or surrogates (each becomes
// U+FFFD or stays as text), or raw control characters (kept).
bool json_text_decode(struct str raw, struct buf *out);

// Keys and other words that mean something may come with escapes like any text.
#define JSON_WORD 32 // none that anybody looks for is longer

// The raw text of a JSON string with its escapes resolved, in room when it has some. What does not
// fit there, and so is no word that anybody knows, stays as it came.
struct str json_word(struct str raw, char room[JSON_WORD]);

// A finite number as JSON writes it.
bool json_to_f64(struct str text, double *value);

#endif
