// SPDX-License-Identifier: Apache-2.0
// Tables of kinds, element sizes and bus factors; the factors are those of nccl-tests.
#include "analysis/names/bandwidth.h"

#include <math.h>

// Parts of names without underscores, in any case; the first matching row counts.
static const struct {
    const char *part;
    enum collective_kind kind;
} kinds[] = {
    {"-start", KIND_UNKNOWN}, // XLA: the call is what waits, "all-gather-done"
    {"reducescatter", KIND_REDUCE_SCATTER},
    {"allreduce", KIND_ALL_REDUCE},
    {"crossdevicereduce", KIND_ALL_REDUCE},
    {"quickreduce", KIND_ALL_REDUCE},
    {"allgather", KIND_ALL_GATHER},
    {"alltoall", KIND_ALL_TO_ALL},
    {"broadcast", KIND_BROADCAST},
    {"sendrecv", KIND_SEND_RECV},
    {"barrier", KIND_BARRIER},
    {"scatter", KIND_SCATTER},
    {"gather", KIND_GATHER},
    {"reduce", KIND_REDUCE},
    {"send", KIND_SEND},
    {"recv", KIND_RECV},
    {"deepep", KIND_ALL_TO_ALL}, // dispatches tokens to experts and combines what they return
};

#define NAME_MAX_LEN 128 // of a name that is looked at

enum collective_kind bandwidth_kind(struct str name)
{
    char bare[NAME_MAX_LEN];
    size_t len = 0;
    for (size_t i = 0; i < name.len && len < sizeof bare; i++)
        if (name.at[i] != '_')
            bare[len++] = name.at[i];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_contains_nocase((struct str){bare, len}, str_of(kinds[i].part)))
            return kinds[i].kind;
    return KIND_UNKNOWN;
}

const char *bandwidth_kind_word(enum collective_kind kind)
{
    static const char *const words[COLLECTIVE_KIND_COUNT] = {
        [KIND_ALL_REDUCE] = "all_reduce",
        [KIND_ALL_GATHER] = "all_gather",
        [KIND_REDUCE_SCATTER] = "reduce_scatter",
        [KIND_ALL_TO_ALL] = "all_to_all",
        [KIND_BROADCAST] = "broadcast",
        [KIND_REDUCE] = "reduce",
        [KIND_GATHER] = "gather",
        [KIND_SCATTER] = "scatter",
        [KIND_SEND_RECV] = "send_recv",
        [KIND_SEND] = "send",
        [KIND_RECV] = "recv",
        [KIND_BARRIER] = "barrier",
    };
    return words[kind];
}

// In lower case, without a namespace.
static const struct {
    const char *name;
    int bytes;
} element_sizes[] = {
    {"byte", 1},
    {"char", 1},
    {"bool", 1},
    {"int8", 1},
    {"uint8", 1},
    {"qint8", 1},
    {"quint8", 1},
    {"bits8", 1},
    {"float8_e4m3fn", 1},
    {"float8_e5m2", 1},
    {"float8_e4m3fnuz", 1},
    {"float8_e5m2fnuz", 1},
    {"float8_e8m0fnu", 1},
    {"float4_e2m1fn_x2", 1},
    {"half", 2},
    {"bfloat16", 2},
    {"float16", 2},
    {"short", 2},
    {"int16", 2},
    {"uint16", 2},
    {"bits16", 2},
    {"float", 4},
    {"float32", 4},
    {"int", 4},
    {"int32", 4},
    {"uint32", 4},
    {"qint32", 4},
    {"complexhalf", 4},
    {"complex32", 4},
    {"double", 8},
    {"float64", 8},
    {"long", 8},
    {"int64", 8},
    {"uint64", 8},
    {"complexfloat", 8},
    {"complex64", 8},
    {"complexdouble", 16},
    {"complex128", 16},
};

// "BFloat16" of "c10::BFloat16" and "torch.bfloat16".
static struct str without_namespace(struct str dtype)
{
    static const char *const prefixes[] = {"c10::", "at::", "torch."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct str prefix = str_of(prefixes[i]);
        if (str_starts_with(dtype, prefix))
            return (struct str){dtype.at + prefix.len, dtype.len - prefix.len};
    }
    return dtype;
}

int bandwidth_element_bytes(struct str dtype)
{
    struct str bare = without_namespace(dtype);
    for (size_t i = 0; i < sizeof element_sizes / sizeof *element_sizes; i++)
        if (str_equal_nocase(bare, str_of(element_sizes[i].name)))
            return element_sizes[i].bytes;
    return 0;
}

// Elements on all ranks together, from those on one; VALUE_ABSENT if unknown.
static int64_t on_all_ranks(int64_t elems, int64_t ranks)
{
    int64_t all;
    bool known = elems >= 0 && ranks > 0 && !__builtin_mul_overflow(elems, ranks, &all);
    return known ? all : VALUE_ABSENT;
}

// Only the root of a gather has its output, and only that of a scatter its input; the other side is
// one part on every rank.
static int64_t message_elems(enum collective_kind kind, const struct collective *c)
{
    switch (kind) {
    case KIND_ALL_GATHER: return c->out_elems;
    case KIND_GATHER: return on_all_ranks(c->in_elems, c->group_size);
    case KIND_SCATTER:
        return c->in_elems > 0 ? c->in_elems : on_all_ranks(c->out_elems, c->group_size);
    case KIND_BROADCAST:
    case KIND_RECV: return c->in_elems > 0 ? c->in_elems : c->out_elems;
    case KIND_BARRIER: return VALUE_ABSENT;
    case KIND_UNKNOWN:
    case KIND_ALL_REDUCE:
    case KIND_REDUCE_SCATTER:
    case KIND_ALL_TO_ALL:
    case KIND_REDUCE:
    case KIND_SEND_RECV:
    case KIND_SEND:
    case COLLECTIVE_KIND_COUNT: break;
    }
    return c->in_elems;
}

int64_t bandwidth_bytes(enum collective_kind kind, const struct collective *c, int element_bytes)
{
    int64_t elems = message_elems(kind, c), bytes;
    if (elems < 0 || element_bytes == 0 || __builtin_mul_overflow(elems, element_bytes, &bytes))
        return -1;
    return bytes;
}

double bandwidth_bus_factor(enum collective_kind kind, int64_t ranks)
{
    double n = ranks >= 1 ? (double)ranks : NAN;
    switch (kind) {
    case KIND_ALL_REDUCE: return 2 * (n - 1) / n;
    case KIND_ALL_GATHER:
    case KIND_REDUCE_SCATTER:
    case KIND_ALL_TO_ALL:
    case KIND_GATHER:
    case KIND_SCATTER: return (n - 1) / n;
    case KIND_BROADCAST:
    case KIND_REDUCE:
    case KIND_SEND_RECV:
    case KIND_SEND:
    case KIND_RECV: return 1;
    case KIND_UNKNOWN:
    case KIND_BARRIER:
    case COLLECTIVE_KIND_COUNT: break;
    }
    return NAN;
}
