// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/flight_tables.h"

#include "analysis/hangs/hang_keep.h"
#include "analysis/hangs/hang_seats.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

#include <string.h>

struct writing {
    const struct flight *flight;
    struct str file;
    struct report *report;
    const bool *kept; // of each entry
    struct hang_unfinished unfinished;
};

// --- writing ------------------------------------------------------------------------------------

static void row_known(struct row *row, unsigned column, int64_t number)
{
    row_i64_if(row, column, number != FLIGHT_UNKNOWN, number);
}

static void row_id(struct row *row, unsigned column, const struct flight *flight, str_id id)
{
    row_text_if(row, column, id != 0, strtab_get(&flight->texts, id));
}

static bool add_dump(const struct writing *writing, struct err *err)
{
    const struct flight *flight = writing->flight;
    struct row row = {.desc = &table_flight};
    row_text(&row, FLIGHT_FILE, writing->file);
    row_i64_if(&row, FLIGHT_RANK, flight->rank >= 0, flight->rank);
    row_id(&row, FLIGHT_VERSION, flight, flight->version);
    row_id(&row, FLIGHT_NCCL_VERSION, flight, flight->nccl_version);
    row_i64(&row, FLIGHT_GROUPS, (int64_t)flight->group_count);
    row_i64(&row, FLIGHT_ENTRIES, (int64_t)flight->entry_count);
    row_i64(&row, FLIGHT_UNFINISHED, writing->unfinished.collectives);
    row_i64(&row, FLIGHT_UNFINISHED_P2P, writing->unfinished.p2p);
    return row_end(&row, writing->report, err);
}

static bool add_group(const struct writing *writing, const struct flight_group *group,
                      struct err *err)
{
    struct row row = {.desc = &table_flight_groups};
    row_id(&row, FLIGHT_GROUPS_NAME, writing->flight, group->name);
    row_id(&row, FLIGHT_GROUPS_DESCRIPTION, writing->flight, group->desc);
    row_id(&row, FLIGHT_GROUPS_RANKS, writing->flight, group->ranks);
    row_known(&row, FLIGHT_GROUPS_ID, group->id);
    row_known(&row, FLIGHT_GROUPS_ENQUEUED, group->enqueued);
    row_known(&row, FLIGHT_GROUPS_STARTED, group->started);
    row_known(&row, FLIGHT_GROUPS_COMPLETED, group->completed);
    return row_end(&row, writing->report, err);
}

static void row_tensors(struct row *row, unsigned column, const struct flight *flight,
                        const struct flight_tensors *tensors)
{
    row_id(row, column, flight, tensors->sizes);
    row_id(row, column + 1, flight, tensors->dtypes);
    row_known(row, column + 2, tensors->elements);
}

static bool add_entry(const struct writing *writing, const struct flight_entry *entry,
                      struct err *err)
{
    const struct flight *flight = writing->flight;
    struct row row = {.desc = &table_flight_entries};
    row_i64(&row, FLIGHT_ENTRIES_GROUP, entry->group);
    row_id(&row, FLIGHT_ENTRIES_GROUP_NAME, flight, entry->group_name);
    row_id(&row, FLIGHT_ENTRIES_GROUP_DESCRIPTION, flight, entry->group_desc);
    row_known(&row, FLIGHT_ENTRIES_GROUP_ID, entry->group_id);
    row_known(&row, FLIGHT_ENTRIES_COLLECTIVE_SEQ, entry->collective_seq);
    row_known(&row, FLIGHT_ENTRIES_P2P_SEQ, entry->p2p_seq);
    row_bool(&row, FLIGHT_ENTRIES_IS_P2P, entry->is_p2p);
    row_bool(&row, FLIGHT_ENTRIES_RETIRED, entry->retired);
    row_i64(&row, FLIGHT_ENTRIES_STATE, (int64_t)entry->state);
    row_id(&row, FLIGHT_ENTRIES_OPERATION, flight, entry->op);
    row_tensors(&row, FLIGHT_ENTRIES_INPUT_SIZES, flight, &entry->input);
    row_tensors(&row, FLIGHT_ENTRIES_OUTPUT_SIZES, flight, &entry->output);
    row_known(&row, FLIGHT_ENTRIES_CREATED_NS, entry->created_ns);
    row_known(&row, FLIGHT_ENTRIES_STARTED_NS, entry->started_ns);
    row_known(&row, FLIGHT_ENTRIES_COMPLETED_NS, entry->completed_ns);
    row_known(&row, FLIGHT_ENTRIES_TIMEOUT_MS, entry->timeout_ms);
    row_id(&row, FLIGHT_ENTRIES_FRAMES, flight, entry->frames);
    return row_end(&row, writing->report, err);
}

static bool add_rows(const struct writing *writing, struct err *err)
{
    const struct flight *flight = writing->flight;
    bool ok = add_dump(writing, err);
    for (size_t i = 0; ok && i < flight->group_count; i++)
        ok = add_group(writing, &flight->groups[i], err);
    for (size_t i = 0; ok && i < flight->entry_count; i++)
        ok = !writing->kept[i] || add_entry(writing, &flight->entries[i], err);
    return ok;
}

static bool doubt_rank(const struct writing *writing, struct err *err)
{
    struct report *report = writing->report;
    const char *detail =
        arena_printf(report->arena, err, "the name of %.*s does not end in the number of a rank",
                     (int)writing->file.len, writing->file.at);
    const struct doubt doubt = {.item = "dump_without_rank",
                                .severity = "warning",
                                .count = 1,
                                .detail = detail,
                                .effect = "the verdict on the hang leaves this dump out"};
    return detail && doubt_add(report, &doubt, err);
}

bool flight_tables_add(const struct evidence *evidence, struct str file, struct report *report,
                       struct err *err)
{
    const struct flight *flight = &evidence->flight;
    struct writing writing = {flight, file, report, NULL, {0}};
    struct budget *budget = evidence->budget;
    if (!flight_is_known(flight))
        return true;
    bool *kept = budget_zalloc(budget, flight->entry_count + 1, err);
    writing.kept = kept;
    bool ok = kept && hang_keep(flight, kept, &writing.unfinished, budget, err) &&
              add_rows(&writing, err) && (flight->rank >= 0 || doubt_rank(&writing, err));
    budget_free(budget, kept, flight->entry_count + 1);
    return ok;
}

// --- reading ------------------------------------------------------------------------------------

struct reading {
    struct evidence *evidence;
    const struct table *table;
    size_t row;
    struct err *err;
    bool failed;
};

static int64_t known(const struct reading *reading, unsigned column)
{
    return table_i64(reading->table, reading->row, column, FLIGHT_UNKNOWN);
}

// The texts were cleaned when the dump was read.
static str_id id_of(struct reading *reading, unsigned column)
{
    const struct cell *cell = table_cell(reading->table, reading->row, column);
    str_id id = 0;
    struct strtab *texts = &reading->evidence->flight.texts;
    if (!cell->null && !reading->failed)
        reading->failed =
            cell->s.len > STRTAB_MAX_LEN || !strtab_intern(texts, cell->s, &id, reading->err);
    return id;
}

static bool flag(const struct reading *reading, unsigned column)
{
    const struct cell *cell = table_cell(reading->table, reading->row, column);
    return !cell->null && cell->i;
}

static bool read_group(struct reading *reading)
{
    struct flight_group group = {
        .name = id_of(reading, FLIGHT_GROUPS_NAME),
        .desc = id_of(reading, FLIGHT_GROUPS_DESCRIPTION),
        .ranks = id_of(reading, FLIGHT_GROUPS_RANKS),
        .id = known(reading, FLIGHT_GROUPS_ID),
        .enqueued = known(reading, FLIGHT_GROUPS_ENQUEUED),
        .started = known(reading, FLIGHT_GROUPS_STARTED),
        .completed = known(reading, FLIGHT_GROUPS_COMPLETED),
    };
    return !reading->failed && flight_add_group(reading->evidence, &group, reading->err);
}

static struct flight_tensors read_tensors(struct reading *reading, unsigned column)
{
    return (struct flight_tensors){id_of(reading, column), id_of(reading, column + 1),
                                   known(reading, column + 2)};
}

static bool read_entry(struct reading *reading)
{
    int64_t group = known(reading, FLIGHT_ENTRIES_GROUP);
    int64_t state = known(reading, FLIGHT_ENTRIES_STATE);
    struct flight_entry entry = {
        .group_name = id_of(reading, FLIGHT_ENTRIES_GROUP_NAME),
        .group_desc = id_of(reading, FLIGHT_ENTRIES_GROUP_DESCRIPTION),
        .group_id = known(reading, FLIGHT_ENTRIES_GROUP_ID),
        .collective_seq = known(reading, FLIGHT_ENTRIES_COLLECTIVE_SEQ),
        .p2p_seq = known(reading, FLIGHT_ENTRIES_P2P_SEQ),
        .is_p2p = flag(reading, FLIGHT_ENTRIES_IS_P2P),
        .retired = flag(reading, FLIGHT_ENTRIES_RETIRED),
        .state = state >= 0 && state < FLIGHT_STATES ? (enum flight_state)state : FLIGHT_OTHER,
        .op = id_of(reading, FLIGHT_ENTRIES_OPERATION),
        .input = read_tensors(reading, FLIGHT_ENTRIES_INPUT_SIZES),
        .output = read_tensors(reading, FLIGHT_ENTRIES_OUTPUT_SIZES),
        .created_ns = known(reading, FLIGHT_ENTRIES_CREATED_NS),
        .started_ns = known(reading, FLIGHT_ENTRIES_STARTED_NS),
        .completed_ns = known(reading, FLIGHT_ENTRIES_COMPLETED_NS),
        .timeout_ms = known(reading, FLIGHT_ENTRIES_TIMEOUT_MS),
        .frames = id_of(reading, FLIGHT_ENTRIES_FRAMES),
    };
    struct flight *flight = &reading->evidence->flight;
    if (reading->failed || group < 0 || (uint64_t)group >= flight->group_count)
        return !reading->failed;
    if (!flight_add_entry(reading->evidence, &entry, reading->err))
        return false;
    flight->entries[flight->entry_count - 1].group = (uint32_t)group;
    return true;
}

static bool read_rows(struct evidence *evidence, const struct table *table,
                      bool (*read)(struct reading *reading), struct err *err)
{
    struct reading reading = {.evidence = evidence, .table = table, .err = err};
    for (; table && reading.row < table->row_count; reading.row++)
        if (!read(&reading))
            return err->code ? false : err_set(err, ERR_FORMAT, "a text of a dump is too long");
    return true;
}

static bool read_dump(struct reading *reading)
{
    struct flight *flight = &reading->evidence->flight;
    flight->rank = table_i64(reading->table, reading->row, FLIGHT_RANK, -1);
    flight->version = id_of(reading, FLIGHT_VERSION);
    flight->nccl_version = id_of(reading, FLIGHT_NCCL_VERSION);
    return !reading->failed;
}

// How many of the counted operations have no row; the counts are not trusted.
static int64_t left_of(const struct table *dump, unsigned column, int64_t rows)
{
    const int64_t most = INT64_C(1) << 40;
    int64_t all = table_i64(dump, 0, column, 0);
    return all > most ? most : all > rows ? all - rows : 0;
}

static void count_left(struct flight *flight, const struct table *dump)
{
    int64_t collectives = 0, p2p = 0;
    for (size_t i = 0; i < flight->entry_count; i++) {
        const struct flight_entry *entry = &flight->entries[i];
        collectives += hang_is_unfinished(entry) && !entry->is_p2p && hang_has_seq(entry);
        p2p += hang_is_unfinished(entry) && entry->is_p2p;
    }
    flight->left.entries = left_of(dump, FLIGHT_ENTRIES, (int64_t)flight->entry_count);
    flight->left.unfinished = left_of(dump, FLIGHT_UNFINISHED, collectives);
    flight->left.unfinished_p2p = left_of(dump, FLIGHT_UNFINISHED_P2P, p2p);
}

bool flight_tables_read(const struct report *report, struct evidence *evidence, bool *is,
                        struct err *err)
{
    const struct table *dump = report_find(report, "flight");
    *is = dump && dump->row_count;
    if (!*is)
        return true;
    *err = (struct err){.pos = ERR_NO_POS};
    bool ok = flight_start(evidence, STR(""), err) && read_rows(evidence, dump, read_dump, err) &&
              read_rows(evidence, report_find(report, "flight_groups"), read_group, err) &&
              read_rows(evidence, report_find(report, "flight_entries"), read_entry, err);
    if (ok)
        count_left(&evidence->flight, dump);
    return ok;
}
