// SPDX-License-Identifier: Apache-2.0
// Reads the Itanium C++ ABI's mangling with an explicit stack: text is written from left to right,
// and what a qualifier or a closing letter adds waits in a frame.
#include "analysis/kernel_names/kernel_mangled.h"

#include <assert.h>
#include <stdio.h>

enum { FRAMES_MAX = 96, SEEN_MAX = 192 };

enum frame_kind {
    FRAME_NESTED,   // N ... E
    FRAME_ARGS,     // I ... E
    FRAME_PACK,     // J ... E
    FRAME_LOCAL,    // Z encoding E entity
    FRAME_PARAMS,   // parameters of the function that FRAME_LOCAL is in
    FRAME_LAMBDA,   // Ul ... E number _
    FRAME_FUNCTION, // F ... E
    FRAME_SUFFIX,   // P R O K V: text after a type
    FRAME_VALUE,    // L type value E
    FRAME_ADDRESS,  // Xad L_Z ... E E
    FRAME_HINT      // Tn type, before an argument
};

struct frame {
    enum frame_kind kind;
    size_t start;       // of its text
    uint32_t items;     // read so far
    bool has_args;      // of FRAME_NESTED: a name without N and E, which its arguments close
    bool is_known;      // of FRAME_NESTED: what was read so far can be referred to already
    bool in_entity;     // of FRAME_LOCAL: the function is complete
    bool in_expression; // of FRAME_ADDRESS: X around it
    const char *suffix; // of FRAME_SUFFIX
};

struct piece {
    uint32_t start, end;
};

struct reader {
    const char *at, *end;
    char *text;
    size_t len, room;
    struct frame frames[FRAMES_MAX];
    uint32_t depth;
    struct piece seen[SEEN_MAX]; // what S_, S0_, ... stand for
    uint32_t seen_count;
    bool cut;
    bool done;
};

static void put(struct reader *reader, struct str text)
{
    if (text.len > reader->room - reader->len) {
        text.len = reader->room - reader->len;
        reader->cut = true;
    }
    memmove(reader->text + reader->len, text.at, text.len);
    reader->len += text.len;
}

static char peek(const struct reader *reader, size_t ahead)
{
    return ahead < (size_t)(reader->end - reader->at) ? reader->at[ahead] : '\0';
}

static bool take(struct reader *reader, struct str text)
{
    struct str rest = {reader->at, (size_t)(reader->end - reader->at)};
    if (!str_starts_with(rest, text))
        return false;
    reader->at += text.len;
    return true;
}

static struct frame *top(struct reader *reader)
{
    return reader->depth ? &reader->frames[reader->depth - 1] : NULL;
}

static struct frame *push(struct reader *reader, enum frame_kind kind, size_t start)
{
    if (reader->depth == FRAMES_MAX) {
        reader->cut = true;
        reader->depth--; // never reached again: cut ends the loop
    }
    struct frame *frame = &reader->frames[reader->depth++];
    *frame = (struct frame){.kind = kind, .start = start};
    return frame;
}

static void remember(struct reader *reader, size_t start)
{
    if (reader->seen_count == SEEN_MAX)
        reader->cut = true; // later references would be wrong
    else
        reader->seen[reader->seen_count++] = (struct piece){(uint32_t)start, (uint32_t)reader->len};
}

// --- completion ----------------------------------------------------------------------------------

// A type, value or name of an argument list is complete: open what waits for it.
static void item_done(struct reader *reader)
{
    struct frame *frame = top(reader);
    while (frame && (frame->kind == FRAME_SUFFIX || frame->kind == FRAME_HINT)) {
        if (frame->kind == FRAME_HINT) {
            put(reader, STR(" "));
            reader->depth--;
            return; // the argument itself follows
        }
        put(reader, str_of(frame->suffix));
        remember(reader, frame->start);
        reader->depth--;
        frame = top(reader);
    }
    if (!frame)
        reader->done = true;
    else
        frame->items++;
}

static bool names_function(const struct reader *reader)
{
    if (!reader->depth)
        return true;
    const struct frame *frame = &reader->frames[reader->depth - 1];
    return (frame->kind == FRAME_LOCAL && !frame->in_entity) || frame->kind == FRAME_ADDRESS;
}

// The function that a local name is in: its parameters follow, which the outermost one's need not.
static void function_done(struct reader *reader)
{
    struct frame *frame = top(reader);
    if (!frame) {
        reader->done = true;
        return;
    }
    put(reader, STR("("));
    push(reader, FRAME_PARAMS, reader->len);
}

static void skip_discriminator(struct reader *reader)
{
    if (peek(reader, 0) != '_')
        return;
    size_t ahead = 1;
    while (str_is_digit(peek(reader, ahead)))
        ahead++;
    if (ahead > 1)
        reader->at += ahead;
}

static void name_done(struct reader *reader, size_t start, bool is_known)
{
    struct frame *frame = top(reader);
    while (frame && frame->kind == FRAME_LOCAL && frame->in_entity) {
        skip_discriminator(reader);
        start = frame->start;
        is_known = false;
        reader->depth--;
        frame = top(reader);
    }
    if (names_function(reader)) {
        function_done(reader);
        return;
    }
    if (!is_known)
        remember(reader, start);
    item_done(reader);
}

// --- pieces --------------------------------------------------------------------------------------

static bool read_number(struct reader *reader, size_t *number)
{
    *number = 0;
    size_t digits = 0;
    for (; str_is_digit(peek(reader, 0)) && digits < 7; digits++, reader->at++)
        *number = 10 * *number + (size_t)(*reader->at - '0');
    return digits > 0;
}

// Length and identifier. One of an anonymous namespace writes nothing: *hidden.
static bool read_identifier(struct reader *reader, bool *hidden)
{
    size_t len = 0;
    if (!read_number(reader, &len) || len == 0)
        return false;
    size_t left = (size_t)(reader->end - reader->at);
    struct str name = {reader->at, len < left ? len : left};
    reader->at += name.len;
    if (name.len < len) {
        reader->cut = true;
        return false; // a part of a word may read as another word
    }
    *hidden = str_starts_with(name, STR("_GLOBAL__N"));
    if (!*hidden)
        put(reader, name);
    return true;
}

// S_, S0_, S1A_: text seen before; St and others: std.
static bool read_seen(struct reader *reader)
{
    if (peek(reader, 0) != 'S')
        return false;
    size_t number = 0;
    size_t ahead = 1;
    for (; peek(reader, ahead) != '_'; ahead++) {
        char c = peek(reader, ahead);
        if (!(str_is_digit(c) || (c >= 'A' && c <= 'Z')) || number > SEEN_MAX)
            return false;
        number = 36 * number + (size_t)(c <= '9' ? c - '0' : c - 'A' + 10);
    }
    number += ahead > 1;
    reader->at += ahead + 1;
    if (number >= reader->seen_count) {
        reader->cut = true;
        return false;
    }
    struct piece piece = reader->seen[number];
    put(reader, (struct str){reader->text + piece.start, piece.end - piece.start});
    return true;
}

static const struct {
    const char *code, *text;
} builtins[] = {
    {"DF16b", "__bf16"},
    {"DF16_", "_Float16"},
    {"Dh", "half"},
    {"Dn", "std::nullptr_t"},
    {"v", "void"},
    {"b", "bool"},
    {"c", "char"},
    {"a", "signed char"},
    {"h", "unsigned char"},
    {"s", "short"},
    {"t", "unsigned short"},
    {"i", "int"},
    {"j", "unsigned int"},
    {"l", "long"},
    {"m", "unsigned long"},
    {"x", "long long"},
    {"y", "unsigned long long"},
    {"f", "float"},
    {"d", "double"},
    {"e", "long double"},
    {"z", "..."},
};

static bool read_builtin(struct reader *reader)
{
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (take(reader, str_of(builtins[i].code))) {
            put(reader, str_of(builtins[i].text));
            return true;
        }
    return false;
}

static const struct {
    const char *code, *text;
} standard[] = {{"Sa", "std::allocator"}, {"Ss", "std::string"}, {"Sb", "std::basic_string"}};

static bool read_standard(struct reader *reader)
{
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
        if (take(reader, str_of(standard[i].code))) {
            put(reader, str_of(standard[i].text));
            return true;
        }
    return false;
}

static bool read_qualifier(struct reader *reader)
{
    const char *suffix = NULL;
    switch (peek(reader, 0)) {
    case 'P': suffix = "*"; break;
    case 'R': suffix = "&"; break;
    case 'O': suffix = "&&"; break;
    case 'K': suffix = " const"; break;
    case 'V': suffix = " volatile"; break;
    default: break;
    }
    if (!suffix && peek(reader, 0) == 'D' && peek(reader, 1) == 'p') {
        suffix = "...";
        reader->at++;
    }
    if (!suffix)
        return false;
    reader->at++;
    push(reader, FRAME_SUFFIX, reader->len)->suffix = suffix;
    return true;
}

// T_, T0_: text says nothing, but it may be referred to.
static bool read_parameter(struct reader *reader)
{
    if (peek(reader, 0) != 'T')
        return false;
    size_t ahead = 1;
    while (str_is_digit(peek(reader, ahead)))
        ahead++;
    if (peek(reader, ahead) != '_')
        return false;
    size_t start = reader->len;
    put(reader, (struct str){reader->at, ahead});
    reader->at += ahead + 1;
    remember(reader, start);
    return true;
}

// The value that follows the type of a literal.
static void read_value(struct reader *reader, bool is_bool)
{
    if (take(reader, STR("n")))
        put(reader, STR("-"));
    const char *start = reader->at;
    while (reader->at < reader->end && *reader->at != 'E')
        reader->at++;
    struct str value = {start, (size_t)(reader->at - start)};
    if (is_bool)
        value = str_equal(value, STR("1")) ? STR("true") : STR("false");
    put(reader, value);
    reader->cut = reader->cut || !take(reader, STR("E"));
    item_done(reader);
}

// --- opening -------------------------------------------------------------------------------------

static void open_args(struct reader *reader)
{
    put(reader, STR("<"));
    push(reader, FRAME_ARGS, reader->len);
}

// A name outside N ... E, with or without std:: before it.
static void open_plain_name(struct reader *reader)
{
    size_t start = reader->len;
    bool is_known = false;
    bool hidden = false;
    if (take(reader, STR("St")))
        put(reader, STR("std::"));
    if (peek(reader, 0) == 'L') // of internal linkage
        reader->at++;
    if (read_seen(reader) || read_standard(reader))
        is_known = true;
    else if (!read_identifier(reader, &hidden))
        reader->cut = true;
    if (reader->cut)
        return;
    if (peek(reader, 0) != 'I') {
        name_done(reader, start, is_known);
        return;
    }
    if (!is_known)
        remember(reader, start);
    reader->at++;
    struct frame *name = push(reader, FRAME_NESTED, start); // which its arguments close
    name->has_args = true;
    open_args(reader);
}

// "Li4E" is 4, "Lb1E" true; of other types a cast, for the type may be referred to.
static bool open_literal(struct reader *reader, bool in_expression)
{
    if (take(reader, STR("L_Z"))) {
        push(reader, FRAME_ADDRESS, reader->len)->in_expression = in_expression;
        return true;
    }
    if (!take(reader, STR("L")))
        return false;
    size_t start = reader->len;
    bool is_bool = peek(reader, 0) == 'b';
    if (read_builtin(reader)) {
        reader->len = start;
        read_value(reader, is_bool);
    } else {
        put(reader, STR("("));
        push(reader, FRAME_VALUE, start);
    }
    return true;
}

static void open_lambda(struct reader *reader)
{
    put(reader, STR("{lambda("));
    push(reader, FRAME_LAMBDA, reader->len);
}

// A type, a value or a pack: what an argument list has.
static void open_item(struct reader *reader)
{
    if (read_qualifier(reader))
        return;
    if (take(reader, STR("Tn"))) {
        push(reader, FRAME_HINT, reader->len);
        return;
    }
    if (take(reader, STR("Xad"))) {
        reader->cut = !open_literal(reader, true) || reader->cut;
        return;
    }
    if (open_literal(reader, false))
        return;
    if (read_parameter(reader)) {
        if (take(reader, STR("I")))
            reader->cut = true; // a template as argument
        item_done(reader);
    } else if (take(reader, STR("J")) || take(reader, STR("I"))) {
        push(reader, FRAME_PACK, reader->len);
    } else if (take(reader, STR("F"))) {
        push(reader, FRAME_FUNCTION, reader->len);
    } else if (take(reader, STR("N"))) {
        push(reader, FRAME_NESTED, reader->len);
    } else if (take(reader, STR("Z"))) {
        push(reader, FRAME_LOCAL, reader->len);
    } else if (take(reader, STR("Ul"))) {
        open_lambda(reader);
    } else if (peek(reader, 0) == 'u' || peek(reader, 0) == 'U') {
        reader->at++;
        open_plain_name(reader); // a vendor's type: "u6__bf16"
    } else if (read_builtin(reader)) {
        item_done(reader);
    } else {
        open_plain_name(reader);
    }
}

// --- inside frames -------------------------------------------------------------------------------

static void separate(struct reader *reader, const struct frame *frame)
{
    if (frame->items)
        put(reader, STR(", "));
}

static void step_list(struct reader *reader, struct frame *frame)
{
    if (take(reader, STR("E"))) {
        enum frame_kind kind = frame->kind;
        size_t start = frame->start;
        reader->depth--;
        switch (kind) {
        case FRAME_ARGS: put(reader, STR(">")); return; // to the name around it
        case FRAME_PACK: item_done(reader); return;
        case FRAME_PARAMS: {
            put(reader, STR(")"));
            struct frame *owner = top(reader);
            if (owner && owner->kind == FRAME_LOCAL) {
                put(reader, STR("::"));
                owner->in_entity = true;
            } else if (owner && owner->kind == FRAME_ADDRESS) {
                bool closed = !owner->in_expression || take(reader, STR("E"));
                reader->depth--;
                reader->cut = reader->cut || !closed;
                item_done(reader);
            }
            return;
        }
        case FRAME_FUNCTION:
            put(reader, STR(")"));
            remember(reader, start);
            item_done(reader);
            return;
        default: assert(false); return;
        }
    }
    if (frame->kind == FRAME_FUNCTION && frame->items == 1) {
        frame->items++;
        put(reader, STR("("));
    } else if (frame->kind != FRAME_FUNCTION || frame->items > 2) {
        separate(reader, frame);
    }
    bool has_none = frame->kind == FRAME_PARAMS && frame->items == 0 && peek(reader, 1) == 'E';
    if (has_none && take(reader, STR("v")))
        frame->items++;
    else
        open_item(reader);
}

// "UlfE0_" is {lambda(float)#2}.
static void step_lambda(struct reader *reader, struct frame *frame)
{
    if (!take(reader, STR("E"))) {
        separate(reader, frame);
        if (take(reader, STR("v")))
            frame->items++;
        else
            open_item(reader);
        return;
    }
    size_t number = 0;
    bool first = !read_number(reader, &number);
    reader->cut = reader->cut || !take(reader, STR("_"));
    char digits[16] = "1";
    if (!first)
        snprintf(digits, sizeof digits, "%zu", number + 2);
    put(reader, STR(")#"));
    put(reader, str_of(digits));
    put(reader, STR("}"));
    size_t start = frame->start - STR("{lambda(").len;
    reader->depth--;
    struct frame *owner = top(reader);
    if (owner && owner->kind == FRAME_NESTED)
        owner->items++;
    else
        name_done(reader, start, false);
}

static bool read_operator(struct reader *reader)
{
    if (take(reader, STR("cl"))) {
        put(reader, STR("operator()"));
        return true;
    }
    char a = peek(reader, 0);
    char b = peek(reader, 1);
    if (a < 'a' || a > 'z' || b < 'a' || b > 'z')
        return false;
    reader->at += 2;
    put(reader, STR("operator"));
    return true;
}

// A component of a name; the text before it can be referred to once another one follows.
static void step_nested(struct reader *reader, struct frame *frame)
{
    if (frame->has_args || take(reader, STR("E"))) {
        struct frame closed = *frame;
        reader->depth--;
        name_done(reader, closed.start, closed.is_known);
        return;
    }
    if (frame->items == 0) {
        while (peek(reader, 0) == 'K' || peek(reader, 0) == 'V')
            reader->at++;
        if (take(reader, STR("St"))) {
            put(reader, STR("std"));
            frame->is_known = true;
            frame->items++;
            return;
        }
        if (read_seen(reader) || read_standard(reader)) {
            frame->is_known = true;
            frame->items++;
            return;
        }
    } else if (frame->is_known) {
        frame->is_known = false;
    } else {
        remember(reader, frame->start);
    }
    if (take(reader, STR("I"))) {
        open_args(reader);
        return;
    }
    size_t before = reader->len;
    if (frame->items && reader->len > frame->start)
        put(reader, STR("::"));
    if (peek(reader, 0) == 'L')
        reader->at++;
    bool hidden = false;
    if (take(reader, STR("Ul")))
        open_lambda(reader);
    else if (read_operator(reader) || read_identifier(reader, &hidden))
        frame->items++;
    else
        reader->cut = true;
    if (hidden)
        reader->len = before;
}

static void step(struct reader *reader)
{
    struct frame *frame = top(reader);
    if (reader->at == reader->end && !frame->has_args) {
        reader->cut = true;
        return;
    }
    switch (frame->kind) {
    case FRAME_NESTED: step_nested(reader, frame); break;
    case FRAME_LAMBDA: step_lambda(reader, frame); break;
    case FRAME_LOCAL:
    case FRAME_ADDRESS:
    case FRAME_SUFFIX:
    case FRAME_HINT: open_item(reader); break;
    case FRAME_VALUE:
        if (frame->items == 0) {
            open_item(reader);
            break;
        }
        put(reader, STR(")"));
        reader->depth--;
        read_value(reader, false);
        break;
    default: step_list(reader, frame); break;
    }
}

bool kernel_is_mangled(struct str name)
{
    return str_starts_with(name, STR("_Z")) && name.len > 2;
}

size_t kernel_demangle(struct str name, char *text, size_t room, bool *cut)
{
    assert(kernel_is_mangled(name));
    struct reader reader = {.at = name.at + 2, .end = name.at + name.len, .text = text};
    reader.room = room;
    open_item(&reader);
    while (!reader.cut && !reader.done && reader.depth)
        step(&reader);
    *cut = reader.cut || !reader.done;
    return reader.len;
}
