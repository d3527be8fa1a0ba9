// SPDX-License-Identifier: Apache-2.0
#include "ingest/evidence/evidence.h"

#include "ingest/base/buf.h"
#include "ingest/base/figures.h"

#include <stdlib.h>

enum { MOST_TEXT = 1024 };

const char *const flight_state_words[FLIGHT_STATES] = {"scheduled", "started", "completed",
                                                       "other"};

void flight_free(struct flight *flight, struct budget *budget)
{
    if (flight_is_known(flight))
        strtab_free(&flight->texts);
    budget_free(budget, flight->groups, flight->group_cap * sizeof *flight->groups);
    budget_free(budget, flight->entries, flight->entry_cap * sizeof *flight->entries);
}

// --- ranks --------------------------------------------------------------------------------------

int64_t flight_rank_of_name(struct str filename)
{
    if (filename.len == 0)
        return -1;
    size_t end = filename.len;
    while (end && !str_is_digit(filename.at[end - 1]) && filename.at[end - 1] != '/')
        end--;
    size_t from = str_digits_start(filename, end);
    int64_t rank;
    bool found = end > from && str_to_i64((struct str){filename.at + from, end - from}, &rank);
    return found ? rank : -1;
}

bool flight_next_rank(struct str *list, int64_t *rank)
{
    while (list->len && memchr("[, ", list->at[0], 3))
        *list = (struct str){list->at + 1, list->len - 1};
    return str_take_i64(list, rank);
}

// --- texts --------------------------------------------------------------------------------------

bool flight_start(struct evidence *evidence, struct str filename, struct err *err)
{
    struct flight *flight = &evidence->flight;
    flight->rank = flight_rank_of_name(filename);
    return flight_is_known(flight) || strtab_init(&flight->texts, evidence->budget, err);
}

bool flight_text(struct evidence *evidence, struct str raw, str_id *id, struct err *err)
{
    struct buf shown = {0};
    struct str text;
    buf_add_shown(&shown, raw);
    bool ok = buf_ok(&shown, err);
    if (shown.len > MOST_TEXT) // redacted before it is cut
        ok = ok && evidence_text(evidence, raw, &text, err) &&
             strtab_intern(&evidence->flight.texts, text, id, err);
    else
        ok = ok && strtab_intern_outside(&evidence->flight.texts, (struct str){shown.at, shown.len},
                                         id, err);
    buf_free(&shown);
    return ok;
}

// Versions of the library write them with blanks or without.
static bool keep_ranks(struct evidence *evidence, struct str raw, str_id *id, struct err *err)
{
    struct buf list = {0};
    struct str rest = raw;
    int64_t rank;
    while (flight_next_rank(&rest, &rank)) {
        buf_puts(&list, list.len ? ", " : "[");
        buf_i64(&list, rank);
    }
    buf_puts(&list, list.len ? "]" : "");
    bool fits = list.len && list.len <= STRTAB_MAX_LEN;
    struct str kept = fits ? (struct str){list.at, list.len} : raw;
    bool ok = buf_ok(&list, err) && strtab_intern(&evidence->flight.texts, kept, id, err);
    buf_free(&list);
    return ok;
}

bool flight_ranks(struct evidence *evidence, struct str raw, str_id *id, struct err *err)
{
    *id = 0;
    for (size_t i = 0; i < raw.len; i++)
        if (!str_is_digit(raw.at[i]) && !memchr("[], ", raw.at[i], 4))
            return true;
    return raw.len > STRTAB_MAX_LEN || keep_ranks(evidence, raw, id, err);
}

// --- rows ---------------------------------------------------------------------------------------

bool flight_add_group(struct evidence *evidence, const struct flight_group *group, struct err *err)
{
    struct flight *flight = &evidence->flight;
    struct flight_group *grown = budget_room(evidence->budget, flight->groups, &flight->group_cap,
                                             flight->group_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    flight->groups = grown;
    flight->groups[flight->group_count++] = *group;
    return true;
}

bool flight_add_entry(struct evidence *evidence, const struct flight_entry *entry, struct err *err)
{
    struct flight *flight = &evidence->flight;
    struct flight_entry *grown = budget_room(evidence->budget, flight->entries, &flight->entry_cap,
                                             flight->entry_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    flight->entries = grown;
    flight->entries[flight->entry_count++] = *entry;
    return true;
}

// --- links --------------------------------------------------------------------------------------

// The group of a name, as place + 1; added, with members unknown, if the dump does not list it.
static bool find_group(struct evidence *evidence, const struct flight_entry *entry,
                       uint32_t *place_of_name, struct err *err)
{
    uint32_t *place = &place_of_name[entry->group_name];
    const struct flight_group missing = {.name = entry->group_name,
                                         .desc = entry->group_desc,
                                         .id = FLIGHT_UNKNOWN,
                                         .enqueued = FLIGHT_UNKNOWN,
                                         .started = FLIGHT_UNKNOWN,
                                         .completed = FLIGHT_UNKNOWN};
    if (!*place && !flight_add_group(evidence, &missing, err))
        return false;
    *place = *place ? *place : (uint32_t)evidence->flight.group_count;
    return true;
}

static bool link_entries(struct evidence *evidence, struct err *err)
{
    struct flight *flight = &evidence->flight;
    size_t size = flight->texts.count * sizeof(uint32_t);
    uint32_t *place_of_name = budget_zalloc(evidence->budget, size, err);
    bool ok = place_of_name;
    for (size_t i = 0; ok && i < flight->group_count; i++)
        place_of_name[flight->groups[i].name] = (uint32_t)i + 1;
    for (size_t i = 0; ok && i < flight->entry_count; i++) {
        struct flight_entry *entry = &flight->entries[i];
        ok = find_group(evidence, entry, place_of_name, err);
        entry->group = ok ? place_of_name[entry->group_name] - 1 : 0;
        if (ok && entry->group_id != FLIGHT_UNKNOWN)
            flight->groups[entry->group].id = entry->group_id;
    }
    budget_free(evidence->budget, place_of_name, size);
    return ok;
}

static int by_id(const void *a, const void *b)
{
    const struct flight_status *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

struct numbered {
    int64_t number; // the group's name is a number
    size_t group;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

// Pairs groups with statuses, both sorted. Only if no entry says otherwise.
static void pair(struct flight *flight, const struct numbered *order,
                 const struct flight_status *statuses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t id = flight->groups[order[i].group].id;
        if (id != FLIGHT_UNKNOWN && id != statuses[i].id)
            return;
    }
    for (size_t i = 0; i < count; i++)
        flight->groups[order[i].group].id = statuses[i].id;
}

static bool number_groups(struct evidence *evidence, const struct flight_status *statuses,
                          size_t count, struct err *err)
{
    struct flight *flight = &evidence->flight;
    size_t size = count * sizeof(struct numbered);
    struct numbered *order = budget_alloc(evidence->budget, size, err);
    bool numbers = order;
    for (size_t i = 0; numbers && i < count; i++) {
        order[i].group = i;
        numbers = str_to_i64(strtab_get(&flight->texts, flight->groups[i].name), &order[i].number);
    }
    if (numbers) {
        qsort(order, count, sizeof *order, by_number);
        pair(flight, order, statuses, count);
    }
    budget_free(evidence->budget, order, size);
    return order;
}

static void link_statuses(struct flight *flight, const struct flight_status *statuses, size_t count)
{
    for (size_t i = 0; i < flight->group_count; i++) {
        struct flight_group *group = &flight->groups[i];
        const struct flight_status key = {.id = group->id};
        const struct flight_status *found = group->id != FLIGHT_UNKNOWN && count
                                                ? bsearch(&key, statuses, count, sizeof key, by_id)
                                                : NULL;
        if (!found)
            continue;
        group->enqueued = found->enqueued;
        group->started = found->started;
        group->completed = found->completed;
    }
}

// --- states of what was coalesced ---------------------------------------------------------------

static bool is_part(const struct flight_entry *part, const struct flight_entry *end)
{
    return part->collective_seq == end->collective_seq && part->p2p_seq == end->p2p_seq &&
           part->state == FLIGHT_SCHEDULED && !part->retired;
}

// before: of each entry the one before it in its group, as place + 1. Up to PyTorch 2.5 the end of
// sends and receives is marked as a collective.
static void settle_parts(struct flight *flight, const size_t *before, size_t place)
{
    struct flight_entry *end = &flight->entries[place];
    for (size_t at = before[place]; at; at = before[at - 1]) {
        struct flight_entry *part = &flight->entries[at - 1];
        if (!is_part(part, end))
            return;
        end->is_p2p |= part->is_p2p;
        part->state = end->state;
        if (end->state == FLIGHT_SCHEDULED)
            return; // so are the others
    }
}

// Operations that were coalesced, such as a batch of sends and receives, stay scheduled for ever:
// only the entry that ends them, "nccl:coalesced", has their state.
static bool settle_coalesced(struct evidence *evidence, struct err *err)
{
    struct flight *flight = &evidence->flight;
    size_t size = (flight->entry_count + flight->group_count + 1) * sizeof(size_t);
    size_t *before = budget_zalloc(evidence->budget, size, err);
    if (!before)
        return false;
    size_t *last = before + flight->entry_count; // of each group
    for (size_t i = 0; i < flight->entry_count; i++) {
        const struct flight_entry *entry = &flight->entries[i];
        before[i] = last[entry->group];
        last[entry->group] = i + 1;
        if (str_ends_with(strtab_get(&flight->texts, entry->op), STR("coalesced")))
            settle_parts(flight, before, i);
    }
    budget_free(evidence->budget, before, size);
    return true;
}

// --- states of gloo ------------------------------------------------------------------------------

bool flight_keeps_no_states(const struct flight *flight, const struct flight_entry *entry)
{
    return entry->retired && entry->state == FLIGHT_SCHEDULED &&
           str_starts_with(strtab_get(&flight->texts, entry->op), STR("gloo:"));
}

// The last operation of each group may have been given up.
static bool settle_states(struct evidence *evidence, struct err *err)
{
    struct flight *flight = &evidence->flight;
    size_t size = (flight->group_count + 1) * sizeof(int64_t);
    int64_t *last = budget_alloc(evidence->budget, size, err);
    if (!last)
        return false;
    for (size_t i = 0; i < flight->group_count; i++)
        last[i] = INT64_MIN;
    for (size_t i = 0; i < flight->entry_count; i++) {
        const struct flight_entry *entry = &flight->entries[i];
        if (!entry->is_p2p && entry->collective_seq > last[entry->group])
            last[entry->group] = entry->collective_seq;
    }
    for (size_t i = 0; i < flight->entry_count; i++) {
        struct flight_entry *entry = &flight->entries[i];
        if (flight_keeps_no_states(flight, entry) &&
            (entry->is_p2p || entry->collective_seq < last[entry->group]))
            entry->state = FLIGHT_COMPLETED;
    }
    budget_free(evidence->budget, last, size);
    return true;
}

bool flight_finish(struct evidence *evidence, struct flight_status *statuses, size_t count,
                   struct err *err)
{
    struct flight *flight = &evidence->flight;
    if (count)
        qsort(statuses, count, sizeof *statuses, by_id);
    if (!link_entries(evidence, err) || !settle_coalesced(evidence, err) ||
        !settle_states(evidence, err))
        return false;
    if (count && count == flight->group_count && !number_groups(evidence, statuses, count, err))
        return false;
    link_statuses(flight, statuses, count);
    return true;
}

// --- figures ------------------------------------------------------------------------------------

static void report_text(const struct flight *flight, str_id id, const char *path,
                        struct figures *figures)
{
    if (id)
        figures_text(figures, strtab_get(&flight->texts, id), "%s", path);
}

// A figure is found by comparing it with all others, so equal names are added up before.
static void report_ops(const struct flight *flight, struct figures *figures)
{
    enum { MOST_OPS = 256 };
    str_id ops[MOST_OPS];
    int64_t counts[MOST_OPS];
    size_t known = 0;
    figures_add(figures, 0, "ops" IN);
    for (size_t i = 0; i < flight->entry_count; i++) {
        size_t at = 0;
        while (at < known && ops[at] != flight->entries[i].op)
            at++;
        if (at == known && known < MOST_OPS) {
            ops[known] = flight->entries[i].op;
            counts[known++] = 0;
        }
        if (at < known)
            counts[at]++;
    }
    for (size_t i = 0; i < known; i++) {
        struct str op = strtab_get(&flight->texts, ops[i]);
        figures_add(figures, counts[i], "ops" IN "%.*s", (int)op.len, op.at);
    }
}

void flight_report(const struct flight *flight, struct figures *figures)
{
    int64_t states[FLIGHT_STATES] = {0};
    for (size_t i = 0; i < flight->entry_count; i++)
        states[flight->entries[i].state]++;
    report_text(flight, flight->version, "version", figures);
    report_text(flight, flight->nccl_version, "nccl_version", figures);
    if (flight->rank >= 0)
        figures_add(figures, flight->rank, "rank");
    figures_add(figures, (int64_t)flight->group_count, "groups");
    figures_add(figures, (int64_t)flight->entry_count, "entries");
    figures_add(figures, 0, "states" IN);
    for (unsigned i = 0; i < FLIGHT_STATES; i++)
        if (states[i])
            figures_add(figures, states[i], "states" IN "%s", flight_state_words[i]);
    report_ops(flight, figures);
}
