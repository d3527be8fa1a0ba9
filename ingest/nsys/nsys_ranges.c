// SPDX-License-Identifier: Apache-2.0
// NVTX ranges of the host. Those that PyTorch makes for its operators become operators.
#include "ingest/nsys/nsys_nccl.h"

#include <stdlib.h>

#define RANGE_COLUMNS "start end eventType text textId globalTid endGlobalTid domainId binaryData"
enum { START, END, TYPE, TEXT, TEXT_ID, THREAD, END_THREAD, DOMAIN, PAYLOAD };

enum {
    NVTX_PUSH_POP = 59,
    NVTX_START_END = 60,
    NVTX_EXTENDED_PUSH_POP = 70,
    NVTX_EXTENDED_START_END = 71,
    NVTX_DOMAIN = 75,
};

bool nsys_is_range(int64_t type)
{
    return type == NVTX_PUSH_POP || type == NVTX_START_END || type == NVTX_EXTENDED_PUSH_POP ||
           type == NVTX_EXTENDED_START_END;
}

bool nsys_label(const struct text_table *texts, const struct rows *rows, unsigned text,
                struct str *label)
{
    int64_t id;
    return rows_text(rows, text, label) ||
           (rows_i64(rows, text + 1, &id) && text_table_find(texts, id, label));
}

// --- operators ----------------------------------------------------------------------------------

// "aten::mm, seq = 12, op_id = 34, sizes = [[8, 4], [4, 2]]", as emit_nvtx writes it.
struct range_text {
    struct str name, sizes; // sizes: empty if not given
    int64_t sequence;       // VALUE_ABSENT if not given
    bool marked;            // PyTorch made it
};

static size_t list_len(struct str text)
{
    size_t depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        depth += text.at[i] == '[';
        if (text.at[i] == ']' && --depth == 0)
            return i + 1;
        if (!depth)
            return 0;
    }
    return 0;
}

static int64_t number_at(struct str text)
{
    int64_t number;
    size_t len = str_digits_end(text, 0);
    return str_to_i64((struct str){text.at, len}, &number) ? number : VALUE_ABSENT;
}

// What follows a mark, NULL text if it is not there; shortens the name to what is before it.
static struct str after(struct str text, struct str mark, struct range_text *found)
{
    size_t at = str_find(text, mark);
    if (at == SIZE_MAX)
        return (struct str){NULL, 0};
    found->marked = true;
    found->name.len = at < found->name.len ? at : found->name.len;
    return (struct str){text.at + at + mark.len, text.len - at - mark.len};
}

static struct range_text parse(struct str text)
{
    struct range_text found = {.name = text, .sizes = STR(""), .sequence = VALUE_ABSENT};
    struct str sequence = after(text, STR(", seq = "), &found);
    struct str sizes = after(text, STR(", sizes = "), &found);
    (void)after(text, STR(", op_id = "), &found);
    if (sequence.at)
        found.sequence = number_at(sequence);
    if (sizes.at)
        found.sizes = (struct str){sizes.at, list_len(sizes)};
    return found;
}

// PyTorch also marks record_function's ranges. Those have no sequence number, and usually names
// that are not identifiers.
static bool is_operator(const struct range_text *found)
{
    struct str name = found->name;
    if (str_starts_with(name, STR("autograd::engine::evaluate_function: ")))
        return found->marked;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || str_is_digit(c);
        if (!word && !memchr("_:.<>", c, 5))
            return false;
    }
    return found->marked && name.len &&
           (found->sequence != VALUE_ABSENT || str_find(name, STR("::")) != SIZE_MAX ||
            str_ends_with(name, STR("_")) || str_find(name, STR("Backward")) != SIZE_MAX ||
            str_equal(name, STR("record_param_comms")) || str_equal(name, STR("detach")));
}

// --- domains ------------------------------------------------------------------------------------

enum { MAX_DOMAINS = 256, MAX_DOMAIN_NAME = 64 };

struct domain {
    int64_t id;
    size_t len;
    char name[MAX_DOMAIN_NAME];
};

struct range_walk {
    struct nsys *nsys;
    int64_t capture_ns; // end of the recording, VALUE_ABSENT if unknown
    uint32_t domain_count;
    struct domain domains[MAX_DOMAINS];
};

static void note_domain(struct range_walk *walk, const struct rows *rows)
{
    struct str name;
    if (walk->domain_count == MAX_DOMAINS || !nsys_label(&walk->nsys->texts, rows, TEXT, &name))
        return;
    struct domain *domain = &walk->domains[walk->domain_count++];
    domain->id = rows_i64_or(rows, DOMAIN, 0);
    domain->len = name.len < MAX_DOMAIN_NAME ? name.len : MAX_DOMAIN_NAME;
    memcpy(domain->name, name.at, domain->len);
}

static struct str domain_of(const struct range_walk *walk, int64_t id)
{
    for (uint32_t i = 0; id && i < walk->domain_count; i++)
        if (walk->domains[i].id == id)
            return (struct str){walk->domains[i].name, walk->domains[i].len};
    return STR("");
}

// --- ranges -------------------------------------------------------------------------------------

// "domain:name", as in nsys stats.
static bool name_in_domain(const struct range_walk *walk, struct str domain, struct str text,
                           str_id *name, struct err *err)
{
    struct buf joined = {0};
    buf_add_str(&joined, domain);
    buf_putc(&joined, ':');
    buf_add_str(&joined, text);
    bool ok = buf_ok(&joined, err) &&
              trace_builder_text(walk->nsys->builder, (struct str){joined.at, joined.len},
                                 ERR_NO_POS, name, err);
    buf_free(&joined);
    return ok;
}

// Fills in the name, and what else the text says.
static bool take_text(const struct range_walk *walk, const struct rows *rows, struct str text,
                      struct event_record *record, struct err *err)
{
    struct trace_builder *builder = walk->nsys->builder;
    struct range_text found = parse(text);
    struct str domain = domain_of(walk, rows_i64_or(rows, DOMAIN, 0));
    if (is_operator(&found)) {
        record->kind = EVENT_CPU_OP;
        record->sequence = found.sequence;
        if (!trace_builder_text(builder, found.sizes, ERR_NO_POS, &record->inputs.dims, err))
            return false;
    }
    return domain.len ? name_in_domain(walk, domain, found.name, &record->name, err)
                      : trace_builder_text(builder, found.name, ERR_NO_POS, &record->name, err);
}

static bool note_nccl(const struct range_walk *walk, const struct rows *rows, struct str text,
                      const struct event_record *record, struct err *err)
{
    struct nccl_label label = {.thread = rows_i64_or(rows, THREAD, 0),
                               .start_ns = record->begin_ns,
                               .end_ns = record->begin_ns + record->dur_ns,
                               .domain = rows_i64_or(rows, DOMAIN, 0),
                               .name = text,
                               .payload = STR("")};
    (void)rows_text(rows, PAYLOAD, &label.payload);
    return !str_starts_with(text, STR("nccl")) || nccl_range(walk->nsys->nccl, &label, err);
}

// A range that ends on another thread gets its own track: it nests on neither thread.
static bool take_thread(const struct range_walk *walk, const struct rows *rows,
                        struct event_record *record, struct err *err)
{
    int64_t thread = rows_i64_or(rows, THREAD, 0);
    int64_t end_thread = rows_i64_or(rows, END_THREAD, thread);
    record->pid.number = nsys_pid(thread);
    record->tid.number = nsys_tid(thread);
    return end_thread == thread || end_thread == 0 ||
           trace_builder_text(walk->nsys->builder, STR("ranges across threads"), ERR_NO_POS,
                              &record->tid.text, err);
}

static int64_t end_of(const struct range_walk *walk, const struct rows *rows, int64_t start_ns)
{
    int64_t end_ns, last_ns = trace_builder_last_ns(walk->nsys->builder);
    if (rows_i64(rows, END, &end_ns) && (end_ns != 0 || start_ns <= 0))
        return end_ns;
    trace_builder_repair(walk->nsys->builder, REPAIR_BEGIN_WITHOUT_END, ERR_NO_POS);
    end_ns = walk->capture_ns > last_ns ? walk->capture_ns : last_ns;
    return end_ns > start_ns ? end_ns : start_ns;
}

static bool take_range(void *context, const struct rows *rows, struct err *err)
{
    struct range_walk *walk = context;
    struct event_record record = event_record_of(EVENT_ANNOTATION);
    struct nsys *nsys = walk->nsys;
    int64_t type = rows_i64_or(rows, TYPE, 0), start_ns = rows_i64_or(rows, START, VALUE_ABSENT);
    struct str text = STR("");
    int64_t thread = rows_i64_or(rows, THREAD, VALUE_ABSENT);
    bool own;
    if (type == NVTX_DOMAIN && nsys_is_own(nsys, thread))
        note_domain(walk, rows);
    if (!nsys_owns(nsys, thread, -1, &own, err))
        return false;
    if (!own || !nsys_is_range(type) ||
        !event_record_times(nsys->builder, &record, start_ns, end_of(walk, rows, start_ns),
                            ERR_NO_POS))
        return true;
    (void)nsys_label(&nsys->texts, rows, TEXT, &text);
    return take_thread(walk, rows, &record, err) && note_nccl(walk, rows, text, &record, err) &&
           take_text(walk, rows, text, &record, err) &&
           trace_builder_add(nsys->builder, &record, err);
}

bool nsys_read_ranges(struct nsys *nsys, struct err *err)
{
    struct range_walk *walk = calloc(1, sizeof *walk);
    if (!walk)
        return err_set(err, ERR_MEMORY, "out of memory");
    *walk = (struct range_walk){.nsys = nsys, .capture_ns = VALUE_ABSENT};
    bool ok = nsys_capture_ns(nsys, &walk->capture_ns, err) &&
              table_reader_each(&nsys->tables, "NVTX_EVENTS", RANGE_COLUMNS, take_range, walk, err);
    free(walk);
    return ok;
}
