// SPDX-License-Identifier: Apache-2.0
// The stack machine that a pickle is a program for, with the opcodes that only make data.
#include "ingest/pickle/pickle.h"
#include "ingest/pickle/pickle_bytes.h"
#include "ingest/pickle/pickle_memo.h"
#include "ingest/pickle/pickle_store.h"

#include <assert.h>

// Where a container starts: a depth of the stack, and what was kept and numbered before.
struct mark {
    size_t depth;
    struct pickle_store_mark store;
    uint64_t memo_set;
    bool alone; // the container on top of the stack is the last one made, and numbered once at most
};

enum {
    MOST_KEPT = 48,
    MOST_UNDER = 1024, // places of the stack that are searched for the key of a list
};

struct machine {
    struct pickle *pickle;
    struct pickle_bytes bytes;
    pickle_value *stack;
    size_t depth, stack_cap;
    struct pickle_memo memo;
    pickle_take *take;
    void *context;
    pickle_value members[MOST_KEPT]; // of the last dict
    pickle_value newest;             // container, and what was numbered when it was made
    uint64_t newest_memo_set;
    uint32_t pinned; // containers below this may be referred to from anywhere
    uint64_t op_pos;
    unsigned marks;
    bool stopped;
    struct mark mark[PICKLE_MAX_MARKS];
};

struct pickle_record {
    const struct machine *machine;
};

// argument: the size of what follows the opcode, or the constant, kind or count it stands for.
typedef bool run_op(struct machine *machine, unsigned argument, struct err *err);

struct op {
    run_op *run;
    unsigned argument;
    const char *refused; // what it would do
};

static bool damaged(const struct machine *machine, const char *what, struct err *err)
{
    return err_set_at(err, ERR_FORMAT, machine->op_pos, "found a damaged pickle: %s", what);
}

// --- the stack ----------------------------------------------------------------------------------

static bool push(struct machine *machine, pickle_value value, struct err *err)
{
    pickle_value *stack = budget_room(machine->pickle->budget, machine->stack, &machine->stack_cap,
                                      machine->depth + 1, sizeof *stack, err);
    if (!stack)
        return false;
    machine->stack = stack;
    stack[machine->depth++] = value;
    return true;
}

// The values above the last mark, which no opcode but one that takes the mark may go below.
static size_t above_mark(const struct machine *machine)
{
    return machine->depth - (machine->marks ? machine->mark[machine->marks - 1].depth : 0);
}

static bool has(const struct machine *machine, size_t count, struct err *err)
{
    return above_mark(machine) >= count || damaged(machine, "a value is missing", err);
}

static bool mark(struct machine *machine, unsigned argument, struct err *err)
{
    (void)argument;
    if (machine->marks == PICKLE_MAX_MARKS)
        return err_set_at(err, ERR_LIMIT, machine->op_pos,
                          "found a pickle nested deeper than %d levels", PICKLE_MAX_MARKS);
    bool alone = machine->depth && machine->stack[machine->depth - 1] == machine->newest &&
                 machine->pickle->node_count == (machine->newest >> 4) + 1 &&
                 machine->memo.set <= machine->newest_memo_set + 1;
    machine->mark[machine->marks++] =
        (struct mark){machine->depth, pickle_store_mark(machine->pickle), machine->memo.set, alone};
    return true;
}

// Takes the values above the last mark off the stack, where they stay until the next push.
static bool take_marked(struct machine *machine, const pickle_value **items, size_t *count,
                        struct err *err)
{
    if (machine->marks == 0)
        return damaged(machine, "a mark is missing", err);
    *count = above_mark(machine);
    machine->depth = machine->mark[--machine->marks].depth;
    *items = machine->stack + machine->depth;
    return true;
}

// The container on top of the stack, which items are added to.
static bool target(const struct machine *machine, bool dict, pickle_value *container,
                   struct err *err)
{
    if (!has(machine, 1, err))
        return false;
    *container = machine->stack[machine->depth - 1];
    enum pickle_kind kind = (enum pickle_kind)(*container & 15); // nothing is added to a row
    bool fits = dict ? kind == PICKLE_DICT : kind == PICKLE_LIST || kind == PICKLE_SET;
    return fits || damaged(machine, "items are added to what holds none", err);
}

static bool pop(struct machine *machine, unsigned argument, struct err *err)
{
    (void)argument;
    if (machine->marks && above_mark(machine) == 0) {
        machine->marks--; // as in Python, where a mark is on the stack
        return true;
    }
    if (!has(machine, 1, err))
        return false;
    machine->depth--;
    return true;
}

static bool pop_mark(struct machine *machine, unsigned argument, struct err *err)
{
    const pickle_value *items;
    size_t count;
    (void)argument;
    return take_marked(machine, &items, &count, err);
}

// A container that is referred to twice is not forgotten.
static void pin(struct machine *machine, pickle_value value)
{
    enum pickle_kind kind = pickle_kind_of(value);
    bool container = kind >= PICKLE_LIST && kind <= PICKLE_DICT;
    if (container && (value & 15) != PICKLE_ROW && value >> 4 >= machine->pinned)
        machine->pinned = (value >> 4) + 1;
}

static bool dup(struct machine *machine, unsigned argument, struct err *err)
{
    (void)argument;
    if (!has(machine, 1, err))
        return false;
    pin(machine, machine->stack[machine->depth - 1]);
    return push(machine, machine->stack[machine->depth - 1], err);
}

// --- scalars ------------------------------------------------------------------------------------

static bool push_none(struct machine *machine, unsigned argument, struct err *err)
{
    (void)argument;
    return push(machine, pickle_value_of(PICKLE_NONE, 0), err);
}

static bool push_bool(struct machine *machine, unsigned argument, struct err *err)
{
    return push(machine, pickle_value_of(PICKLE_BOOL, argument), err);
}

static bool push_number(struct machine *machine, int64_t number, struct err *err)
{
    pickle_value value;
    return pickle_store_int(machine->pickle, number, &value, err) && push(machine, value, err);
}

// 4 bytes are signed, fewer are unsigned.
static bool push_int(struct machine *machine, unsigned argument, struct err *err)
{
    uint64_t bits;
    if (!pickle_take_number(&machine->bytes, argument, &bits, err))
        return false;
    return push_number(machine, argument == 4 ? (int32_t)(uint32_t)bits : (int64_t)bits, err);
}

// An integer of `len` bytes, too many for a number.
static bool push_huge(struct machine *machine, uint64_t len, struct err *err)
{
    uint64_t bits;
    pickle_value value;
    return pickle_take_number(&machine->bytes, sizeof bits, &bits, err) &&
           pickle_skip(&machine->bytes, len - sizeof bits, err) &&
           pickle_store_huge(machine->pickle, bits, &value, err) && push(machine, value, err);
}

// A signed integer of any size, preceded by its number of bytes.
static bool push_long(struct machine *machine, unsigned argument, struct err *err)
{
    uint64_t len, bits;
    if (!pickle_take_number(&machine->bytes, argument, &len, err))
        return false;
    if (len > sizeof bits)
        return push_huge(machine, len, err);
    if (!pickle_take_number(&machine->bytes, (unsigned)len, &bits, err))
        return false;
    bool negative = len && bits >> (8 * len - 1);
    if (negative && len < sizeof bits)
        bits |= UINT64_MAX << 8 * len;
    return push_number(machine, (int64_t)bits, err);
}

static bool push_float(struct machine *machine, unsigned argument, struct err *err)
{
    uint64_t bits;
    double number;
    pickle_value value;
    (void)argument;
    if (!pickle_take_number(&machine->bytes, sizeof bits, &bits, err))
        return false;
    bits = __builtin_bswap64(bits); // the highest byte comes first
    memcpy(&number, &bits, sizeof number);
    return pickle_store_float(machine->pickle, number, &value, err) && push(machine, value, err);
}

static bool take_text(struct machine *machine, unsigned len_bytes, pickle_value *value,
                      struct err *err)
{
    uint64_t len;
    struct str text;
    return pickle_take_number(&machine->bytes, len_bytes, &len, err) &&
           pickle_take_text(&machine->bytes, len, &text, err) &&
           pickle_store_text(machine->pickle, text, value, err);
}

static bool push_text(struct machine *machine, unsigned argument, struct err *err)
{
    pickle_value value;
    return take_text(machine, argument, &value, err) && push(machine, value, err);
}

static bool push_bytes(struct machine *machine, unsigned argument, struct err *err)
{
    pickle_value value;
    return take_text(machine, argument, &value, err) &&
           push(machine, pickle_value_of(PICKLE_BYTES, value >> 4), err);
}

// --- records ------------------------------------------------------------------------------------

pickle_value pickle_record_member(const struct pickle_record *record, unsigned place)
{
    return record->machine->members[place];
}

const struct pickle *pickle_record_of(const struct pickle_record *record)
{
    return record->machine->pickle;
}

// The index of the stack's value `at` among the items of the list right above the key; -1 if there
// is no such key, or too far down.
static int64_t index_under(const struct machine *machine, size_t at, unsigned place)
{
    const pickle_value key = pickle_value_of(PICKLE_TEXT, place);
    size_t end = at > MOST_UNDER ? at - MOST_UNDER : 0;
    for (size_t i = at; i-- > end;)
        if (machine->stack[i] == key)
            return (int64_t)at - (int64_t)i - 2;
    return -1;
}

// Items are added to a list either all at once, from a mark, or one at a time.
int64_t pickle_record_index(const struct pickle_record *record, unsigned place)
{
    const struct machine *machine = record->machine;
    size_t from = machine->marks ? machine->mark[machine->marks - 1].depth : 0;
    bool marked = from && pickle_kind_of(machine->stack[from - 1]) == PICKLE_LIST;
    int64_t index = marked ? index_under(machine, from - 1, place) : -1;
    return index < 0 && machine->depth > 1 ? index_under(machine, machine->depth - 2, place)
                                           : index;
}

// From the first container above the root on, only lists can lie between it and the key.
pickle_value pickle_record_key(const struct pickle_record *record)
{
    const struct machine *machine = record->machine;
    const pickle_value *stack = machine->stack;
    unsigned of_root = machine->marks && machine->mark[0].depth == 1;
    size_t at = machine->marks > of_root ? machine->mark[of_root].depth : machine->depth;
    size_t end = at > MOST_UNDER ? at - MOST_UNDER : 1;
    if (pickle_kind_of(stack[0]) != PICKLE_DICT)
        return PICKLE_ABSENT;
    while (at > end && pickle_kind_of(stack[at - 2]) == PICKLE_LIST)
        at--;
    return at > 1 ? stack[at - 2] : PICKLE_ABSENT;
}

// Asks whether to keep a dict of these keys and values.
static bool offer(struct machine *machine, const pickle_value *items, size_t count, bool *taken,
                  struct err *err)
{
    const struct pickle_record record = {machine};
    unsigned place;
    memset(machine->members, 0, machine->pickle->kept * sizeof *machine->members);
    for (size_t i = 0; i + 1 < count; i += 2)
        if (pickle_is_kept(machine->pickle, items[i], &place))
            machine->members[place] = items[i + 1];
    return machine->take(machine->context, &record, taken, err);
}

// Turns the dict on top of the stack, whose mark was taken last, into None. Unless it is pinned,
// all else that refers to it or its parts has been numbered since it was made.
static bool forget(struct machine *machine, pickle_value dict, struct err *err)
{
    const struct mark *mark = &machine->mark[machine->marks];
    uint64_t at = mark->memo_set ? mark->memo_set - 1 : 0;
    bool kept = !mark->alone || dict >> 4 < machine->pinned ||
                machine->pickle->row_count != mark->store.rows;
    machine->stack[machine->depth - 1] = pickle_value_of(PICKLE_NONE, 0);
    for (; !kept && at < machine->memo.set; at++) {
        pickle_value value = pickle_memo_get(&machine->memo, at);
        pickle_value lasting = pickle_store_lasting(machine->pickle, value, dict >> 4);
        if (lasting != value && !pickle_memo_set(&machine->memo, at, lasting, err))
            return false;
    }
    if (!kept)
        pickle_store_forget(machine->pickle, dict, &mark->store);
    return true;
}

// --- containers ---------------------------------------------------------------------------------

static bool push_empty(struct machine *machine, unsigned argument, struct err *err)
{
    pickle_value value;
    if (!pickle_store_container(machine->pickle, (enum pickle_kind)argument, &value, err))
        return false;
    machine->newest = value;
    machine->newest_memo_set = machine->memo.set;
    return push(machine, value, err);
}

static bool add_members(struct machine *machine, pickle_value dict, const pickle_value *items,
                        size_t count, struct err *err)
{
    if (count % 2)
        return damaged(machine, "a key has no value", err);
    return pickle_store_members(machine->pickle, dict, items, count / 2, err);
}

// items: the values above the mark, or the last ones on the stack.
static bool make(struct machine *machine, enum pickle_kind kind, const pickle_value *items,
                 size_t count, struct err *err)
{
    pickle_value made;
    if (!pickle_store_container(machine->pickle, kind, &made, err))
        return false;
    bool added = kind == PICKLE_DICT ? add_members(machine, made, items, count, err)
                                     : pickle_store_items(machine->pickle, made, items, count, err);
    return added && push(machine, made, err);
}

static bool make_marked(struct machine *machine, unsigned argument, struct err *err)
{
    const pickle_value *items;
    size_t count;
    return take_marked(machine, &items, &count, err) &&
           make(machine, (enum pickle_kind)argument, items, count, err);
}

static bool make_tuple(struct machine *machine, unsigned argument, struct err *err)
{
    if (!has(machine, argument, err))
        return false;
    machine->depth -= argument;
    return make(machine, PICKLE_TUPLE, machine->stack + machine->depth, argument, err);
}

static bool append_one(struct machine *machine, unsigned argument, struct err *err)
{
    pickle_value list;
    (void)argument;
    if (!has(machine, 2, err))
        return false;
    machine->depth--;
    return target(machine, false, &list, err) &&
           pickle_store_items(machine->pickle, list, machine->stack + machine->depth, 1, err);
}

static bool append_marked(struct machine *machine, unsigned argument, struct err *err)
{
    const pickle_value *items;
    size_t count;
    pickle_value list;
    (void)argument;
    return take_marked(machine, &items, &count, err) && target(machine, false, &list, err) &&
           pickle_store_items(machine->pickle, list, items, count, err);
}

static bool set_one(struct machine *machine, unsigned argument, struct err *err)
{
    pickle_value dict;
    (void)argument;
    if (!has(machine, 3, err))
        return false;
    machine->depth -= 2;
    return target(machine, true, &dict, err) &&
           add_members(machine, dict, machine->stack + machine->depth, 2, err);
}

static bool set_marked(struct machine *machine, unsigned argument, struct err *err)
{
    const pickle_value *items;
    size_t count;
    pickle_value dict;
    bool taken = false;
    (void)argument;
    if (!take_marked(machine, &items, &count, err) || !target(machine, true, &dict, err))
        return false;
    if (machine->take && !offer(machine, items, count, &taken, err))
        return false;
    return taken ? forget(machine, dict, err) : add_members(machine, dict, items, count, err);
}

// --- the memo -----------------------------------------------------------------------------------

static bool remember(struct machine *machine, uint64_t at, struct err *err)
{
    if (!has(machine, 1, err))
        return false;
    // Every number before took a value and an opcode, so a larger one is not Python's.
    if (at >= machine->op_pos)
        return damaged(machine, "a value is kept under a number out of order", err);
    if (at != machine->memo.set || pickle_memo_get(&machine->memo, at) != PICKLE_ABSENT)
        pin(machine, machine->stack[machine->depth - 1]);
    return pickle_memo_set(&machine->memo, at, machine->stack[machine->depth - 1], err);
}

static bool put(struct machine *machine, unsigned argument, struct err *err)
{
    uint64_t at;
    return pickle_take_number(&machine->bytes, argument, &at, err) && remember(machine, at, err);
}

static bool memoize(struct machine *machine, unsigned argument, struct err *err)
{
    (void)argument;
    return remember(machine, machine->memo.set, err);
}

static bool get(struct machine *machine, unsigned argument, struct err *err)
{
    uint64_t at;
    if (!pickle_take_number(&machine->bytes, argument, &at, err))
        return false;
    pickle_value value = pickle_memo_get(&machine->memo, at);
    if (value == PICKLE_ABSENT)
        return damaged(machine, "it refers to a value that was not kept", err);
    pin(machine, value);
    return push(machine, value, err);
}

// --- the rest -----------------------------------------------------------------------------------

// A frame's length, of no use when reading a stream, and the protocol's number.
static bool skip(struct machine *machine, unsigned argument, struct err *err)
{
    return pickle_skip(&machine->bytes, argument, err);
}

static bool stop(struct machine *machine, unsigned argument, struct err *err)
{
    (void)argument;
    if (machine->marks || machine->depth != 1)
        return damaged(machine, "it does not end with one value", err);
    machine->pickle->root = machine->stack[0];
    machine->stopped = true;
    return true;
}

#define CALLS   "calls a function"
#define NAMES   "names a class or function"
#define OUTSIDE "asks for an object outside the file"
#define TEXTUAL "is of protocol 0 or 1"

static const struct op ops[256] = {
    ['('] = {.run = mark},
    ['.'] = {.run = stop},
    ['0'] = {.run = pop},
    ['1'] = {.run = pop_mark},
    ['2'] = {.run = dup},
    ['N'] = {.run = push_none},
    [0x88] = {.run = push_bool, .argument = 1},
    [0x89] = {.run = push_bool, .argument = 0},
    ['K'] = {.run = push_int, .argument = 1},
    ['M'] = {.run = push_int, .argument = 2},
    ['J'] = {.run = push_int, .argument = 4},
    [0x8A] = {.run = push_long, .argument = 1},
    [0x8B] = {.run = push_long, .argument = 4},
    ['G'] = {.run = push_float},
    ['U'] = {.run = push_text, .argument = 1}, // of Python 2
    ['T'] = {.run = push_text, .argument = 4},
    [0x8C] = {.run = push_text, .argument = 1},
    ['X'] = {.run = push_text, .argument = 4},
    [0x8D] = {.run = push_text, .argument = 8},
    ['C'] = {.run = push_bytes, .argument = 1},
    ['B'] = {.run = push_bytes, .argument = 4},
    [0x8E] = {.run = push_bytes, .argument = 8},
    [0x96] = {.run = push_bytes, .argument = 8}, // a bytearray
    [']'] = {.run = push_empty, .argument = PICKLE_LIST},
    [')'] = {.run = push_empty, .argument = PICKLE_TUPLE},
    ['}'] = {.run = push_empty, .argument = PICKLE_DICT},
    [0x8F] = {.run = push_empty, .argument = PICKLE_SET},
    ['l'] = {.run = make_marked, .argument = PICKLE_LIST},
    ['t'] = {.run = make_marked, .argument = PICKLE_TUPLE},
    ['d'] = {.run = make_marked, .argument = PICKLE_DICT},
    [0x91] = {.run = make_marked, .argument = PICKLE_SET},
    [0x85] = {.run = make_tuple, .argument = 1},
    [0x86] = {.run = make_tuple, .argument = 2},
    [0x87] = {.run = make_tuple, .argument = 3},
    ['a'] = {.run = append_one},
    ['e'] = {.run = append_marked},
    [0x90] = {.run = append_marked},
    ['s'] = {.run = set_one},
    ['u'] = {.run = set_marked},
    ['h'] = {.run = get, .argument = 1},
    ['j'] = {.run = get, .argument = 4},
    ['q'] = {.run = put, .argument = 1},
    ['r'] = {.run = put, .argument = 4},
    [0x94] = {.run = memoize},
    [0x80] = {.run = skip, .argument = 1},
    [0x95] = {.run = skip, .argument = 8},
    ['c'] = {.refused = NAMES},
    [0x93] = {.refused = NAMES},
    [0x82] = {.refused = NAMES},
    [0x83] = {.refused = NAMES},
    [0x84] = {.refused = NAMES},
    ['R'] = {.refused = CALLS},
    ['b'] = {.refused = CALLS},
    ['i'] = {.refused = CALLS},
    ['o'] = {.refused = CALLS},
    [0x81] = {.refused = CALLS},
    [0x92] = {.refused = CALLS},
    ['P'] = {.refused = OUTSIDE},
    ['Q'] = {.refused = OUTSIDE},
    [0x97] = {.refused = OUTSIDE},
    [0x98] = {.refused = OUTSIDE},
    ['F'] = {.refused = TEXTUAL},
    ['I'] = {.refused = TEXTUAL},
    ['L'] = {.refused = TEXTUAL},
    ['S'] = {.refused = TEXTUAL},
    ['V'] = {.refused = TEXTUAL},
    ['g'] = {.refused = TEXTUAL},
    ['p'] = {.refused = TEXTUAL},
};

static bool step(struct machine *machine, struct err *err)
{
    unsigned char code;
    machine->op_pos = pickle_bytes_pos(&machine->bytes);
    if (!pickle_take_byte(&machine->bytes, &code, err))
        return false;
    const struct op *op = &ops[code];
    if (op->run)
        return op->run(machine, op->argument, err);
    if (!op->refused)
        return damaged(machine, "an unknown opcode", err);
    return err_set_at(err, ERR_FORMAT, machine->op_pos,
                      "found a pickle with opcode 0x%02x, which %s; expected only data of "
                      "protocols 2 to 5",
                      code, op->refused);
}

// The first byte of every protocol that is read.
static bool start(struct machine *machine, struct err *err)
{
    uint64_t head;
    if (!pickle_take_number(&machine->bytes, 2, &head, err))
        return false;
    unsigned protocol = (unsigned)head >> 8;
    return ((head & 0xFF) == 0x80 && protocol >= 2 && protocol <= 5) ||
           err_set_at(err, ERR_FORMAT, 0, "found no pickle of protocols 2 to 5");
}

// Texts get numbers in the order in which they come, so those of members to keep are the lowest.
static bool note_kept(struct pickle *pickle, const char *const *keep, struct err *err)
{
    pickle_value value;
    for (; keep && *keep; keep++)
        if (!pickle_store_text(pickle, str_of(*keep), &value, err))
            return false;
    pickle->kept = (uint32_t)pickle->text_count;
    assert(pickle->kept <= MOST_KEPT);
    return true;
}

static bool load(struct machine *machine, const struct pickle_input *input, struct err *err)
{
    machine->bytes.source = input->source;
    machine->bytes.budget = input->budget;
    machine->memo.budget = input->budget;
    machine->take = input->take;
    machine->context = input->context;
    machine->stack =
        budget_room(input->budget, NULL, &machine->stack_cap, 1, sizeof *machine->stack, err);
    bool ok = machine->stack && note_kept(machine->pickle, input->keep, err) && start(machine, err);
    while (ok && !machine->stopped)
        ok = step(machine, err);
    machine->pickle->size = pickle_bytes_pos(&machine->bytes);
    pickle_bytes_free(&machine->bytes);
    budget_free(input->budget, machine->stack, machine->stack_cap * sizeof *machine->stack);
    pickle_memo_free(&machine->memo);
    return ok;
}

struct pickle *pickle_load(const struct pickle_input *input, struct err *err)
{
    struct pickle *pickle = budget_zalloc(input->budget, sizeof *pickle, err);
    struct machine *machine = pickle ? budget_zalloc(input->budget, sizeof *machine, err) : NULL;
    bool ok = false;
    if (machine && pickle_store_init(pickle, input->budget, err)) {
        machine->pickle = pickle;
        ok = load(machine, input, err);
    }
    budget_free(input->budget, machine, sizeof *machine);
    if (!ok && pickle) {
        pickle->budget = input->budget;
        pickle_free(pickle);
    }
    return ok ? pickle : NULL;
}
