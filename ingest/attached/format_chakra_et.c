// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces as protocol buffers (.et): messages after their lengths, metadata first,
// then a node each. Counted and kept.
#include "ingest/attached/name_tally.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"
#include "ingest/base/fuzzed.h"

enum { BLOCK = FUZZED_SIZE(1 << 16, 1 << 8), NAME_BYTES = 256, VERSION_BYTES = 32 };
enum { NODE_NAME = 2, NODE_TYPE = 3 }; // fields of a node
enum { COMM_SEND = 5, COMM_LAST = 7 }; // types of nodes
enum { VARINT, FIXED_64, BYTES, FIXED_32 = 5 };

struct et {
    struct source *source;
    struct err *err;
    uint64_t left; // of the message
    size_t at, len;
    bool ended; // of the file, or cut
    int64_t nodes, communication;
    struct name_tally names;
    char name[NAME_BYTES];
    char block[BLOCK];
};

// False at the end of the file, and after a failure of the source.
static bool fill(struct et *et)
{
    et->at = et->len = 0;
    et->ended =
        et->ended || !source_read(et->source, et->block, BLOCK, &et->len, et->err) || et->len == 0;
    return !et->ended;
}

static bool next_byte(struct et *et, unsigned char *byte)
{
    if (et->at == et->len && !fill(et))
        return false;
    *byte = (unsigned char)et->block[et->at++];
    return true;
}

static bool next_varint(struct et *et, uint64_t *value, unsigned *bytes)
{
    unsigned char byte = 0x80;
    *value = 0;
    for (*bytes = 0; *bytes < 10 && byte & 0x80; ++*bytes) {
        if (!next_byte(et, &byte))
            return false;
        *value |= (uint64_t)(byte & 0x7F) << (7 * *bytes < 63 ? 7 * *bytes : 63);
    }
    return !(byte & 0x80);
}

// A number within the message; false, and the message is over, if it ends before.
static bool own_varint(struct et *et, uint64_t *value)
{
    unsigned bytes;
    if (!next_varint(et, value, &bytes) || bytes > et->left)
        return false;
    et->left -= bytes;
    return true;
}

static bool own_bytes(struct et *et, uint64_t count, char *text, size_t cap)
{
    if (count > et->left)
        return false;
    et->left -= count;
    for (uint64_t i = 0; i < count;) {
        if (et->at == et->len && !fill(et))
            return false;
        size_t here = et->len - et->at;
        here = here < count - i ? here : (size_t)(count - i);
        if (i < cap)
            memcpy(text + i, et->block + et->at, here < cap - i ? here : (size_t)(cap - i));
        et->at += here;
        i += here;
    }
    return true;
}

static bool add_name(struct et *et, uint64_t len)
{
    struct str name = {et->name, len < NAME_BYTES ? (size_t)len : NAME_BYTES};
    name.len = str_valid_utf8(name);
    return name_tally_add(&et->names, name, et->err);
}

static bool take_field(struct et *et)
{
    uint64_t tag, value = 0;
    if (!own_varint(et, &tag))
        return false;
    switch (tag & 7) {
    case VARINT:
        if (!own_varint(et, &value))
            return false;
        et->communication += tag >> 3 == NODE_TYPE && value >= COMM_SEND && value <= COMM_LAST;
        return true;
    case FIXED_64: return own_bytes(et, 8, NULL, 0);
    case FIXED_32: return own_bytes(et, 4, NULL, 0);
    case BYTES:
        return own_varint(et, &value) &&
               (tag >> 3 == NODE_NAME
                    ? own_bytes(et, value, et->name, NAME_BYTES) && add_name(et, value)
                    : own_bytes(et, value, NULL, 0));
    default: return false;
    }
}

// The first message is the metadata.
static void take_messages(struct et *et)
{
    unsigned bytes;
    bool first = true;
    while (next_varint(et, &et->left, &bytes)) {
        bool whole = first ? own_bytes(et, et->left, NULL, 0) : true;
        while (whole && et->left > 0)
            whole = take_field(et);
        if (!whole)
            return;
        et->nodes += !first;
        first = false;
    }
}

static bool count(struct et *et, const struct format_input *input, struct err *err)
{
    struct err why = {.pos = ERR_NO_POS};
    et->err = &why;
    take_messages(et);
    if (why.code != ERR_NONE) {
        *err = why;
        return false;
    }
    if (et->nodes == 0)
        return err_set(err, ERR_FORMAT, "found no nodes in it, expected an execution trace");
    figures_add(input->figures, et->nodes, "nodes");
    figures_add(input->figures, name_tally_count(&et->names), "names");
    figures_add(input->figures, et->communication, "communication_nodes");
    name_tally_report(&et->names, input->figures, "most_frequent");
    return true;
}

static bool count_et(const struct format_input *input, struct err *err)
{
    struct et *et = budget_zalloc(input->budget, sizeof *et, err);
    if (!et)
        return false;
    et->source = input->source;
    bool ok = name_tally_init(&et->names, input->budget, err) && count(et, input, err);
    name_tally_free(&et->names);
    budget_free(input->budget, et, sizeof *et);
    return ok;
}

// The metadata starts with its version: length, field 1, length, "0.0.4".
static enum format_likeness probe_et(const struct format_sample *sample)
{
    size_t at = 0;
    while (at < sample->head.len && at < 3 && (unsigned char)sample->head.at[at] & 0x80)
        at++;
    if (at + 3 >= sample->head.len || sample->head.at[at + 1] != '\x0A')
        return FORMAT_UNLIKE;
    size_t len = (unsigned char)sample->head.at[at + 2], dots = 0;
    if (len < 3 || len > VERSION_BYTES || at + 3 + len > sample->head.len)
        return FORMAT_UNLIKE;
    for (size_t i = at + 3; i < at + 3 + len; i++) {
        dots += sample->head.at[i] == '.';
        if (sample->head.at[i] != '.' && (sample->head.at[i] < '0' || sample->head.at[i] > '9'))
            return FORMAT_UNLIKE;
    }
    return dots == 2 ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_chakra_et = {
    .name = "chakra-et",
    .what = "a Chakra execution trace",
    .kind = FORMAT_RECORDS,
    .ending = ".et",
    .probe = probe_et,
    .count = count_et,
    .advice = "its times are not read; upload the profiler's trace beside it",
};
