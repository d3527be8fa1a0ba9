// SPDX-License-Identifier: Apache-2.0
#include "ingest/paraver/prv_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_TYPES = 256, MOST_VALUES = 1 << 20, MOST_ROWS = 1 << 16 };

void prv_rows_free(struct prv_rows *rows)
{
    budget_free(rows->budget, rows->types, rows->type_cap * sizeof *rows->types);
    budget_free(rows->budget, rows->values, rows->value_cap * sizeof *rows->values);
    budget_free(rows->budget, rows->rows, rows->row_cap * sizeof *rows->rows);
    budget_free(rows->budget, rows->first, rows->first_cap * sizeof *rows->first);
}

// --- text ---------------------------------------------------------------------------------------

static bool starts_with_digit(struct str text)
{
    return text.len && str_is_digit(text.at[0]);
}

// --- event types --------------------------------------------------------------------------------

static bool has_word(struct str text, const char *word)
{
    struct str wanted = str_of(word);
    for (size_t at = 0; at + wanted.len <= text.len; at++)
        if (str_equal_nocase((struct str){text.at + at, wanted.len}, wanted))
            return true;
    return false;
}

// Numbers differ between Extrae and nsys2prv, so labels decide; nsys2prv calls copies "CUDA memcpy
// kernel". Beside a kernel's name Extrae writes the line of its source. It records copies on a
// device as calls (to 4.1), then as transfers.
static bool work_of(struct str label, enum prv_what *what)
{
    static const struct {
        const char *word;
        enum prv_what what;
    } words[] = {{"memcpy", PRV_COPY},          {"memory copy", PRV_COPY},
                 {"memory transfer", PRV_COPY}, {"kernel", PRV_KERNEL},
                 {"memset", PRV_SET},           {"graph", PRV_GRAPH},
                 {"library call", PRV_CALL}};
    if (has_word(label, "source code"))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(label, words[i].word)) {
            *what = words[i].what;
            return true;
        }
    return false;
}

// By the labels of nsys2prv.
static bool detail_of(struct str label, enum prv_what *what)
{
    static const struct {
        const char *label;
        enum prv_what what;
    } details[] = {{"Kernel GrdX", PRV_GRID},
                   {"Kernel GrdY", PRV_GRID + 1},
                   {"Kernel GrdZ", PRV_GRID + 2},
                   {"Kernel BlkX", PRV_BLOCK},
                   {"Kernel BlkY", PRV_BLOCK + 1},
                   {"Kernel BlkZ", PRV_BLOCK + 2},
                   {"Kernel Registers/Thread", PRV_REGISTERS},
                   {"Memcopy size", PRV_BYTES},
                   {"Correlation ID", PRV_CORRELATION}};
    for (size_t i = 0; i < sizeof details / sizeof *details; i++)
        if (str_equal(label, str_of(details[i].label))) {
            *what = details[i].what;
            return true;
        }
    return false;
}

// "0    63000006    CUDA kernel"
static bool take_type(struct prv_rows *rows, struct str line, struct err *err)
{
    int64_t gradient, type;
    enum prv_what what;
    if (!str_take_i64(&line, &gradient))
        return true;
    line = str_trim(line, PRV_BLANKS);
    if (!str_take_i64(&line, &type) || rows->type_count == MOST_TYPES)
        return true;
    struct str label = str_trim(line, PRV_BLANKS);
    if (!detail_of(label, &what) && !work_of(label, &what))
        return true;
    struct prv_type *types = budget_room(rows->budget, rows->types, &rows->type_cap,
                                         rows->type_count + 1, sizeof *types, err);
    if (!types)
        return false;
    rows->types = types;
    types[rows->type_count++] = (struct prv_type){type, what, rows->group};
    return true;
}

// "[CUDA memset]" of Nsight Systems; nsys2prv takes the brackets off.
static bool name_value(struct prv_rows *rows, struct str text, str_id *name, struct err *err)
{
    char whole[64];
    bool bare = str_starts_with(text, STR("CUDA mem")) && text.len < sizeof whole - 2;
    snprintf(whole, sizeof whole, "[%.*s]", bare ? (int)text.len : 0, text.at);
    return trace_builder_text(rows->builder, bare ? str_of(whole) : text, ERR_NO_POS, name, err);
}

// "17    ampere_sgemm_128x64_tn"
static bool take_value(struct prv_rows *rows, struct str line, struct err *err)
{
    struct prv_value value = {.group = rows->group};
    bool wanted = rows->type_count && rows->types[rows->type_count - 1].group == rows->group;
    if (!wanted || !str_take_i64(&line, &value.value) || value.value == 0 ||
        rows->value_count == MOST_VALUES)
        return true;
    struct prv_value *values = budget_room(rows->budget, rows->values, &rows->value_cap,
                                           rows->value_count + 1, sizeof *values, err);
    if (!values)
        return false;
    rows->values = values;
    if (!name_value(rows, str_trim(line, PRV_BLANKS), &value.name, err))
        return false;
    values[rows->value_count++] = value;
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

// "CUDA-D1.S7", perhaps with the host after it.
static bool stream_of(struct str label, struct prv_row *row)
{
    static const char *const starts[] = {"CUDA-D", "HIP-D", "GPU-D"};
    struct str rest = STR("");
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (str_starts_with(label, str_of(starts[i])))
            rest = (struct str){label.at + strlen(starts[i]), label.len - strlen(starts[i])};
    if (!str_take_i64(&rest, &row->device) || !str_starts_with(rest, STR(".S")))
        return false;
    rest = (struct str){rest.at + 2, rest.len - 2};
    return str_take_i64(&rest, &row->stream);
}

static bool take_label(struct prv_rows *rows, struct str label, struct err *err)
{
    struct prv_row row = {.row = rows->labels++, .described = PRV_WORKS};
    row.of_device = stream_of(str_trim(label, PRV_BLANKS), &row);
    if (rows->row_count == MOST_ROWS)
        return true;
    struct prv_row *all = budget_room(rows->budget, rows->rows, &rows->row_cap, rows->row_count + 1,
                                      sizeof *all, err);
    if (!all)
        return false;
    for (size_t i = 0; i < PRV_WORKS; i++)
        row.works[i].start_ns = VALUE_ABSENT;
    rows->rows = all;
    all[rows->row_count++] = row;
    return true;
}

bool prv_rows_name(struct prv_rows *rows, struct str line, struct err *err)
{
    struct str text = str_trim(line, PRV_BLANKS);
    if (str_starts_with(text, STR("LEVEL "))) {
        rows->in_types = rows->in_values = false;
        rows->in_threads = str_starts_with(text, STR("LEVEL THREAD"));
        return true;
    }
    if (text.len == 0) {
        rows->in_types = rows->in_values = rows->in_threads = false;
        return true;
    }
    if (rows->in_threads)
        return take_label(rows, text, err);
    if (str_equal(text, STR("EVENT_TYPE"))) {
        rows->in_types = true;
        rows->in_values = false;
        rows->group++;
    } else if (str_equal(text, STR("VALUES"))) {
        rows->in_values = rows->in_types;
    } else if (rows->in_values) {
        return !starts_with_digit(text) || take_value(rows, text, err);
    } else if (rows->in_types) {
        return !starts_with_digit(text) || take_type(rows, text, err);
    }
    return true;
}

// --- layout -------------------------------------------------------------------------------------

static int by_group_and_value(const void *left, const void *right)
{
    const struct prv_value *a = left, *b = right;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static bool add_task(struct prv_rows *rows, int64_t row, struct err *err)
{
    int64_t *first = budget_room(rows->budget, rows->first, &rows->first_cap, rows->first_count + 1,
                                 sizeof *first, err);
    if (!first)
        return false;
    rows->first = first;
    first[rows->first_count++] = row;
    return true;
}

// "[task 3] 1": each task counts its devices from 1, so the number alone is of no one device.
static bool name_device(struct prv_rows *rows, struct prv_row *row, struct err *err)
{
    char text[64];
    snprintf(text, sizeof text, "[task %" PRId64 "] %" PRId64, row->task, row->device);
    return trace_builder_text(rows->builder, str_of(text), ERR_NO_POS, &row->of_task, err);
}

// Gives the rows to their tasks.
static bool settle_rows(struct prv_rows *rows, struct err *err)
{
    int64_t first = 0; // task with devices; 0: none
    bool several = false;
    size_t task = 0;
    for (size_t i = 0; i < rows->row_count; i++) { // both are in the order of rows
        while (task < rows->first_count && rows->first[task] <= rows->rows[i].row)
            task++;
        rows->rows[i].task = (int64_t)task;
        first = !first && rows->rows[i].of_device ? rows->rows[i].task : first;
        several |= rows->rows[i].of_device && rows->rows[i].task != first;
    }
    for (size_t i = 0; several && i < rows->row_count; i++)
        if (rows->rows[i].of_device && !name_device(rows, &rows->rows[i], err))
            return false;
    return true;
}

// The first row of each task.
static bool read_tasks(struct prv_rows *rows, struct str rest, struct err *err)
{
    int64_t tasks, threads, node, row = 0;
    if (!str_take_i64(&rest, &tasks))
        return true;
    if (str_starts_with(rest, STR(":("))) // as nsys2prv writes it
        rest = (struct str){rest.at + 1, rest.len - 1};
    if (!str_starts_with(rest, STR("(")))
        return true;
    do {
        rest = (struct str){rest.at + 1, rest.len - 1};
        if (!str_take_i64(&rest, &threads) || threads > MOST_ROWS ||
            rows->first_count == MOST_ROWS || !str_starts_with(rest, STR(":")))
            return true;
        rest = (struct str){rest.at + 1, rest.len - 1};
        if (!str_take_i64(&rest, &node))
            return true;
        if (!add_task(rows, row, err))
            return false;
        row += threads;
    } while (str_starts_with(rest, STR(",")));
    return true;
}

bool prv_rows_layout(struct prv_rows *rows, struct str applications, struct err *err)
{
    if (rows->value_count)
        qsort(rows->values, rows->value_count, sizeof *rows->values, by_group_and_value);
    return read_tasks(rows, applications, err) && settle_rows(rows, err);
}

struct prv_row *prv_rows_find(const struct prv_rows *rows, int64_t application, int64_t task,
                              int64_t thread)
{
    if (application != 1 || task < 1 || thread < 1 || thread > MOST_ROWS ||
        (uint64_t)task > rows->first_count)
        return NULL;
    int64_t wanted = rows->first[task - 1] + thread - 1;
    if ((uint64_t)task < rows->first_count && wanted >= rows->first[task])
        return NULL;                       // the next task's
    size_t from = 0, to = rows->row_count; // they are in the order of their rows
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (rows->rows[middle].row < wanted)
            from = middle + 1;
        else
            to = middle;
    }
    return from < rows->row_count && rows->rows[from].row == wanted ? &rows->rows[from] : NULL;
}

// --- events -------------------------------------------------------------------------------------

static const struct prv_type *type_of(const struct prv_rows *rows, int64_t type)
{
    for (size_t i = 0; i < rows->type_count; i++)
        if (rows->types[i].type == type)
            return &rows->types[i];
    return NULL;
}

static str_id name_of(const struct prv_rows *rows, uint32_t group, int64_t value)
{
    struct prv_value wanted = {.value = value, .group = group};
    const struct prv_value *found =
        rows->value_count
            ? bsearch(&wanted, rows->values, rows->value_count, sizeof wanted, by_group_and_value)
            : NULL;
    return found ? found->name : 0;
}

// Of one type are kernels and copies in the first versions of nsys2prv, copies and memsets in all.
static enum event_kind kind_of(const struct prv_rows *rows, enum prv_what what, str_id name)
{
    static const enum event_kind kinds[PRV_WORKS] = {EVENT_KERNEL, EVENT_MEMCPY, EVENT_MEMSET,
                                                     EVENT_GRAPH, EVENT_RUNTIME};
    struct str text = strtab_get(trace_builder_strings(rows->builder), name);
    if (str_starts_with(text, STR("[CUDA memcpy")))
        return EVENT_MEMCPY;
    return str_starts_with(text, STR("[CUDA memset")) ? EVENT_MEMSET : kinds[what];
}

// A process counts its correlations by itself.
static int64_t correlation_of(const struct prv_row *row, const struct prv_work *work)
{
    bool short_one = work->correlation >= 0 && work->correlation <= UINT32_MAX;
    return short_one && row->task > 1 ? work->correlation | row->task << 32 : work->correlation;
}

// Calls are of process = task and thread = thread, as states are.
static void place(const struct prv_rows *rows, const struct prv_row *row,
                  struct event_record *record)
{
    record->pid = (struct label){row->of_task ? 0 : row->device, row->of_task};
    record->tid.number = row->stream;
    if (row->of_device || row->task == 0)
        return;
    record->pid.number = row->task;
    record->tid.number = row->row - rows->first[row->task - 1] + 1;
}

static bool end_work(struct prv_rows *rows, struct prv_row *row, enum prv_what what, int64_t end_ns,
                     struct err *err)
{
    struct prv_work *work = &row->works[what];
    struct event_record record = event_record_of(kind_of(rows, what, work->name));
    int64_t start_ns = work->start_ns;
    work->start_ns = VALUE_ABSENT;
    place(rows, row, &record);
    record.name = work->name;
    record.correlation = correlation_of(row, work);
    record.shape = work->shape;
    return start_ns == VALUE_ABSENT ||
           !event_record_times(rows->builder, &record, start_ns, end_ns, ERR_NO_POS) ||
           trace_builder_add(rows->builder, &record, err);
}

// Ends what an event type started.
static bool end_type(struct prv_rows *rows, struct prv_row *row, int64_t type, int64_t time_ns,
                     struct err *err)
{
    for (enum prv_what what = 0; what < PRV_WORKS; what++) {
        if (row->works[what].type != type)
            continue;
        row->described = row->described == what ? PRV_WORKS : row->described;
        if (!end_work(rows, row, what, time_ns, err))
            return false;
    }
    return true;
}

// A thread of the host makes calls. Of calls on a device's row only copies are its work: kernels
// have a type for that.
static bool is_work(const struct prv_rows *rows, const struct prv_row *row, str_id name,
                    enum prv_what *what)
{
    if (!row->of_device || *what != PRV_CALL)
        return row->of_device || *what == PRV_CALL;
    struct str call = strtab_get(trace_builder_strings(rows->builder), name);
    *what = has_word(call, "memset") ? PRV_SET : PRV_COPY;
    return *what == PRV_SET || has_word(call, "memcpy");
}

// On the line that starts work, after its name.
static void describe(struct prv_row *row, enum prv_what what, int64_t value)
{
    if (row->described == PRV_WORKS || value <= 0)
        return;
    struct launch_shape *shape = &row->works[row->described].shape;
    if (what == PRV_CORRELATION)
        row->works[row->described].correlation = value;
    else if (what == PRV_BYTES)
        shape->bytes = value;
    else if (value <= INT32_MAX && what == PRV_REGISTERS)
        shape->registers = (int32_t)value;
    else if (value <= INT32_MAX && what >= PRV_BLOCK)
        shape->block[what - PRV_BLOCK] = (int32_t)value;
    else if (value <= INT32_MAX)
        shape->grid[what - PRV_GRID] = (int32_t)value;
}

// Values without a name are numbers that are not read, not work.
bool prv_rows_event(struct prv_rows *rows, struct prv_row *row, int64_t time_ns,
                    const int64_t pair[2], struct err *err)
{
    const struct prv_type *type = type_of(rows, pair[0]);
    if (!type)
        return true;
    enum prv_what what = type->what;
    if (what >= PRV_GRID) {
        describe(row, what, pair[1]);
        return true;
    }
    if (pair[1] == 0)
        return end_type(rows, row, type->type, time_ns, err);
    str_id name = name_of(rows, type->group, pair[1]);
    if (!name || !is_work(rows, row, name, &what))
        return true;
    if (!end_work(rows, row, what, time_ns, err))
        return false;
    row->works[what] = (struct prv_work){time_ns, type->type, name, VALUE_ABSENT,
                                         event_record_of(EVENT_KERNEL).shape};
    row->described = what;
    return true;
}
