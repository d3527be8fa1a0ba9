// SPDX-License-Identifier: Apache-2.0
#include "ingest/monitor/monitor_table.h"

#include "ingest/base/hash.h"
#include "ingest/logs/log_text.h"
#include "ingest/source/lines.h"

#include <math.h>

enum { LINES_BETWEEN = 1024, MOST_DAYS = 10000 };
#define DAY_NS INT64_C(86400000000000)

// --- the header ---------------------------------------------------------------------------------

const struct monitor_column *monitor_column_of(const struct monitor_dialect *dialect,
                                               struct str name)
{
    for (size_t i = 0; i < dialect->count; i++)
        if (str_equal_nocase(name, dialect->columns[i].name))
            return &dialect->columns[i];
    return NULL;
}

struct monitor_scale monitor_scale_of(const struct monitor_column *column, struct str unit)
{
    struct monitor_scale scale = {.dimension = SAMPLE_COUNT, .factor = 1};
    if (column->role > MONITOR_HEAT)
        return scale;
    scale.dimension = sample_metric_dimension(column->metric);
    if (!monitor_unit(unit, &scale) && column->unit)
        monitor_unit(str_of(column->unit), &scale);
    return scale;
}

// Whether a column of that kind came before; then the first is read.
static bool is_again(const struct monitor_table *table, const struct monitor_column *column)
{
    if (column->role != MONITOR_METRIC)
        return column->role > MONITOR_REASON && table->has[column->role];
    for (size_t i = 0; i < table->place_count; i++)
        if (table->places[i].column->role == MONITOR_METRIC &&
            table->places[i].column->metric == column->metric)
            return true;
    return false;
}

bool monitor_note_column(struct evidence *evidence, const struct monitor_column *column,
                         struct str name, struct monitor_scale scale, struct err *err)
{
    struct sample_column *noted = &evidence->samples.columns[column->metric];
    const char *copy = arena_strdup(&evidence->arena, name, err); // the dialect's, but for its case
    *noted = (struct sample_column){{copy, copy ? name.len : 0}, scale.factor};
    return copy;
}

static bool add_place(struct monitor_table *table, size_t cell, struct err *err)
{
    struct str unit, name = monitor_name(table->cells.at[cell], &unit);
    struct evidence *evidence = table->input->evidence;
    const struct monitor_column *column = monitor_column_of(table->dialect, name);
    if (!column)
        return samples_leave_out(evidence, name, err);
    if (is_again(table, column))
        return true;
    struct monitor_place *place = &table->places[table->place_count++];
    *place = (struct monitor_place){cell, column, monitor_scale_of(column, unit)};
    table->has[column->role] = true;
    bool noted =
        column->role != MONITOR_METRIC || evidence->samples.columns[column->metric].name.len;
    return noted || monitor_note_column(evidence, column, name, place->scale, err);
}

void monitor_split_line(struct monitor_table *table, struct str text)
{
    monitor_split(text, table->header ? table->separator : monitor_separator(text), &table->cells);
}

bool monitor_take_header(struct monitor_table *table, struct str text, struct err *err)
{
    uint64_t hash = hash_bytes(text.at, text.len) | 1;
    table->after_header = true;
    if (hash == table->header)
        return true;
    table->separator = table->header ? table->separator : monitor_separator(text);
    table->header = hash;
    if (table->dialect->pick)
        table->dialect = table->dialect->pick(&table->cells);
    table->width = table->cells.count;
    table->place_count = 0;
    memset(table->has, 0, sizeof table->has);
    for (size_t i = 0; i < table->cells.count; i++)
        if (!add_place(table, i, err))
            return false;
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

// "GPU 0", "card0", or a part of a GPU.
static bool take_entity(struct monitor_row *row, struct str cell)
{
    static const char *const wholes[] = {"GPU ", "card", "gpu"};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        struct str start = str_of(wholes[i]);
        if (str_starts_with(cell, start) &&
            str_to_i64(log_trim(log_from(cell, start.len)), &row->is.index))
            return row->is.index >= 0;
    }
    row->is.part = cell;
    row->no_gpu = str_equal_nocase(cell, STR("system"));
    return cell.len;
}

// An index is a small number.
static bool take_index(struct monitor_row *row, struct str cell)
{
    return str_to_i64(cell, &row->is.index) && row->is.index >= 0;
}

bool monitor_row_says(struct monitor_row *row, enum monitor_role role, struct str cell)
{
    switch (role) {
    case MONITOR_TIME: row->time = cell; return true;
    case MONITOR_DATE: row->date = cell; return true;
    case MONITOR_INDEX: return take_index(row, cell);
    case MONITOR_ENTITY: return take_entity(row, cell);
    case MONITOR_XCP:
        row->is.part = cell.len && str_is_digit(*cell.at) && *cell.at != '0' ? cell : STR("");
        return true;
    case MONITOR_INSTANCE: row->is.part = cell; return true;
    case MONITOR_UUID: row->is.uuid = cell; return true;
    case MONITOR_BUS_ID: row->is.bus_id = cell; return true;
    case MONITOR_NAME: row->is.name = cell; return true;
    case MONITOR_HOST: row->is.host = cell; return true;
    case MONITOR_PROCESS: row->process = cell; return true;
    default: return true;
    }
}

void monitor_row_start(struct monitor_row *row)
{
    const struct str none = STR("");
    *row = (struct monitor_row){.is = {none, none, none, none, none, -1}};
    row->date = row->time = row->process = none;
    row->heat = NAN;
}

static bool take_identity(const struct monitor_table *table, struct monitor_row *row)
{
    monitor_row_start(row);
    for (size_t i = 0; i < table->place_count; i++) {
        enum monitor_role role = table->places[i].column->role;
        if (role > MONITOR_REASON &&
            !monitor_row_says(row, role, table->cells.at[table->places[i].cell]))
            return false;
    }
    return true;
}

// A time of day, which starts again each day.
static bool time_of_day(struct monitor_table *table, struct str text, int64_t *time_ns)
{
    enum sample_clock clock;
    char dated[64];
    size_t len = text.len < 32 ? text.len : 32;
    memcpy(dated, "19700101 ", 9);
    memcpy(dated + 9, text.at, len);
    if (!monitor_time((struct str){dated, 9 + len}, time_ns, &clock))
        return false;
    if (*time_ns + DAY_NS / 2 < table->last_ns)
        table->day_ns += DAY_NS;
    if (table->day_ns > MOST_DAYS * DAY_NS)
        return false;
    table->last_ns = *time_ns;
    *time_ns += table->day_ns;
    return true;
}

static bool time_of_row(struct monitor_table *table, const struct monitor_row *row,
                        int64_t *time_ns, enum sample_clock *clock)
{
    char both[64];
    *clock = SAMPLE_CLOCK_RELATIVE;
    *time_ns = 0;
    if (!table->has[MONITOR_TIME])
        return true;
    if (row->date.len == 0 && row->time.len > 2 && row->time.at[2] == ':')
        return time_of_day(table, row->time, time_ns);
    if (row->date.len == 0)
        return monitor_time(row->time, time_ns, clock);
    if (row->date.len > 16 || row->time.len > 32)
        return false;
    memcpy(both, row->date.at, row->date.len);
    both[row->date.len] = ' ';
    memcpy(both + row->date.len + 1, row->time.at, row->time.len);
    return monitor_time((struct str){both, row->date.len + 1 + row->time.len}, time_ns, clock);
}

// The first row decides what times are; a row of another clock cannot be placed.
static bool take_time(struct monitor_table *table, struct monitor_row *row)
{
    struct sample_set *set = &table->input->evidence->samples;
    enum sample_clock clock;
    if (!time_of_row(table, row, &row->time_ns, &clock))
        return false;
    if (set->rows == 0) {
        set->clock = clock;
        set->period_ns = table->has[MONITOR_TIME] ? 0 : MONITOR_PERIOD_NS;
    }
    return clock == set->clock && table->has[MONITOR_TIME] == !set->period_ns;
}

// Rows that do not say of which device they are: one device, unless several are of one moment.
static void number_device(struct monitor_table *table, struct monitor_row *row)
{
    static const enum monitor_role say[] = {MONITOR_INDEX, MONITOR_ENTITY, MONITOR_UUID,
                                            MONITOR_BUS_ID};
    for (size_t i = 0; i < sizeof say / sizeof *say; i++)
        if (table->has[say[i]])
            return;
    bool again = table->has[MONITOR_TIME] && row->time_ns == table->same_time_ns;
    table->same_count = again ? table->same_count + 1 : 0;
    table->same_time_ns = row->time_ns;
    row->is.index = table->same_count;
}

// --- nodes --------------------------------------------------------------------------------------

// Where summer time ends, clocks of a night from Saturday to Sunday go back by an hour.
static bool is_clock_change(int64_t time_ns, int64_t back_ns)
{
    enum { THURSDAY = 4, WEEK = 7 }; // of 1970-01-01
    const int64_t hour_ns = DAY_NS / 24, near_ns = hour_ns / 30;
    bool sunday = (time_ns / DAY_NS + THURSDAY) % WEEK == 0 && time_ns % DAY_NS < 4 * hour_ns;
    return sunday && back_ns > hour_ns - near_ns && back_ns < hour_ns + near_ns;
}

// Whether a file of another node starts: after a header, most of the same times come again.
static bool starts_node(const struct monitor_table *table, int64_t time_ns)
{
    const int64_t least_ns = INT64_C(3000000000); // less may be a clock that was set
    const struct sample_set *set = &table->input->evidence->samples;
    int64_t back_ns, span_ns;
    bool dated = set->clock == SAMPLE_CLOCK_LOCAL || set->clock == SAMPLE_CLOCK_UTC;
    if (!set->rows || !dated || !table->after_header || table->has[MONITOR_UUID] ||
        table->has[MONITOR_HOST] || __builtin_sub_overflow(table->before_ns, time_ns, &back_ns) ||
        __builtin_sub_overflow(table->before_ns, table->node_first_ns, &span_ns))
        return false;
    return back_ns >= least_ns && back_ns >= span_ns / 2 && !is_clock_change(time_ns, back_ns);
}

static bool name_node(struct monitor_table *table, struct str *host, struct err *err)
{
    char *name = arena_printf(&table->input->evidence->arena, err, "node-%u", ++table->node);
    *host = name ? str_of(name) : STR("");
    return name;
}

// Devices of two nodes have the same indexes and, where the nodes are alike, the same addresses.
static bool start_node(struct monitor_table *table, struct err *err)
{
    struct sample_set *set = &table->input->evidence->samples;
    if (!table->node && !name_node(table, &table->host, err))
        return false;
    for (size_t i = 0; table->node == 1 && i < set->device_count; i++)
        set->devices[i].is.host = table->host;
    if (!name_node(table, &table->host, err))
        return false;
    set->joined_nodes = table->node;
    return true;
}

static bool find_node(struct monitor_table *table, struct monitor_row *row, struct err *err)
{
    bool starts = starts_node(table, row->time_ns);
    if (starts && !start_node(table, err))
        return false;
    if (starts || !table->input->evidence->samples.rows)
        table->node_first_ns = row->time_ns;
    table->after_header = false;
    table->before_ns = row->time_ns;
    if (table->node && !table->has[MONITOR_HOST] && !table->has[MONITOR_UUID])
        row->is.host = table->host;
    return true;
}

// --- processes ----------------------------------------------------------------------------------

// GPUs come in ascending order, each with its processes: a smaller index, or a process seen before,
// starts the next moment.
static bool starts_moment(const struct monitor_table *table, const struct monitor_process *next)
{
    size_t count = table->process_count;
    if (count && next->gpu < table->processes[count - 1].gpu)
        return true;
    for (size_t i = 0; i < count; i++)
        if (table->processes[i].gpu == next->gpu && table->processes[i].process == next->process)
            return true;
    return false;
}

static int64_t moment_of(struct monitor_table *table, const struct monitor_row *row)
{
    struct monitor_process next = {row->is.index, hash_bytes(row->process.at, row->process.len)};
    if (starts_moment(table, &next)) {
        table->process_count = 0;
        table->process_moment++;
    }
    if (table->process_count < MONITOR_MOST_PROCESSES)
        table->processes[table->process_count++] = next;
    return table->process_moment;
}

// Adds up a GPU's processes; percentages are capped at 100.
static bool add_to_sum(struct monitor_table *table, uint32_t device, enum sample_metric metric,
                       struct sample sample, struct err *err)
{
    struct evidence *evidence = table->input->evidence;
    const struct sample_series *series = samples_of(&evidence->samples, device, metric);
    struct sample *last = series && series->count ? &series->at[series->count - 1] : NULL;
    if (!table->has[MONITOR_PROCESS] || !last || last->time_ns != sample.time_ns)
        return samples_add(evidence, device, metric, sample, err);
    if (!isfinite(sample.value)) // another process has a value
        return true;
    last->value += sample.value;
    if (sample_metric_dimension(metric) == SAMPLE_PERCENT && last->value > 100)
        last->value = 100;
    return true;
}

// --- values -------------------------------------------------------------------------------------

static void take_reason(struct monitor_row *row, const struct monitor_column *column,
                        struct str cell)
{
    bool is = str_equal_nocase(cell, STR("Active")) || str_equal_nocase(cell, STR("THROTTLED"));
    bool is_not =
        str_equal_nocase(cell, STR("Not Active")) || str_equal_nocase(cell, STR("UNTHROTTLED"));
    row->any_reason = row->any_reason || is || is_not;
    row->reasons |= is ? column->bit : 0;
}

// The last number of a line that has no end may be half of one.
static double value_of(const struct monitor_table *table, const struct monitor_place *place)
{
    struct str cell = table->cells.at[place->cell];
    bool last = table->open && place->cell + 1 == table->cells.count;
    if (last && cell.len && str_is_digit(cell.at[cell.len - 1]))
        return NAN;
    char text[32];
    if (cell.len && table->separator == ';')
        cell = monitor_with_point(cell, text);
    return monitor_value(cell, place->scale);
}

static bool has_metric(const struct monitor_table *table, enum sample_metric metric)
{
    for (size_t i = 0; i < table->place_count; i++)
        if (table->places[i].column->role == MONITOR_METRIC &&
            table->places[i].column->metric == metric)
            return true;
    return false;
}

static bool add_reasons(struct monitor_table *table, const struct monitor_row *row, uint32_t device,
                        struct err *err)
{
    if (!table->has[MONITOR_REASON] || has_metric(table, SAMPLE_THROTTLE_REASONS))
        return true;
    struct sample sample = {row->time_ns, row->any_reason ? (double)row->reasons : NAN};
    return samples_add(table->input->evidence, device, SAMPLE_THROTTLE_REASONS, sample, err);
}

static bool add_heat(struct monitor_table *table, const struct monitor_row *row, uint32_t device,
                     struct err *err)
{
    struct sample sample = {row->time_ns, row->heat};
    return !table->has[MONITOR_HEAT] ||
           samples_add(table->input->evidence, device, SAMPLE_THERMAL_VIOLATION, sample, err);
}

// What nvidia-smi prints in place of values: "[GPU requires reset]", "[GPU is lost]".
static bool says_failed(struct str cell)
{
    return str_contains_nocase(cell, STR("gpu requires reset")) ||
           str_contains_nocase(cell, STR("gpu is lost"));
}

static void note_failure(struct monitor_table *table, uint32_t device)
{
    bool failed = false;
    for (size_t i = 0; i < table->place_count && !failed; i++)
        failed = says_failed(table->cells.at[table->places[i].cell]);
    table->input->evidence->samples.devices[device].failed_rows += failed;
}

static bool add_values(struct monitor_table *table, struct monitor_row *row, uint32_t device,
                       struct err *err)
{
    note_failure(table, device);
    for (size_t i = 0; i < table->place_count; i++) {
        const struct monitor_place *place = &table->places[i];
        if (place->column->role == MONITOR_REASON)
            take_reason(row, place->column, table->cells.at[place->cell]);
        if (place->column->role == MONITOR_HEAT)
            row->heat = fmax(row->heat, value_of(table, place));
        if (place->column->role != MONITOR_METRIC)
            continue;
        struct sample sample = {row->time_ns, value_of(table, place)};
        if (!add_to_sum(table, device, place->column->metric, sample, err))
            return false;
    }
    return add_heat(table, row, device, err) && add_reasons(table, row, device, err);
}

bool monitor_take_row(struct monitor_table *table, struct err *err)
{
    struct evidence *evidence = table->input->evidence;
    struct sample_set *set = &evidence->samples;
    struct monitor_row row;
    uint32_t device;
    if (table->has[MONITOR_NO_GPU])
        return true;
    if (!table->header || table->cells.more || table->cells.count != table->width ||
        !take_identity(table, &row) || !take_time(table, &row)) {
        samples_bad_row(set, table->pos);
        return true;
    }
    if (row.no_gpu)
        return true;
    number_device(table, &row);
    if (!find_node(table, &row, err) || !samples_device(evidence, &row.is, &device, err))
        return false;
    set->rows++;
    if (device == SAMPLE_NO_DEVICE) {
        set->lost_rows++;
        return true;
    }
    int64_t moment = set->devices[device].rows;
    if (table->has[MONITOR_PROCESS] && set->period_ns)
        moment = moment_of(table, &row);
    if (set->period_ns)
        row.time_ns = moment * set->period_ns;
    set->devices[device].rows++;
    return add_values(table, &row, device, err);
}

// --- the file -----------------------------------------------------------------------------------

static struct str without_mark(struct str text, uint64_t pos)
{
    bool mark = pos == 0 && str_starts_with(text, STR("\xEF\xBB\xBF"));
    return mark ? log_from(text, 3) : text;
}

static bool take_line(struct monitor_table *table, const struct lines *lines,
                      const struct line *line, struct err *err)
{
    struct str text = log_trim(without_mark(line->text, line->pos));
    table->pos = line->pos;
    table->open = lines->pos - line->pos == line->text.len;
    if (text.len == 0)
        return true;
    if (line->cut) {
        samples_bad_row(&table->input->evidence->samples, line->pos);
        return true;
    }
    return table->dialect->take(table, &text, err);
}

static bool take_lines(struct monitor_table *table, struct err *err)
{
    struct lines lines;
    struct line line = {0};
    const struct format_input *input = table->input;
    size_t count = 0;
    bool ok = lines_open(&lines, input->source, input->budget, err);
    while (ok && lines_next(&lines, &line, err))
        ok = take_line(table, &lines, &line, err) &&
             (++count % LINES_BETWEEN != 0 ||
              progress_report(input->progress, source_consumed(input->source), err));
    lines_close(&lines);
    return ok && err->code == ERR_NONE;
}

// A single moment is no sequence.
static void settle_clock(struct sample_set *set)
{
    uint32_t most = 0;
    for (size_t i = 0; i < set->device_count; i++)
        most = set->devices[i].rows > most ? set->devices[i].rows : most;
    if (set->period_ns && most <= 1) {
        set->clock = SAMPLE_NO_CLOCK;
        set->period_ns = 0;
    }
}

bool monitor_end(struct evidence *evidence, const char *source, struct err *err)
{
    struct sample_set *set = &evidence->samples;
    evidence->source = str_of(source);
    settle_clock(set);
    samples_settle(evidence);
    for (size_t i = 0; i < set->series_count; i++)
        if (set->series[i].count)
            return true;
    return err_set(err, ERR_FORMAT, "found a table of %s without a single sample", source);
}

bool monitor_gather(const struct format_input *input, const struct monitor_dialect *dialect,
                    struct err *err)
{
    struct monitor_table *table = budget_zalloc(input->budget, sizeof *table, err);
    if (!table)
        return false;
    table->input = input;
    table->dialect = dialect;
    bool ok = take_lines(table, err);
    budget_free(input->budget, table, sizeof *table);
    return ok && monitor_end(input->evidence, dialect->source, err);
}

bool monitor_any_line(struct str head, size_t most, bool (*is)(struct str line))
{
    struct str rest = without_mark(head, 0);
    for (size_t count = 0; rest.len && count < most;) {
        const char *end = memchr(rest.at, '\n', rest.len);
        size_t len = end ? (size_t)(end - rest.at) : rest.len;
        struct str line = log_trim((struct str){rest.at, len});
        if (line.len && is(line))
            return true;
        count += line.len > 0;
        rest = log_from(rest, len + 1);
    }
    return false;
}
