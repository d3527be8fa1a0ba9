// SPDX-License-Identifier: Apache-2.0
// Kineto's names for the fields that are read.
#include "ingest/kineto/kineto_fields.h"

// Argument names, grouped by length.
struct arg_key {
    const char *name;
    enum event_field field;
};

#define MAX_KEY       25
#define KEYS_A_LENGTH 5

static const struct arg_key arg_keys[MAX_KEY + 1][KEYS_A_LENGTH] = {
    [3] = {{"Seq", ARG_COLLECTIVE_SEQUENCE}},
    [4] = {{"Addr", ARG_ADDRESS},
           {"name", ARG_NAME},
           {"kind", ARG_KIND},
           {"size", ARG_SIZE},
           {"Rank", ARG_RANK_IN_GROUP}},
    [5] = {{"bytes", ARG_BYTES}, {"dtype", ARG_DTYPE}, {"Bytes", ARG_ALLOCATION_BYTES}},
    [6] = {{"device", ARG_DEVICE}, {"stream", ARG_STREAM}},
    [8] = {{"Src Rank", ARG_SOURCE_RANK},
           {"Dst Rank", ARG_TARGET_RANK},
           {"Comms Id", ARG_COMMS_ID},
           {"src kind", ARG_COPY_SOURCE},
           {"dst kind", ARG_COPY_TARGET}},
    [9] = {{"Device Id", ARG_DEVICE_INDEX}, {"copy kind", ARG_COPY_KIND}},
    [10] = {{"Input Dims", ARG_DIMS}, {"Input type", ARG_TYPES}, {"Group size", ARG_GROUP_SIZE}},
    [11] = {{"correlation", ARG_CORRELATION}, {"Device Type", ARG_DEVICE_TYPE}},
    [13] = {{"shared memory", ARG_SHARED_BYTES},
            {"Input Strides", ARG_STRIDES},
            {"In msg nelems", ARG_IN_ELEMS},
            {"In split size", ARG_IN_SPLITS}},
    [14] = {{"Out msg nelems", ARG_OUT_ELEMS},
            {"Total Reserved", ARG_RESERVED},
            {"Out split size", ARG_OUT_SPLITS}},
    [15] = {{"Concrete Inputs", ARG_CONCRETE},
            {"Sequence number", ARG_SEQUENCE},
            {"Collective name", ARG_COLLECTIVE},
            {"Total Allocated", ARG_ALLOCATED},
            {"original_stream", ARG_ORIGINAL_STREAM}},
    // Until PyTorch 2.3 a group had a number and no name.
    [16] = {{"Module Hierarchy", ARG_MODULE}, {"Process Group ID", ARG_GROUP}},
    [17] = {{"Global rank start", ARG_RANK_START}},
    [18] = {{"Process Group Name", ARG_GROUP}, {"Global rank stride", ARG_RANK_STRIDE}},
    [19] = {{"Process Group Ranks", ARG_GROUP_RANKS}},
    [20] = {{"registers per thread", ARG_REGISTERS}},
    [25] = {{"est. achieved occupancy %", ARG_OCCUPANCY},
            {"Process Group Description", ARG_GROUP_DESCRIPTION}},
};

enum event_field kineto_arg_field(struct str key)
{
    if (key.len > MAX_KEY)
        return FIELD_NONE;
    const struct arg_key *known = arg_keys[key.len];
    for (int i = 0; i < KEYS_A_LENGTH && known[i].name; i++)
        if (memcmp(known[i].name, key.at, key.len) == 0)
            return known[i].field;
    return FIELD_NONE;
}

enum event_field kineto_member_field(struct str key)
{
    static const struct {
        struct str key;
        enum event_field field;
    } members[] = {
        {{"name", 4}, FIELD_NAME}, {{"ph", 2}, FIELD_PHASE}, {{"ts", 2}, FIELD_TS},
        {{"dur", 3}, FIELD_DUR},   {{"pid", 3}, FIELD_PID},  {{"tid", 3}, FIELD_TID},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (str_equal(members[i].key, key))
            return members[i].field;
    return FIELD_NONE;
}

enum number_form kineto_number_form(enum event_field field)
{
    switch (field) {
    case FIELD_TS:
    case FIELD_DUR: return NUMBER_TIME;
    case FIELD_PID:
    case FIELD_TID:
    case ARG_DEVICE:
    case ARG_STREAM:
    case ARG_ORIGINAL_STREAM: return NUMBER_LABEL;
    case FIELD_PHASE:
    case FIELD_NAME:
    case ARG_COPY_KIND:
    case ARG_COPY_SOURCE:
    case ARG_COPY_TARGET:
    case ARG_COLLECTIVE:
    case ARG_DTYPE:
    case ARG_GROUP:
    case ARG_GROUP_DESCRIPTION:
    case ARG_GROUP_RANKS:
    case ARG_IN_SPLITS:
    case ARG_OUT_SPLITS:
    case ARG_COMMS_ID:
    case ARG_DIMS:
    case ARG_TYPES:
    case ARG_STRIDES:
    case ARG_CONCRETE:
    case ARG_MODULE:
    case ARG_NAME:
    case FIELD_NONE: return NUMBER_NONE;
    default: return NUMBER_INTEGER;
    }
}
