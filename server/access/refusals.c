// SPDX-License-Identifier: Apache-2.0
// A table of fixed size; overflow is counted in its last place.
#include "server/access/refusals.h"

#include <stdio.h>
#include <stdlib.h>

#define HOUR_NS ((int64_t)3600 * 1000000000)

struct refusals {
    struct refused kinds[REFUSALS_KINDS + 1]; // count 0: free
};

struct refusals *refusals_new(struct err *err)
{
    struct refusals *refusals = calloc(1, sizeof(*refusals));
    if (!refusals)
        err_set(err, ERR_MEMORY, "out of memory for the audit log");
    return refusals;
}

void refusals_free(struct refusals *refusals)
{
    free(refusals);
}

#define COPY(to, text) snprintf(to, sizeof(to), "%.*s", (int)(text).len, (text).at)

static void fill(struct refused *kind, const struct audit_row *row, int64_t hour)
{
    *kind = (struct refused){.hour = hour, .first_ns = row->at_ns, .status = row->status};
    COPY(kind->who, row->who);
    COPY(kind->peer, row->peer);
    COPY(kind->action, row->action);
    COPY(kind->object, row->object);
    COPY(kind->request_id, row->request_id);
}

static bool same_kind(const struct refused *a, const struct refused *b)
{
    return a->hour == b->hour && a->status == b->status && strcmp(a->who, b->who) == 0 &&
           strcmp(a->peer, b->peer) == 0 && strcmp(a->action, b->action) == 0;
}

static void name_others(struct refused *kind)
{
    snprintf(kind->who, sizeof(kind->who), "several");
    snprintf(kind->peer, sizeof(kind->peer), "several");
    snprintf(kind->action, sizeof(kind->action), "more refused requests");
    kind->object[0] = '\0';
}

// Those of earlier hours must have been taken already.
static struct refused *place_of(struct refusals *refusals, const struct refused *one)
{
    struct refused *room = NULL, *others = &refusals->kinds[REFUSALS_KINDS];
    for (struct refused *kind = refusals->kinds; kind < others; kind++) {
        if (kind->count && same_kind(kind, one))
            return kind;
        if (!kind->count && !room)
            room = kind;
    }
    return room ? room : others;
}

struct refused *refusals_count(struct refusals *refusals, const struct audit_row *row, bool *is_new)
{
    struct refused one;
    fill(&one, row, row->at_ns / HOUR_NS);
    struct refused *kind = place_of(refusals, &one);
    *is_new = kind->count == 0;
    if (*is_new)
        *kind = one;
    if (*is_new && kind == &refusals->kinds[REFUSALS_KINDS])
        name_others(kind);
    kind->last_ns = row->at_ns > kind->first_ns ? row->at_ns : kind->first_ns;
    kind->count++;
    return kind;
}

bool refusals_take(struct refusals *refusals, int64_t now_ns, bool all, struct refused *taken)
{
    for (size_t i = 0; i <= REFUSALS_KINDS; i++) {
        struct refused *kind = &refusals->kinds[i];
        if (!kind->count || (!all && kind->hour == now_ns / HOUR_NS))
            continue;
        *taken = *kind;
        *kind = (struct refused){0};
        return true;
    }
    return false;
}

void refusals_each_grown(struct refusals *refusals,
                         void (*visit)(void *context, struct refused *refusal), void *context)
{
    for (size_t i = 0; i <= REFUSALS_KINDS; i++)
        if (refusals->kinds[i].count > refusals->kinds[i].summed)
            visit(context, &refusals->kinds[i]);
}
