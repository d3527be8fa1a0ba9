// SPDX-License-Identifier: Apache-2.0
// Messages of a job: 8-byte numbers and strings with their length, each message a fixed sequence of
// them. Both sides are the same program, so there are no versions.
#include "server/jobs/job_wire.h"

#include <string.h>

#define REPLY_MAGIC UINT64_C(0x796c706572736a53)

// --- numbers and texts --------------------------------------------------------------------------

static void put_number(struct buf *out, uint64_t value)
{
    buf_add(out, &value, sizeof value);
}

static void put_text(struct buf *out, struct str text)
{
    put_number(out, text.len);
    buf_add_str(out, text);
}

static void put_f64(struct buf *out, double value)
{
    buf_add(out, &value, sizeof value);
}

// The unread rest of a message. After a failure it stays failed and yields zeros.
struct cursor {
    struct str left;
    bool failed;
};

static struct str take_bytes(struct cursor *in, uint64_t len)
{
    if (in->failed || len > in->left.len) {
        in->failed = true;
        return (struct str){"", 0};
    }
    struct str taken = {in->left.at, len};
    in->left.at += len;
    in->left.len -= len;
    return taken;
}

static uint64_t take_number(struct cursor *in)
{
    uint64_t value = 0;
    struct str bytes = take_bytes(in, sizeof value);
    memcpy(&value, bytes.at, bytes.len);
    return value;
}

// A number within the range, else the message is invalid.
static int64_t take_within(struct cursor *in, int64_t least, int64_t most)
{
    int64_t value = (int64_t)take_number(in);
    if (value >= least && value <= most)
        return value;
    in->failed = true;
    return least;
}

static bool take_bool(struct cursor *in)
{
    return take_within(in, 0, 1);
}

static double take_f64(struct cursor *in)
{
    double value = 0;
    struct str bytes = take_bytes(in, sizeof value);
    memcpy(&value, bytes.at, bytes.len);
    return value;
}

static struct str take_text(struct cursor *in)
{
    return take_bytes(in, take_number(in));
}

// --- orders -------------------------------------------------------------------------------------

static void put_peak(struct buf *out, const struct peak *peak)
{
    put_text(out, peak->device);
    put_number(out, (uint64_t)peak->memory_gib);
    for (int i = 0; i < PRECISION_COUNT; i++)
        put_f64(out, peak->tflops[i]);
    put_f64(out, peak->tbps);
}

void job_wire_put_order(const struct job_order *order, struct buf *out)
{
    const struct analysis_options *options = &order->options;
    put_number(out, (uint64_t)order->service_pid);
    put_number(out, order->memory_bytes);
    put_number(out, order->address_bytes);
    put_number(out, order->cpu_seconds);
    put_number(out, order->file_bytes);
    put_number(out, order->tables_bytes);
    put_number(out, order->has_input);
    put_number(out, order->has_kept);
    put_number(out, order->has_keep);
    put_number(out, order->joins);
    put_number(out, order->unpacks);
    put_number(out, order->gathers);
    put_text(out, order->filename);
    put_number(out, (uint64_t)order->process);
    put_number(out, order->unpack_bytes);
    put_text(out, options->step_pattern ? str_of(options->step_pattern) : STR(""));
    put_number(out, (uint64_t)(int64_t)options->warmup_steps);
    put_number(out, (uint64_t)options->tokens_per_step);
    put_number(out, options->peaks ? options->peaks->count : 0);
    for (size_t i = 0; options->peaks && i < options->peaks->count; i++)
        put_peak(out, &options->peaks->rows[i]);
}

static struct peak take_peak(struct cursor *in)
{
    struct peak peak = {.device = take_text(in), .memory_gib = (int64_t)take_number(in)};
    for (int i = 0; i < PRECISION_COUNT; i++)
        peak.tflops[i] = take_f64(in);
    peak.tbps = take_f64(in);
    return peak;
}

static bool take_peaks(struct cursor *in, struct arena *arena, struct job_order *order,
                       struct err *err)
{
    size_t count = (size_t)take_within(in, 0, (int64_t)(in->left.len / sizeof(uint64_t)));
    struct peak *rows = arena_array(arena, count + 1, sizeof *rows, err);
    for (size_t i = 0; rows && i < count; i++)
        rows[i] = take_peak(in);
    order->peaks = (struct peaks){rows, count};
    order->options.peaks = count ? &order->peaks : NULL;
    return rows;
}

bool job_wire_take_order(struct str bytes, struct arena *arena, struct job_order *order,
                         struct err *err)
{
    struct cursor in = {.left = bytes};
    *order = (struct job_order){
        .service_pid = (int64_t)take_number(&in),
        .memory_bytes = take_number(&in),
        .address_bytes = take_number(&in),
        .cpu_seconds = take_number(&in),
        .file_bytes = take_number(&in),
        .tables_bytes = take_number(&in),
        .has_input = take_bool(&in),
        .has_kept = take_bool(&in),
        .has_keep = take_bool(&in),
        .joins = take_bool(&in),
        .unpacks = take_bool(&in),
        .gathers = take_bool(&in),
        .filename = take_text(&in),
        .process = (int64_t)take_number(&in),
        .unpack_bytes = take_number(&in),
    };
    struct str pattern = take_text(&in);
    order->options.step_pattern = pattern.len ? arena_strdup(arena, pattern, err) : NULL;
    order->options.warmup_steps = (int)take_within(&in, INT32_MIN, INT32_MAX);
    order->options.tokens_per_step = (int64_t)take_number(&in);
    if ((pattern.len && !order->options.step_pattern) || !take_peaks(&in, arena, order, err))
        return false;
    return (!in.failed && in.left.len == 0) ||
           err_set(err, ERR_FORMAT, "found no order of a job, expected one from the service");
}

// --- replies ------------------------------------------------------------------------------------

void job_wire_put_reply(const struct job_reply *reply, struct buf *out)
{
    const struct pipeline_result *found = &reply->found;
    put_number(out, REPLY_MAGIC);
    put_number(out, reply->walls);
    put_number(out, reply->ok);
    if (!reply->ok) {
        put_number(out, reply->err.code);
        put_number(out, reply->err.pos);
        put_text(out, str_of(reply->err.msg));
        return;
    }
    put_number(out, (uint64_t)found->identity.rank);
    put_number(out, (uint64_t)found->identity.world_size);
    put_number(out, (uint64_t)found->events);
    put_number(out, (uint64_t)found->text_bytes);
    put_number(out, (uint64_t)found->parse_ns);
    put_number(out, (uint64_t)found->analyze_ns);
    put_number(out, found->peak_bytes);
    put_number(out, found->kept);
}

// Makes a message one line of valid UTF-8.
static void clean(char *text)
{
    struct str left = str_of(text);
    while (left.len) {
        size_t bad = 1, len = str_utf8_next(left, &bad);
        char *at = text + (left.at - text);
        for (size_t i = 0; len == 0 && i < bad; i++)
            at[i] = '?';
        if (len == 1 && ((unsigned char)*at < 0x20 || *at == 0x7f))
            *at = ' ';
        left.at += len ? len : bad;
        left.len -= len ? len : bad;
    }
}

static void take_failure(struct cursor *in, struct err *failure)
{
    failure->code = (enum err_code)take_within(in, ERR_NONE + 1, ERR_INTERNAL);
    // Only the service may decide to retry forever or to stop.
    in->failed |= failure->code == ERR_BUSY || failure->code == ERR_CANCELLED;
    failure->pos = take_number(in);
    struct str text = take_text(in);
    if (text.len >= sizeof failure->msg || memchr(text.at, '\0', text.len))
        in->failed = true;
    else
        memcpy(failure->msg, text.at, text.len);
    clean(failure->msg);
}

static void take_found(struct cursor *in, struct pipeline_result *found)
{
    found->identity.gpu = STR("");
    found->identity.rank = take_within(in, -1, INT64_MAX);
    found->identity.world_size = take_within(in, -1, INT64_MAX);
    found->events = take_within(in, 0, UINT32_MAX);
    found->text_bytes = take_within(in, 0, INT64_MAX);
    found->parse_ns = take_within(in, 0, INT64_MAX);
    found->analyze_ns = take_within(in, 0, INT64_MAX);
    found->peak_bytes = take_number(in);
    found->kept = take_bool(in);
}

bool job_wire_take_reply(struct str bytes, struct job_reply *reply, struct err *err)
{
    struct cursor in = {.left = bytes};
    *reply = (struct job_reply){.err = {.pos = ERR_NO_POS}};
    in.failed |= take_number(&in) != REPLY_MAGIC;
    reply->walls = (unsigned)take_within(&in, 0, UINT32_MAX);
    reply->ok = take_bool(&in);
    if (reply->ok)
        take_found(&in, &reply->found);
    else
        take_failure(&in, &reply->err);
    return (!in.failed && in.left.len == 0) ||
           err_set(err, ERR_FORMAT, "its answer is cut or damaged");
}
