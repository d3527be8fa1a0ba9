// SPDX-License-Identifier: Apache-2.0
// Counters of a rocpd database: those of kernels, which rocprofv3 counts or samples while one runs,
// and those that rocprof-sys samples of GPUs, network cards and the process.
#include "ingest/rocm/rocpd.h"

#include "ingest/rocm/rocm_counts.h"

#include <stdio.h>

#define VALUE_COLUMNS "event_id pmc_id value sample_id"
enum { EVENT, COUNTER, VALUE, SAMPLE };

enum { OF_AGENT };                            // of counters
enum { TIME, TIME_ID, OF_KERNEL = TIME + 2 }; // of samples and kernels, whose agent comes then

// The last value of a counter that counts since the machine or the process started.
struct total {
    double value;
    int64_t time_ns;
    bool known;
};

// Whose values are summed.
struct place {
    int64_t event, sample, agent; // sample: ID_NONE if there is none
};

struct counting {
    struct rocpd *rocpd;
    struct text_table names;
    struct id_table counters;           // agent
    struct id_table samples, of_events; // of samples by their ids, and by their events
    struct id_table kernels;
    struct total *totals;      // of each counter
    struct rocm_counts counts; // of one place
    struct place place;
};

// --- places -------------------------------------------------------------------------------------

// When it was: a sample, or a kernel, whose values hold from its start on. ID_NONE: never.
static int64_t time_of(const struct counting *all, const struct place *place)
{
    const struct id_row *row = place->sample != ID_NONE
                                   ? id_table_find(&all->samples, place->sample)
                                   : id_table_find(&all->of_events, place->event);
    row = row ? row : id_table_find(&all->kernels, place->event);
    if (!row || row->value[TIME] != ID_NONE)
        return row ? row->value[TIME] : ID_NONE;
    return id_table_value(&all->rocpd->times, row->value[TIME_ID], 0);
}

// A counter that several GPUs have is listed with the first of them only.
static struct place place_of(const struct counting *all, const struct rows *rows)
{
    int64_t event = rows_i64_or(rows, EVENT, -1), counter = rows_i64_or(rows, COUNTER, -1);
    int64_t of_kernel = id_table_value(&all->kernels, event, OF_KERNEL);
    int64_t of_counter = id_table_value(&all->counters, counter, OF_AGENT);
    return (struct place){event, rows_i64_or(rows, SAMPLE, ID_NONE),
                          of_kernel != ID_NONE ? of_kernel : of_counter};
}

// CPUs and network cards have numbers that are no GPU's.
static struct counter_record record_at(const struct counting *all, const struct place *place)
{
    const struct rocm_agent *agent = rocm_agents_find(&all->rocpd->agents, place->agent);
    int64_t device = agent && !agent->is_gpu ? VALUE_ABSENT : agent ? agent->device : 0;
    return (struct counter_record){.pid.number = device, .time_ns = time_of(all, place)};
}

// --- values of kernels --------------------------------------------------------------------------

static bool end_sum(struct counting *all, struct err *err)
{
    struct counter_record when = record_at(all, &all->place);
    if (when.time_ns < 0)
        all->counts.count = 0;
    return rocm_counts_end(&all->counts, &all->names, all->rocpd->builder, &when, err);
}

static bool is_same(const struct place *a, const struct place *b)
{
    return a->event == b->event && a->sample == b->sample && a->agent == b->agent;
}

static bool take_instance(struct counting *all, const struct place *place, int64_t counter,
                          double value, struct err *err)
{
    if (!is_same(place, &all->place) && !end_sum(all, err))
        return false;
    all->place = *place;
    return rocm_counts_add(&all->counts, counter, value, err);
}

// --- values that are sampled --------------------------------------------------------------------

static bool is_total(struct str name)
{
    static const char *const words[] = {"xgmi_read_data", "xgmi_write_data", "bandwidth_acc",
                                        "rdma_ucast",     "cnp_pkts",        "context_switch",
                                        "user_cpu_time",  "kernel_cpu_time"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_find(name, str_of(words[i])) != SIZE_MAX)
            return true;
    return false;
}

// What a total grew by in a second, from the last value on. After a restart it is not known.
static bool take_total(struct counting *all, struct str name, struct total *last,
                       struct counter_record *now, struct err *err)
{
    char per_second[128];
    struct total total = {now->value, now->time_ns, true}, before = *last;
    *last = total;
    if (!before.known || total.time_ns <= before.time_ns || total.value < before.value)
        return true;
    now->value = (total.value - before.value) * 1e9 / (double)(total.time_ns - before.time_ns);
    now->time_ns = before.time_ns;
    bool has_unit = str_ends_with(name, STR(")"));
    size_t len = name.len - has_unit < 120 ? name.len - has_unit : 120;
    snprintf(per_second, sizeof per_second, "%.*s/s%s", (int)len, name.at, has_unit ? ")" : "");
    return trace_builder_text(all->rocpd->builder, str_of(per_second), ERR_NO_POS, &now->name,
                              err) &&
           trace_builder_count(all->rocpd->builder, now, err);
}

static bool take_sample(struct counting *all, const struct place *place, int64_t counter,
                        double value, struct err *err)
{
    struct str name;
    struct counter_record record = record_at(all, place);
    const struct id_row *row = id_table_find(&all->counters, counter);
    record.value = value;
    if (record.time_ns < 0)
        return true;
    if (row && text_table_find(&all->names, counter, &name) && is_total(name))
        return take_total(all, name, &all->totals[row - all->counters.rows], &record, err);
    return text_table_intern(&all->names, all->rocpd->builder, counter, &record.name, err) &&
           trace_builder_count(all->rocpd->builder, &record, err);
}

// --- the tables ---------------------------------------------------------------------------------

static bool take_value(void *context, const struct rows *rows, struct err *err)
{
    struct counting *all = context;
    struct place place = place_of(all, rows);
    int64_t counter = rows_i64_or(rows, COUNTER, -1);
    double value;
    if (!rows_f64(rows, VALUE, &value))
        return true;
    return id_table_find(&all->kernels, place.event)
               ? take_instance(all, &place, counter, value, err)
               : take_sample(all, &place, counter, value, err);
}

static bool note_any(void *context, const struct rows *rows, struct err *err)
{
    (void)rows;
    (void)err;
    *(bool *)context = true;
    return true;
}

// Where a counter has a unit, it is in its name: "device_power (W)".
static bool take_name(void *context, const struct rows *rows, struct err *err)
{
    struct counting *all = context;
    struct str name, unit = STR("");
    struct buf text = {0};
    int64_t id;
    if (!rows_i64(rows, 0, &id) || !rows_text(rows, 1, &name))
        return true;
    (void)rows_text(rows, 2, &unit);
    buf_add_str(&text, name);
    if (unit.len)
        buf_printf(&text, " (%.*s)", (int)unit.len, unit.at);
    bool ok =
        buf_ok(&text, err) && text_table_add(&all->names, id, (struct str){text.at, text.len}, err);
    buf_free(&text);
    return ok;
}

static bool load_names(struct counting *all, struct err *err)
{
    char table[ROCPD_NAME_BYTES];
    all->names.ids.budget = all->rocpd->tables.input->budget;
    bool ok = rows_each(all->rocpd->tables.database, rocpd_table_of(all->rocpd, "info_pmc", table),
                        "id name units", take_name, all, err);
    text_table_sort(&all->names);
    return ok;
}

static bool load_tables(struct counting *all, struct err *err)
{
    struct rocpd *rocpd = all->rocpd;
    return load_names(all, err) &&
           rocpd_load_ids(rocpd, &all->counters, "info_pmc", "id agent_id", err) &&
           rocpd_load_ids(rocpd, &all->samples, "sample", "id timestamp timestamp_id", err) &&
           rocpd_load_ids(rocpd, &all->of_events, "sample", "event_id timestamp timestamp_id",
                          err) &&
           rocpd_load_ids(rocpd, &all->kernels, "kernel_dispatch",
                          "event_id start start_id agent_id", err);
}

static bool read_values(struct counting *all, struct err *err)
{
    struct rocpd *rocpd = all->rocpd;
    struct budget *budget = rocpd->tables.input->budget;
    char table[ROCPD_NAME_BYTES];
    if (!load_tables(all, err))
        return false;
    size_t size = (all->counters.count + 1) * sizeof *all->totals;
    all->totals = budget_zalloc(budget, size, err);
    bool ok = all->totals &&
              table_reader_each(&rocpd->tables, rocpd_table_of(rocpd, "pmc_event", table),
                                VALUE_COLUMNS, take_value, all, err) &&
              end_sum(all, err);
    budget_free(budget, all->totals, size);
    return ok;
}

// Loads nothing if there are no counters: the table of kernels may be long.
bool rocpd_read_counters(struct rocpd *rocpd, struct err *err)
{
    struct counting all = {.rocpd = rocpd, .counts.budget = rocpd->tables.input->budget};
    char table[ROCPD_NAME_BYTES];
    bool any = false;
    if (!rows_each(rocpd->tables.database, rocpd_table_of(rocpd, "info_pmc", table), "id", note_any,
                   &any, err))
        return false;
    bool ok = !any || read_values(&all, err);
    text_table_free(&all.names);
    id_table_free(&all.counters);
    id_table_free(&all.samples);
    id_table_free(&all.of_events);
    id_table_free(&all.kernels);
    rocm_counts_free(&all.counts);
    return ok;
}
