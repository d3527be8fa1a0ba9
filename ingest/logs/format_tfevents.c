// SPDX-License-Identifier: Apache-2.0
// Event files of TensorBoard: records with masked CRC32C of their length and data, each a protocol
// buffer (tensorboard/compat/proto/event.proto). A file that is still being written ends within a
// record.
#include "ingest/logs/log_text.h"
#include "ingest/logs/metric_tags.h"
#include "ingest/source/evidence_count.h"
#include "ingest/source/source.h"
#include "ingest/base/fuzzed.h"

#include <math.h>

enum {
    HEAD_BYTES = 12, // u64 length, u32 checksum
    TAIL_BYTES = 4,
    MOST_RECORD = 1 << 20, // of larger ones, which hold images, only the checksum is looked at
    BLOCK_BYTES = FUZZED_SIZE(1 << 16, 1 << 10),
    RECORDS_BETWEEN = 1024,
};

struct tfevents {
    const struct format_input *input;
    struct evidence *evidence;
    uint32_t table[256]; // of CRC32C
    uint64_t pos;        // of what was read
    char *bytes;         // MOST_RECORD
};

// --- checksums ----------------------------------------------------------------------------------

static void make_table(uint32_t table[256])
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t sum = byte;
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 1 ? sum >> 1 ^ UINT32_C(0x82F63B78) : sum >> 1;
        table[byte] = sum;
    }
}

static uint32_t add_to_sum(const struct tfevents *file, uint32_t sum, const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        sum = file->table[(sum ^ (unsigned char)at[i]) & 0xFF] ^ sum >> 8;
    return sum;
}

static uint32_t masked(uint32_t sum)
{
    sum = ~sum;
    return (sum >> 15 | sum << 17) + UINT32_C(0xA282EAD8);
}

static uint32_t u32_at(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

static uint64_t u64_at(const char *at)
{
    return u32_at(at) | (uint64_t)u32_at(at + 4) << 32;
}

static double double_at(const char *at)
{
    uint64_t bits = u64_at(at);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static double float_at(const char *at)
{
    uint32_t bits = u32_at(at);
    float number;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
}

// --- protocol buffers ---------------------------------------------------------------------------

enum wire { WIRE_NUMBER = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2, WIRE_4_BYTES = 5 };

struct field {
    uint64_t number;
    enum wire wire;
    uint64_t value;   // of WIRE_NUMBER
    struct str bytes; // of the others
};

static bool take_varint(struct str *rest, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && rest->len; shift += 7) {
        unsigned char byte = (unsigned char)*rest->at;
        *rest = log_from(*rest, 1);
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool next_field(struct str *rest, struct field *field)
{
    uint64_t key, len = 0;
    if (!take_varint(rest, &key))
        return false;
    field->number = key >> 3;
    field->wire = (enum wire)(key & 7);
    switch (field->wire) {
    case WIRE_NUMBER: return take_varint(rest, &field->value);
    case WIRE_8_BYTES: len = 8; break;
    case WIRE_4_BYTES: len = 4; break;
    case WIRE_BYTES:
        if (!take_varint(rest, &len))
            return false;
        break;
    default: return false;
    }
    if (len > rest->len)
        return false;
    field->bytes = (struct str){rest->at, (size_t)len};
    *rest = log_from(*rest, (size_t)len);
    return true;
}

// A tensor of floats or doubles: the first of them. 1 dtype, 4 tensor_content, 5 float_val, 6
// double_val; the latter may be packed.
static double number_of_tensor(struct str tensor)
{
    enum { DT_FLOAT = 1, DT_DOUBLE = 2 };
    struct field field;
    uint64_t type = 0;
    double number = NAN;
    while (next_field(&tensor, &field)) {
        size_t len = field.wire == WIRE_NUMBER ? 0 : field.bytes.len;
        if (field.number == 1 && field.wire == WIRE_NUMBER)
            type = field.value;
        bool content = field.number == 4 || (field.number == 5 && type == DT_FLOAT) ||
                       (field.number == 6 && type == DT_DOUBLE);
        if (!content || !isnan(number))
            continue;
        if (type == DT_FLOAT && len >= 4)
            number = float_at(field.bytes.at);
        else if (type == DT_DOUBLE && len >= 8)
            number = double_at(field.bytes.at);
    }
    return number;
}

// 1 tag, 2 simple_value, 4 image, 5 histogram, 8 tensor
static struct metric_value value_of(struct str message)
{
    struct field field;
    struct metric_value value = {.name = STR(""), .kind = "other", .number = NAN};
    while (next_field(&message, &field)) {
        if (field.number == 1 && field.wire == WIRE_BYTES)
            value.name = field.bytes;
        if (field.number == 2 && field.wire == WIRE_4_BYTES) {
            value.kind = "simple_value";
            value.number = float_at(field.bytes.at);
        }
        if (field.wire != WIRE_BYTES)
            continue;
        if (field.number == 4)
            value.kind = "image";
        if (field.number == 5)
            value.kind = "histo";
        if (field.number == 8) {
            value.kind = "tensor";
            value.number = number_of_tensor(field.bytes);
        }
    }
    return value;
}

// --- events -------------------------------------------------------------------------------------

struct event {
    double wall_time; // seconds since 1970
    int64_t step;
    uint64_t pos;
};

static bool take_value(struct tfevents *file, const struct event *event, struct str message,
                       struct err *err)
{
    struct metric_value value = value_of(message);
    bool timed = fabs(event->wall_time) < 9e9;
    struct metric_scalar scalar = {.name = value.name,
                                   .number = value.number,
                                   .step = event->step,
                                   .time_ns = timed ? (int64_t)llround(event->wall_time * 1e9)
                                                    : LOG_NO_TIME,
                                   .rank = -1,
                                   .pos = event->pos};
    bool scalar_kind = strcmp(value.kind, "simple_value") == 0 || strcmp(value.kind, "tensor") == 0;
    value.step = event->step;
    return metric_book_add(file->evidence, &value, err) &&
           (!scalar_kind || isnan(value.number) ||
            metric_take(file->evidence, &scalar, "tensorboard", err));
}

static bool take_summary(struct tfevents *file, const struct event *event, struct str summary,
                         struct err *err)
{
    struct field field;
    while (next_field(&summary, &field))
        if (field.number == 1 && field.wire == WIRE_BYTES &&
            !take_value(file, event, field.bytes, err))
            return false;
    return true;
}

// 1 wall_time, 2 step, 5 summary; the step may come after the summary.
static bool take_event(struct tfevents *file, struct str message, struct err *err)
{
    struct field field;
    struct event event = {.wall_time = NAN, .pos = file->pos};
    for (struct str rest = message; next_field(&rest, &field);) {
        if (field.number == 1 && field.wire == WIRE_8_BYTES)
            event.wall_time = double_at(field.bytes.at);
        if (field.number == 2 && field.wire == WIRE_NUMBER)
            event.step = (int64_t)field.value;
    }
    for (struct str rest = message; next_field(&rest, &field);)
        if (field.number == 5 && field.wire == WIRE_BYTES &&
            !take_summary(file, &event, field.bytes, err))
            return false;
    return true;
}

// --- records ------------------------------------------------------------------------------------

// Fewer bytes than asked for are the end. False on failure; damage ends the file.
static bool read_bytes(struct tfevents *file, char *at, size_t len, size_t *got, struct err *err)
{
    struct err damage = {0};
    if (source_fill(file->input->source, at, len, got, &damage))
        return true;
    *err = damage;
    return damage.code == ERR_FORMAT;
}

// The data of a record, of which a small one is kept in file->bytes, and its checksum.
static bool read_data(struct tfevents *file, uint64_t len, uint32_t *sum, bool *whole,
                      struct err *err)
{
    *sum = UINT32_MAX;
    *whole = false;
    for (uint64_t done = 0; done < len;) {
        bool fits = len <= MOST_RECORD;
        size_t want = fits ? (size_t)len : BLOCK_BYTES, got = 0;
        want = len - done < want ? (size_t)(len - done) : want;
        if (!read_bytes(file, file->bytes, want, &got, err))
            return false;
        *sum = add_to_sum(file, *sum, file->bytes, got);
        done += got;
        if (got < want)
            return true;
    }
    *whole = true;
    return true;
}

// *more: whether another record may follow.
static bool take_record(struct tfevents *file, bool *more, struct err *err)
{
    char head[HEAD_BYTES], tail[TAIL_BYTES];
    size_t got = 0;
    uint32_t sum;
    bool whole;
    *more = false;
    if (!read_bytes(file, head, sizeof head, &got, err))
        return false;
    static const char hole[HEAD_BYTES];
    if (got < sizeof head)
        return true;
    if (memcmp(head, hole, sizeof hole) == 0) { // left behind by a machine that went down
        file->evidence->metrics.damaged++;
        return true;
    }
    uint64_t len = u64_at(head);
    bool good = masked(add_to_sum(file, UINT32_MAX, head, 8)) == u32_at(head + 8);
    if (!good && len > MOST_RECORD) { // nothing says where the next record is
        file->evidence->metrics.damaged++;
        return true;
    }
    if (!read_data(file, len, &sum, &whole, err))
        return false;
    if (!whole || !read_bytes(file, tail, sizeof tail, &got, err) || got < sizeof tail)
        return err->code == ERR_NONE || err->code == ERR_FORMAT;
    bool sound = masked(sum) == u32_at(tail);
    file->evidence->metrics.records++;
    file->evidence->metrics.damaged += !good + !sound;
    *more = true;
    struct str data = {file->bytes, (size_t)len};
    bool ok = !sound || len > MOST_RECORD || take_event(file, data, err);
    file->pos += HEAD_BYTES + len + TAIL_BYTES;
    return ok;
}

static bool take_records(struct tfevents *file, struct err *err)
{
    const struct format_input *input = file->input;
    size_t count = 0;
    for (bool more = true; more;)
        if (!take_record(file, &more, err) ||
            (++count % RECORDS_BETWEEN == 0 &&
             !progress_report(input->progress, source_consumed(input->source), err)))
            return false;
    return true;
}

static bool gather_tfevents(const struct format_input *input, struct err *err)
{
    struct tfevents file = {.input = input, .evidence = input->evidence};
    *err = (struct err){0};
    file.bytes = budget_alloc(input->budget, MOST_RECORD, err);
    if (!file.bytes)
        return false;
    make_table(file.table);
    input->evidence->source = STR("tensorboard");
    input->evidence->log.utc = true;
    bool ok = take_records(&file, err);
    budget_free(input->budget, file.bytes, MOST_RECORD);
    return ok && (input->evidence->metrics.records ||
                  err_set(err, ERR_FORMAT, "found an event file of TensorBoard without an event"));
}

static void report_tfevents(const struct evidence *evidence, struct figures *figures)
{
    const struct metric_book *metrics = &evidence->metrics;
    figures_add(figures, metrics->records, "records");
    figures_add(figures, metrics->damaged, "bad_crc");
    figures_add(figures, (int64_t)evidence->log.step_count, "steps");
    figures_add(figures, 0, "tags" IN);
    for (size_t i = 0; i < metrics->series_count; i++) {
        const struct metric_series *series = &metrics->series[i];
        int len = (int)series->name.len;
        const char *name = series->name.at;
        figures_add(figures, series->count, "tags" IN "%.*s" IN "n", len, name);
        figures_text(figures, str_of(series->kind), "tags" IN "%.*s" IN "kind", len, name);
        figures_add(figures, series->first_step, "tags" IN "%.*s" IN "first_step", len, name);
        figures_add(figures, series->last_step, "tags" IN "%.*s" IN "last_step", len, name);
        if (isfinite(series->last))
            figures_real(figures, series->last, "tags" IN "%.*s" IN "last", len, name);
    }
}

static bool count_tfevents(const struct format_input *input, struct err *err)
{
    static const struct evidence_count how = {gather_tfevents, report_tfevents};
    return evidence_count(&how, input, err);
}

// The first event is short and says the version.
static bool starts_with_version(struct str head)
{
    enum { FAR = 40, SHORT = 4096 };
    if (head.len <= HEAD_BYTES || u64_at(head.at) > SHORT)
        return false;
    struct str first = {head.at + HEAD_BYTES, (head.len < FAR ? head.len : FAR) - HEAD_BYTES};
    return str_find(first, STR("brain.Event:")) != SIZE_MAX;
}

// TensorBoard adds a time and a host to the name.
static enum format_likeness probe_tfevents(const struct format_sample *sample)
{
    if (starts_with_version(sample->head))
        return FORMAT_SURE;
    return str_find(sample->filename, STR("events.out.tfevents.")) != SIZE_MAX ? FORMAT_PERHAPS
                                                                               : FORMAT_UNLIKE;
}

const struct format format_tfevents = {
    .name = "tfevents",
    .what = "an event file of TensorBoard",
    .kind = FORMAT_RECORDS,
    .probe = probe_tfevents,
    .count = count_tfevents,
    .gather = gather_tfevents,
};
