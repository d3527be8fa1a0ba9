// SPDX-License-Identifier: Apache-2.0
// Parses operators' inputs: JSON lists of lists of integers, JSON lists of strings, and the few
// forms of Python values within those strings. Nesting has fixed levels, so nothing recurses.
#include "analysis/facts/op_args.h"

struct cursor {
    const char *at, *end;
};

static struct cursor begin_of(struct str text)
{
    return (struct cursor){text.at, text.at ? text.at + text.len : NULL};
}

static void skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n' ||
                                        *cursor->at == '\t' || *cursor->at == '\r'))
        cursor->at++;
}

// If the next character after white space is c, moves past it.
static bool take(struct cursor *cursor, char c)
{
    skip_space(cursor);
    if (cursor->at >= cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

static bool next_is(struct cursor *cursor, char c)
{
    skip_space(cursor);
    return cursor->at < cursor->end && *cursor->at == c;
}

static bool take_word(struct cursor *cursor, struct str word)
{
    skip_space(cursor);
    struct str rest = {cursor->at, (size_t)(cursor->end - cursor->at)};
    if (!str_starts_with(rest, word))
        return false;
    cursor->at += word.len;
    return true;
}

static bool take_integer(struct cursor *cursor, int64_t *value)
{
    skip_space(cursor);
    bool negative = cursor->at < cursor->end && *cursor->at == '-';
    const char *digits = cursor->at += negative;
    int64_t number = 0;
    for (; cursor->at < cursor->end && str_is_digit(*cursor->at); cursor->at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *cursor->at - '0', &number))
            return false;
    *value = negative ? -number : number;
    return cursor->at > digits && (*digits != '0' || cursor->at == digits + 1);
}

// After an item of a list: a comma and more, or the end. False if it is neither.
static bool more_items(struct cursor *cursor, bool *more)
{
    *more = take(cursor, ',');
    return *more || take(cursor, ']');
}

// The raw contents of a JSON string; escapes are kept.
static bool take_string(struct cursor *cursor, struct str *text)
{
    if (!take(cursor, '"'))
        return false;
    const char *begin = cursor->at;
    while (cursor->at < cursor->end && *cursor->at != '"') {
        bool escape = *cursor->at == '\\' && cursor->end - cursor->at > 1;
        if ((unsigned char)*cursor->at < 0x20)
            return false;
        cursor->at += escape ? 2 : 1;
    }
    if (cursor->at == cursor->end)
        return false;
    *text = (struct str){begin, (size_t)(cursor->at++ - begin)};
    return true;
}

// Reads the items of one argument list; item reads one of them. False after an error; *count is how
// many were complete.
typedef bool take_item(struct cursor *cursor, struct op_arg *arg);

static bool take_arguments(struct str text, take_item *item, struct arg_list *args, uint32_t max,
                           uint32_t *count)
{
    struct cursor cursor = begin_of(text);
    bool more;
    *count = 0;
    if (text.len == 0 || !take(&cursor, '['))
        return false;
    if (!take(&cursor, ']'))
        do {
            if (*count == max || !item(&cursor, &args->args[*count]) || !more_items(&cursor, &more))
                return false;
            (*count)++;
        } while (more);
    skip_space(&cursor);
    return cursor.at == cursor.end;
}

// --- shapes --------------------------------------------------------------------------------------

// Integers up to the closing bracket; the opening one has been read.
static bool take_shape(struct cursor *cursor, struct op_arg *arg)
{
    bool more = !take(cursor, ']');
    arg->rank = 0;
    arg->elements = 1;
    while (more) {
        int64_t value;
        if (!take_integer(cursor, &value) || value < 0 || !more_items(cursor, &more))
            return false;
        if (arg->rank < OP_ARGS_MAX_RANK)
            arg->dims[arg->rank] = value;
        arg->rank++;
        arg->elements = count_mul(arg->elements, value);
    }
    return true;
}

// The shapes of a list of tensors; the list's opening bracket has been read.
static bool take_shapes(struct cursor *cursor, struct op_arg *list)
{
    int64_t elements = 0, tensors = 0;
    for (bool more = true; more; tensors++) {
        struct op_arg one = {0};
        if (!take(cursor, '[') || !take_shape(cursor, &one) || !more_items(cursor, &more))
            return false;
        elements = count_add(elements, one.elements);
    }
    list->kind = OP_ARG_TENSORS;
    list->rank = 0;
    list->elements = elements;
    list->tensors = tensors;
    return true;
}

static bool take_dims(struct cursor *cursor, struct op_arg *arg)
{
    *arg = (struct op_arg){.tensors = 1};
    if (!take(cursor, '['))
        return false;
    return next_is(cursor, '[') ? take_shapes(cursor, arg) : take_shape(cursor, arg);
}

// --- types ---------------------------------------------------------------------------------------

static void set_type(struct op_arg *arg, struct str name)
{
    bool list = str_equal(name, STR("TensorList")) || str_equal(name, STR("GenericList"));
    arg->dtype = dtype_of_name(name);
    if (arg->kind == OP_ARG_OTHER && (arg->dtype != DTYPE_UNKNOWN || arg->rank > 0))
        arg->kind = OP_ARG_TENSOR;
    if (list && arg->kind == OP_ARG_OTHER) { // its shapes were not recorded
        arg->kind = OP_ARG_TENSORS;
        arg->elements = COUNT_UNKNOWN;
    }
}

// The types of a list of tensors, if each has its own; the opening bracket has been read.
static bool take_types(struct cursor *cursor, struct op_arg *arg)
{
    enum dtype common = DTYPE_UNKNOWN;
    bool more = !take(cursor, ']');
    for (bool first = true; more; first = false) {
        struct str name;
        if (!take_string(cursor, &name) || !more_items(cursor, &more))
            return false;
        enum dtype dtype = dtype_of_name(name);
        common = first || dtype == common ? dtype : DTYPE_UNKNOWN;
    }
    if (arg->kind == OP_ARG_TENSORS)
        arg->dtype = common;
    return true;
}

static bool take_type(struct cursor *cursor, struct op_arg *arg)
{
    struct str name;
    if (take(cursor, '['))
        return take_types(cursor, arg);
    if (!take_string(cursor, &name))
        return false;
    set_type(arg, name);
    return true;
}

// --- strides and concrete inputs -----------------------------------------------------------------

// Lists of integers within a list of tensors are not used, and skipped.
static bool skip_lists(struct cursor *cursor)
{
    for (bool more = true; more;) {
        struct op_arg one = {0};
        if (!take(cursor, '[') || !take_shape(cursor, &one) || !more_items(cursor, &more))
            return false;
    }
    return true;
}

static bool take_strides(struct cursor *cursor, struct op_arg *arg)
{
    if (!take(cursor, '['))
        return false;
    if (next_is(cursor, '['))
        return skip_lists(cursor);
    bool more = !take(cursor, ']');
    uint32_t rank = 0;
    for (; more; rank++) {
        int64_t value;
        if (!take_integer(cursor, &value) || !more_items(cursor, &more))
            return false;
        if (rank < OP_ARGS_MAX_RANK)
            arg->strides[rank] = value;
    }
    arg->has_strides = rank == arg->rank && rank <= OP_ARGS_MAX_RANK;
    return true;
}

static bool take_concrete(struct cursor *cursor, struct op_arg *arg)
{
    return take_string(cursor, &arg->text);
}

static void set_problem(struct arg_list *args, const char *problem)
{
    args->problem = problem;
    args->count = 0;
}

// Nsight Systems records shapes alone: what has dimensions is a tensor of an unknown type.
static void take_untyped(struct arg_list *args)
{
    for (uint32_t i = 0; i < args->count; i++)
        if (args->args[i].kind == OP_ARG_OTHER && args->args[i].rank > 0)
            args->args[i].kind = OP_ARG_TENSOR;
}

void op_args_parse(const struct op_arg_texts *texts, struct arg_list *args)
{
    uint32_t count;
    args->problem = NULL;
    args->count = 0;
    if (texts->dims.len == 0) {
        set_problem(args, "the shapes of its inputs were not recorded (record_shapes)");
        return;
    }
    if (!take_arguments(texts->dims, take_dims, args, OP_ARGS_MAX, &args->count)) {
        bool too_many = args->count == OP_ARGS_MAX;
        set_problem(args, too_many ? "it has more inputs than are read"
                                   : "the shapes of its inputs are not lists of integers");
        return;
    }
    if (texts->types.len == 0) {
        take_untyped(args);
    } else if (!take_arguments(texts->types, take_type, args, args->count, &count) ||
               count != args->count) {
        set_problem(args, "the types of its inputs are not a list of strings, one per shape");
        return;
    }
    // Errors here only lose what depends on these.
    (void)take_arguments(texts->strides, take_strides, args, args->count, &count);
    (void)take_arguments(texts->concrete, take_concrete, args, args->count, &count);
}

// --- single values -------------------------------------------------------------------------------

const struct op_arg *op_args_tensor(const struct arg_list *args, int index)
{
    if (index < 0 || (uint32_t)index >= args->count || args->args[index].kind != OP_ARG_TENSOR)
        return NULL;
    return &args->args[index];
}

int64_t op_arg_bytes(const struct op_arg *arg)
{
    int64_t bytes = dtype_bytes(arg->dtype);
    return bytes ? count_mul(arg->elements, bytes) : COUNT_UNKNOWN;
}

static struct str text_at(const struct arg_list *args, int index)
{
    if (index < 0 || (uint32_t)index >= args->count)
        return (struct str){NULL, 0};
    return args->args[index].text;
}

static bool take_bool(struct cursor *cursor, bool *value)
{
    *value = take_word(cursor, STR("True"));
    return *value || take_word(cursor, STR("False"));
}

bool op_args_bool(const struct arg_list *args, int index, bool *value)
{
    struct str text = text_at(args, index);
    *value = str_equal(text, STR("True"));
    return *value || str_equal(text, STR("False"));
}

bool op_args_int(const struct arg_list *args, int index, int64_t *value)
{
    struct str text = text_at(args, index);
    struct cursor cursor = begin_of(text);
    return text.len && take_integer(&cursor, value) && cursor.at == cursor.end;
}

bool op_args_ints(const struct arg_list *args, int index, int64_t *values, uint32_t max,
                  uint32_t *count)
{
    struct str text = text_at(args, index);
    struct cursor cursor = begin_of(text);
    *count = 0;
    if (text.len == 0 || !take(&cursor, '['))
        return false;
    for (bool more = !take(&cursor, ']'); more; (*count)++)
        if (*count == max || !take_integer(&cursor, &values[*count]) || !more_items(&cursor, &more))
            return false;
    return cursor.at == cursor.end;
}

bool op_args_bools(const struct arg_list *args, int index, bool *values, uint32_t max,
                   uint32_t *count)
{
    struct str text = text_at(args, index);
    struct cursor cursor = begin_of(text);
    *count = 0;
    if (text.len == 0 || !take(&cursor, '['))
        return false;
    for (bool more = !take(&cursor, ']'); more; (*count)++)
        if (*count == max || !take_bool(&cursor, &values[*count]) || !more_items(&cursor, &more))
            return false;
    return cursor.at == cursor.end;
}

bool op_args_is_zero(const struct arg_list *args, int index)
{
    struct str text = text_at(args, index);
    size_t at = text.len && text.at[0] == '-';
    size_t zeros = 0, points = 0;
    for (; at < text.len; at++) {
        zeros += text.at[at] == '0';
        points += text.at[at] == '.';
        if (text.at[at] != '0' && text.at[at] != '.')
            return false;
    }
    return zeros > 0 && points <= 1;
}

bool op_args_is_none(const struct arg_list *args, int index)
{
    struct str text = text_at(args, index);
    return text.at != NULL && (text.len == 0 || str_equal(text, STR("None")));
}
