// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/evidence.h"

static const size_t sizes[LINK_PARTS] = {
    [LINK_RUNS] = sizeof(struct link_run),           [LINK_ROWS] = sizeof(struct link_row),
    [LINK_DEVICES] = sizeof(struct link_device),     [LINK_COMMS] = sizeof(struct link_comm),
    [LINK_RECORDS] = sizeof(struct link_record),     [LINK_MEMBERS] = sizeof(struct link_member),
    [LINK_OP_COUNTS] = sizeof(struct link_op_count), [LINK_PLACES] = sizeof(struct link_place),
    [LINK_PATHS] = sizeof(struct link_path),         [LINK_PORTS] = sizeof(struct link_port),
};

void link_tests_free(struct link_tests *tests, struct budget *budget)
{
    for (int i = 0; i < LINK_PARTS; i++)
        budget_free(budget, tests->parts[i].items, tests->parts[i].cap * sizes[i]);
    *tests = (struct link_tests){0};
}

bool link_tests_add(struct evidence *evidence, enum link_part part, const void *item,
                    struct err *err)
{
    size_t count = evidence->links.parts[part].count, size = sizes[part];
    char *items = budget_room(evidence->budget, evidence->links.parts[part].items,
                              &evidence->links.parts[part].cap, count + 1, size, err);
    if (!items)
        return false;
    memcpy(items + count * size, item, size);
    evidence->links.parts[part].items = items;
    evidence->links.parts[part].count++;
    return true;
}

void link_tests_warn(struct evidence *evidence, enum link_warning warning, uint64_t pos)
{
    if (evidence->links.warnings[warning].count++ == 0)
        evidence->links.warnings[warning].pos = pos;
}

const char *link_warning_words(enum link_warning warning)
{
    static const char *const words[LINK_WARNINGS] = {
        [LINK_BAD_ROW] = "lines that could not be read",
        [LINK_LEFT_OUT] = "places where rows or ranks were left out",
        [LINK_WRONG] = "rows with wrong results",
        [LINK_SINGLE_RANK] = "runs of a single rank, which use no link",
        [LINK_APART] = "runs of which several printed at the same time",
        [LINK_FAILED] = "errors that the test reported",
        [LINK_CUT] = "files that end early",
    };
    return words[warning];
}
