// SPDX-License-Identifier: Apache-2.0
// Data in a Python pickle (protocols 2 to 5) as a graph in memory. Nothing in it is executed: an
// opcode that names a class or a function, calls one or asks for an object outside the stream is
// refused.
//
// A value that the pickle refers to twice exists once, so a graph is never larger than its stream
// by more than a constant factor, and it may have cycles: no function here recurses, and a caller
// that does needs its own limit.
#ifndef INGEST_PICKLE_PICKLE_H
#define INGEST_PICKLE_PICKLE_H

#include "ingest/base/budget.h"
#include "ingest/base/str.h"

struct source;
struct pickle;

#define PICKLE_MAX_TEXT ((size_t)16 << 20) // bytes of one text
enum {
    PICKLE_MAX_MARKS = 1000, // containers open at once, as Python's own pickler allows
};

enum pickle_kind {
    PICKLE_NOTHING, // no value at all, such as a member that a dict does not have
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_HUGE, // an integer beyond int64_t, of which the lowest 64 bits are kept
    PICKLE_FLOAT,
    PICKLE_TEXT, // as written: mostly UTF-8
    PICKLE_BYTES,
    PICKLE_LIST,
    PICKLE_TUPLE,
    PICKLE_SET, // or a frozenset; items may repeat
    PICKLE_DICT,
    PICKLE_WIDE, // internal: an integer stored outside the value; pickle_kind_of says PICKLE_INT
    PICKLE_ROW,  // internal: a list that no longer grows; pickle_kind_of says PICKLE_LIST
};

// A value of a pickle: its kind in the lowest four bits. Equal texts are equal numbers.
typedef uint32_t pickle_value;
#define PICKLE_ABSENT ((pickle_value)PICKLE_NOTHING)

// A dict of which all members have been read: a record, of which a file may have millions. Lives
// during the call only.
struct pickle_record;
// The value of the dict's member keep[place]; PICKLE_ABSENT if it has none.
pickle_value pickle_record_member(const struct pickle_record *record, unsigned place);
const struct pickle *pickle_record_of(const struct pickle_record *record);
// If the list that will hold the record is an item of the list that is the value of a member
// keep[place]: its index there; else -1.
int64_t pickle_record_index(const struct pickle_record *record, unsigned place);
// The key of the root's member that the record is in; PICKLE_ABSENT if the root is no dict.
pickle_value pickle_record_key(const struct pickle_record *record);
// *taken: whether the record is not needed again. If so, its memory is used for the next one, and
// None takes its place.
typedef bool pickle_take(void *context, const struct pickle_record *record, bool *taken,
                         struct err *err);

// Reads one pickle up to its end; what comes after stays in the source or is lost. Of dicts, only
// the members in `keep` (and those whose keys are no texts) are kept; NULL: all. ERR_FORMAT with
// the position for one that is cut, damaged or has anything but data, ERR_LIMIT past the budget or
// the limits above. The budget must outlive the pickle.
struct pickle_input {
    struct source *source;
    struct budget *budget;
    const char *const *keep; // ends with NULL
    pickle_take *take;       // of each dict, in the order in which they end; NULL: all is kept
    void *context;           // of take
};
MUST_CHECK struct pickle *pickle_load(const struct pickle_input *input, struct err *err);
void pickle_free(struct pickle *pickle); // NULL is allowed

pickle_value pickle_root(const struct pickle *pickle);
// How many bytes the pickle had. A walk that sees more values than that meets some again and again,
// which in a hostile file may never end: stop there.
uint64_t pickle_size(const struct pickle *pickle);

static inline enum pickle_kind pickle_kind_of(pickle_value value)
{
    enum pickle_kind kind = (enum pickle_kind)(value & 15);
    return kind == PICKLE_WIDE ? PICKLE_INT : kind == PICKLE_ROW ? PICKLE_LIST : kind;
}

// False if it is no integer; booleans are 0 and 1, as in Python.
bool pickle_int(const struct pickle *pickle, pickle_value value, int64_t *number);
// The lowest 64 bits of an integer of any size, such as an address. False if it is no integer.
bool pickle_bits(const struct pickle *pickle, pickle_value value, uint64_t *bits);
// Also of integers. False if it is no number.
bool pickle_real(const struct pickle *pickle, pickle_value value, double *number);
// Of texts and bytes; empty for others. Lives as long as the pickle.
struct str pickle_text(const struct pickle *pickle, pickle_value value);

// The value of a text, to compare with or to look members up by; PICKLE_ABSENT if it is nowhere.
pickle_value pickle_find_text(const struct pickle *pickle, struct str text);
// Whether it is one of the members to keep, and which: its place in `keep`, which has none twice.
bool pickle_is_kept(const struct pickle *pickle, pickle_value key, unsigned *place);
// The member of a dict; PICKLE_ABSENT if there is none, or no dict. Takes a walk over all of it.
pickle_value pickle_member(const struct pickle *pickle, pickle_value dict, pickle_value key);

// A number shared by lists and tuples with the same items; 0: this one has none.
uint32_t pickle_row(const struct pickle *pickle, pickle_value list);

// Steps through the items of a list, tuple or set, or through the pairs of a dict, in the order of
// the stream; there, a repeated key comes again, and the last one counts.
struct pickle_walk {
    const struct pickle *pickle;
    bool dict;
    uint32_t first, node, row, at;
};
struct pickle_walk pickle_walk(const struct pickle *pickle, pickle_value container);
// *key is PICKLE_ABSENT unless in a dict. False at the end.
bool pickle_walk_next(struct pickle_walk *walk, pickle_value *key, pickle_value *item);

#endif
