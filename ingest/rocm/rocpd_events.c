// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocpd_events.h"

enum { ID, STACK, CATEGORY };
enum { OTHER_STACK, OTHER_CATEGORY };

static bool find_category(struct rocpd_events *events, int64_t category, uint8_t *place)
{
    unsigned i = 0;
    while (i < events->category_count && events->categories[i] != category)
        i++;
    if (i == ROCPD_MOST_CATEGORIES)
        return false;
    events->category_count += i == events->category_count;
    events->categories[i] = category;
    *place = (uint8_t)i;
    return true;
}

static bool follows(const struct rocpd_events *events, int64_t id)
{
    return events->count == 0 || (uint64_t)id == (uint64_t)events->first + (uint64_t)events->count;
}

static bool take(void *context, const struct rows *rows, struct err *err)
{
    struct rocpd_events *events = context;
    struct rocpd_event event;
    int64_t id, stack = rows_i64_or(rows, STACK, ID_NONE);
    int64_t category = rows_i64_or(rows, CATEGORY, ID_NONE);
    if (!rows_i64(rows, ID, &id))
        return true;
    if (!follows(events, id) || stack < 0 || stack > UINT32_MAX ||
        !find_category(events, category, &event.category))
        return id_table_add(&events->others, &(struct id_row){id, {stack, category, ID_NONE}}, err);
    struct rocpd_event *room = budget_room(events->budget, events->rows, &events->cap,
                                           events->count + 1, sizeof *room, err);
    if (!room)
        return false;
    event.stack = (uint32_t)stack;
    events->rows = room;
    events->first = events->count ? events->first : id;
    room[events->count++] = event;
    return true;
}

bool rocpd_events_load(struct rocpd_events *events, struct budget *budget,
                       struct database *database, const char *table, struct err *err)
{
    *events = (struct rocpd_events){.budget = budget, .others.budget = budget};
    bool ok = rows_each(database, table, "id stack_id category_id", take, events, err);
    id_table_sort(&events->others);
    return ok;
}

void rocpd_events_free(struct rocpd_events *events)
{
    if (events->budget)
        budget_free(events->budget, events->rows, events->cap * sizeof *events->rows);
    id_table_free(&events->others);
    *events = (struct rocpd_events){0};
}

static const struct rocpd_event *find(const struct rocpd_events *events, int64_t id)
{
    uint64_t at = (uint64_t)id - (uint64_t)events->first;
    return at < events->count ? &events->rows[at] : NULL;
}

int64_t rocpd_events_stack(const struct rocpd_events *events, int64_t id)
{
    const struct rocpd_event *event = find(events, id);
    return event ? event->stack : id_table_value(&events->others, id, OTHER_STACK);
}

int64_t rocpd_events_category(const struct rocpd_events *events, int64_t id)
{
    const struct rocpd_event *event = find(events, id);
    return event ? events->categories[event->category]
                 : id_table_value(&events->others, id, OTHER_CATEGORY);
}
