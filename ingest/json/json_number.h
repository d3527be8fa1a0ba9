// SPDX-License-Identifier: Apache-2.0
// JSON numbers and texts as they occur in traces.
#ifndef INGEST_JSON_NUMBER_H
#define INGEST_JSON_NUMBER_H

#include "ingest/base/buf.h"

// Eight ASCII digits, '0' subtracted from each, to their number: pairs, then fours, then all, each
// with one multiplication.
static inline uint64_t json_eight_digits(uint64_t zeros)
{
    zeros = zeros * 10 + (zeros >> 8);
    return (((zeros & 0x000000FF000000FFu) * 0x000F424000000064u) +
            (((zeros >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
           32;
}

// Decimal microseconds to nanoseconds without going through double: digits past the third are cut;
// exponent forms are converted exactly, then cut.
// Times beyond max_ns are clamped to it. False if it is not a number.
bool json_us_to_ns(struct str text, int64_t max_ns, int64_t *ns);

// Same as whole microseconds and the nanoseconds after them, both negative below 0. Clamped to
// INT64_MAX microseconds.
bool json_us_parts(struct str text, int64_t *us, int64_t *part_ns);

// An integer; a fraction is cut. False if it is not a number or does not fit.
bool json_to_i64(struct str text, int64_t *value);

// An integer of 64 bits, signed or not, such as an address.
bool json_to_bits(struct str text, uint64_t *bits);

// True if the raw text of a JSON string can be used as it is: printable ASCII, no escapes.
bool json_text_is_plain(struct str raw);

// Appends the raw text of a JSON string with its escapes resolved, as well-formed UTF-8. Returns
// false if something had to be repaired: invalid UTF-8, escapes or surrogates (each becomes U+FFFD
// or stays as text), or raw control characters (kept).
bool json_text_decode(struct str raw, struct buf *out);

// Keys and other significant words may contain escapes like any text.
#define JSON_WORD 32 // no word we look for is longer

// The raw text of a JSON string with its escapes resolved, in room if it has any. Text that does
// not fit, and so is no known word, is returned unchanged.
struct str json_word(struct str raw, char room[JSON_WORD]);

// A finite JSON number.
bool json_to_f64(struct str text, double *value);

#endif
