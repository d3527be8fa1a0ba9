// SPDX-License-Identifier: Apache-2.0
// Layout: a header, a table of sections, then the sections. A section is one array of the trace in
// blocks of 65,536 elements; each block is a zstd frame with its own checksum, so that a few events
// can be read without the rest. Little endian, as all machines that this runs on.
#include "ingest/trace/trace_file.h"
#include "ingest/base/hash.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define MAGIC          0x31454341525453u // "STRACE1"
#define VERSION        2u
#define BLOCK_ELEMENTS ((size_t)1 << 16)
#define LEVEL          1 // fast; the columns compress well because they are columns
#define TRACK_FIELDS   8

enum section_id {
    SECTION_BEGIN,
    SECTION_DUR,
    SECTION_NAME,
    SECTION_KIND,
    SECTION_ARGS,
    SECTION_TRACKS,
    SECTION_DEVICE_ARGS,
    SECTION_LAUNCH_ARGS,
    SECTION_OP_ARGS,
    SECTION_MEMORY_ARGS,
    SECTION_SHAPES,
    SECTION_COLLECTIVES,
    SECTION_COPY_CALLS,
    SECTION_OP_INPUTS,
    SECTION_MEMBERS,
    SECTION_TEXT,
    SECTION_SPANS,
    SECTION_REPAIRS,
    SECTION_COUNT
};

static const uint32_t element_size[SECTION_COUNT] = {
    [SECTION_BEGIN] = sizeof(int64_t),
    [SECTION_DUR] = sizeof(int64_t),
    [SECTION_NAME] = sizeof(str_id),
    [SECTION_KIND] = sizeof(uint8_t),
    [SECTION_ARGS] = sizeof(uint32_t),
    [SECTION_TRACKS] = TRACK_FIELDS * sizeof(int64_t),
    [SECTION_DEVICE_ARGS] = sizeof(struct device_args),
    [SECTION_LAUNCH_ARGS] = sizeof(struct launch_args),
    [SECTION_OP_ARGS] = sizeof(struct op_args),
    [SECTION_MEMORY_ARGS] = sizeof(struct memory_args),
    [SECTION_SHAPES] = sizeof(struct launch_shape),
    [SECTION_COLLECTIVES] = sizeof(struct collective),
    [SECTION_COPY_CALLS] = sizeof(struct copy_call),
    [SECTION_OP_INPUTS] = sizeof(struct op_inputs),
    [SECTION_MEMBERS] = sizeof(struct trace_member),
    [SECTION_TEXT] = 1,
    [SECTION_SPANS] = sizeof(uint64_t),
    [SECTION_REPAIRS] = sizeof(struct repair_note),
};

struct section {
    uint64_t count;  // elements
    uint64_t offset; // of its first block in the file
};

struct header {
    uint64_t magic;
    uint32_t version, section_count;
    uint64_t input_events, text_bytes;
    struct section sections[SECTION_COUNT];
    uint64_t checksum; // of everything before it
};

static uint64_t header_checksum(const struct header *header)
{
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    return header->checksum;
#endif
    return hash_bytes((const char *)header, offsetof(struct header, checksum));
}

// ---- saving
// --------------------------------------------------------------------------------------

struct writer {
    FILE *file;
    const char *path;
    ZSTD_CCtx *zstd;
    char *raw, *packed;
    size_t packed_cap;
    uint64_t offset;
};

static bool put(struct writer *writer, const void *bytes, size_t size, struct err *err)
{
    if (fwrite(bytes, 1, size, writer->file) != size)
        return err_set_errno(err, "cannot write %s", writer->path);
    writer->offset += size;
    return true;
}

// Times in order differ little from one to the next, so differences compress far better.
static void to_differences(int64_t *values, size_t count)
{
    for (size_t i = count; i-- > 1;)
        values[i] = (int64_t)((uint64_t)values[i] - (uint64_t)values[i - 1]);
}

static void from_differences(int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        values[i] = (int64_t)((uint64_t)values[i] + (uint64_t)values[i - 1]);
}

static bool put_block(struct writer *writer, enum section_id id, const char *from, size_t count,
                      struct err *err)
{
    size_t size = count * element_size[id];
    memcpy(writer->raw, from, size);
    if (id == SECTION_BEGIN)
        to_differences((int64_t *)(void *)writer->raw, count);
    size_t packed =
        ZSTD_compress2(writer->zstd, writer->packed, writer->packed_cap, writer->raw, size);
    if (ZSTD_isError(packed))
        return err_set(err, ERR_INTERNAL, "cannot compress: %s", ZSTD_getErrorName(packed));
    uint32_t length = (uint32_t)packed;
    return put(writer, &length, sizeof length, err) && put(writer, writer->packed, packed, err);
}

static bool put_section(struct writer *writer, enum section_id id, const void *array,
                        struct section *section, struct err *err)
{
    section->offset = writer->offset;
    for (uint64_t at = 0; at < section->count; at += BLOCK_ELEMENTS) {
        size_t count =
            section->count - at < BLOCK_ELEMENTS ? (size_t)(section->count - at) : BLOCK_ELEMENTS;
        if (!put_block(writer, id, (const char *)array + at * element_size[id], count, err))
            return false;
    }
    return true;
}

static void pack_track(const struct track *track, int64_t fields[TRACK_FIELDS])
{
    const int64_t values[TRACK_FIELDS] = {track->family,     track->pid.number, track->pid.text,
                                          track->tid.number, track->tid.text,   track->name,
                                          track->first,      track->count};
    memcpy(fields, values, sizeof values);
}

static bool put_sections(struct writer *writer, const struct trace *trace, struct header *header,
                         struct err *err)
{
    int64_t *tracks = malloc((trace->track_count + 1) * sizeof *tracks * TRACK_FIELDS);
    if (!tracks)
        return err_set(err, ERR_LIMIT, "out of memory");
    for (uint32_t i = 0; i < trace->track_count; i++)
        pack_track(&trace->tracks[i], tracks + (size_t)i * TRACK_FIELDS);
    const struct {
        const void *array;
        uint64_t count;
    } arrays[SECTION_COUNT] = {
        [SECTION_BEGIN] = {trace->begin_ns, trace->event_count},
        [SECTION_DUR] = {trace->dur_ns, trace->event_count},
        [SECTION_NAME] = {trace->name, trace->event_count},
        [SECTION_KIND] = {trace->kind, trace->event_count},
        [SECTION_ARGS] = {trace->args, trace->event_count},
        [SECTION_TRACKS] = {tracks, trace->track_count},
        [SECTION_DEVICE_ARGS] = {trace->device_args, trace->device_args_count},
        [SECTION_LAUNCH_ARGS] = {trace->launch_args, trace->launch_args_count},
        [SECTION_OP_ARGS] = {trace->op_args, trace->op_args_count},
        [SECTION_MEMORY_ARGS] = {trace->memory_args, trace->memory_args_count},
        [SECTION_SHAPES] = {trace->shapes, trace->shape_count},
        [SECTION_COLLECTIVES] = {trace->collectives, trace->collective_count},
        [SECTION_COPY_CALLS] = {trace->copy_calls, trace->copy_call_count},
        [SECTION_OP_INPUTS] = {trace->op_inputs, trace->op_inputs_count},
        [SECTION_MEMBERS] = {trace->members, trace->member_count},
        [SECTION_TEXT] = {trace->strings.text, trace->strings.text_len},
        [SECTION_SPANS] = {trace->strings.span, trace->strings.count},
        [SECTION_REPAIRS] = {trace->repairs, REPAIR_COUNT},
    };
    bool ok = true;
    for (enum section_id id = 0; id < SECTION_COUNT && ok; id++) {
        header->sections[id].count = arrays[id].count;
        ok = put_section(writer, id, arrays[id].array, &header->sections[id], err);
    }
    free(tracks);
    return ok;
}

static bool put_all(struct writer *writer, const struct trace *trace, struct err *err)
{
    struct header header = {.magic = MAGIC,
                            .version = VERSION,
                            .section_count = SECTION_COUNT,
                            .input_events = trace->input_events,
                            .text_bytes = trace->text_bytes};
    if (!put(writer, &header, sizeof header, err) || !put_sections(writer, trace, &header, err))
        return false;
    header.checksum = header_checksum(&header);
    if (fseek(writer->file, 0, SEEK_SET) != 0 ||
        fwrite(&header, sizeof header, 1, writer->file) != 1 || fflush(writer->file) != 0 ||
        fsync(fileno(writer->file)) != 0)
        return err_set_errno(err, "cannot write %s", writer->path);
    return true;
}

static bool writer_open(struct writer *writer, const char *path, struct err *err)
{
    size_t raw_cap = BLOCK_ELEMENTS * TRACK_FIELDS * sizeof(int64_t); // the largest element
    *writer = (struct writer){.path = path,
                              .zstd = ZSTD_createCCtx(),
                              .raw = malloc(raw_cap),
                              .packed_cap = ZSTD_compressBound(raw_cap)};
    writer->packed = malloc(writer->packed_cap);
    if (!writer->zstd || !writer->raw || !writer->packed)
        return err_set(err, ERR_LIMIT, "out of memory");
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
    writer->file = fopen(path, "wbxe");
    return writer->file || err_set_errno(err, "cannot create %s", path);
}

bool trace_file_save(const struct trace *trace, const char *path, struct err *err)
{
    struct writer writer;
    bool ok = writer_open(&writer, path, err) && put_all(&writer, trace, err);
    if (writer.file && fclose(writer.file) != 0 && ok)
        ok = err_set_errno(err, "cannot close %s", path);
    if (writer.file && !ok)
        unlink(path);
    ZSTD_freeCCtx(writer.zstd);
    free(writer.raw);
    free(writer.packed);
    return ok;
}

// ---- loading
// -------------------------------------------------------------------------------------

struct loader {
    FILE *file;
    const char *path;
    struct budget *budget;
    struct header header;
    char *packed;
    size_t packed_cap;
    void *arrays[SECTION_COUNT];
};

static bool damaged(const struct loader *loader, const char *what, struct err *err)
{
    return err_set(err, ERR_FORMAT, "%s is damaged: %s", loader->path, what);
}

static bool get_block(struct loader *loader, enum section_id id, char *to, size_t count,
                      struct err *err)
{
    uint32_t length;
    size_t size = count * element_size[id];
    if (fread(&length, sizeof length, 1, loader->file) != 1 || length > loader->packed_cap ||
        fread(loader->packed, 1, length, loader->file) != length)
        return damaged(loader, "a block is cut", err);
    size_t got = ZSTD_decompress(to, size, loader->packed, length);
    if (ZSTD_isError(got) || got != size)
        return damaged(loader, "a block does not decompress", err);
    if (id == SECTION_BEGIN)
        from_differences((int64_t *)(void *)to, count);
    return true;
}

static bool get_section(struct loader *loader, enum section_id id, struct err *err)
{
    const struct section *section = &loader->header.sections[id];
    if (section->count == 0)
        return true;
    if (section->count > UINT32_MAX * (uint64_t)64 || section->offset > INT64_MAX)
        return damaged(loader, "a section is too large", err);
    char *array = budget_alloc(loader->budget, section->count * element_size[id], err);
    if (!array)
        return false;
    loader->arrays[id] = array;
    if (fseek(loader->file, (long)section->offset, SEEK_SET) != 0)
        return damaged(loader, "a section lies outside the file", err);
    for (uint64_t at = 0; at < section->count; at += BLOCK_ELEMENTS) {
        uint64_t left = section->count - at;
        size_t count = left < BLOCK_ELEMENTS ? (size_t)left : BLOCK_ELEMENTS;
        if (!get_block(loader, id, array + at * element_size[id], count, err))
            return false;
    }
    return true;
}

static bool get_header(struct loader *loader, struct err *err)
{
    struct header *header = &loader->header;
    if (fread(header, sizeof *header, 1, loader->file) != 1 || header->magic != MAGIC)
        return damaged(loader, "it has no header", err);
    if (header->version != VERSION || header->section_count != SECTION_COUNT)
        return err_set(err, ERR_UNSUPPORTED, "%s is of version %u, this program reads %u",
                       loader->path, header->version, VERSION);
    if (header->checksum != header_checksum(header))
        return damaged(loader, "its header does not add up", err);
    const struct section *s = header->sections;
    uint64_t n = s[SECTION_BEGIN].count;
    if (n > UINT32_MAX - 2 || s[SECTION_DUR].count != n || s[SECTION_NAME].count != n ||
        s[SECTION_KIND].count != n || s[SECTION_ARGS].count != n ||
        s[SECTION_REPAIRS].count != REPAIR_COUNT || s[SECTION_SPANS].count > UINT32_MAX)
        return damaged(loader, "its columns differ in length", err);
    for (enum section_id id = SECTION_TRACKS; id <= SECTION_MEMBERS; id++)
        if (s[id].count > UINT32_MAX)
            return damaged(loader, "a table is too long", err);
    return true;
}

static void *take(struct loader *loader, enum section_id id)
{
    void *array = loader->arrays[id];
    loader->arrays[id] = NULL;
    return array;
}

static bool take_tracks(struct loader *loader, struct trace *trace, struct err *err)
{
    uint32_t count = (uint32_t)loader->header.sections[SECTION_TRACKS].count;
    if (count == 0)
        return true;
    struct track *tracks = budget_alloc(loader->budget, count * sizeof *tracks, err);
    if (!tracks)
        return false;
    const int64_t *f = loader->arrays[SECTION_TRACKS];
    for (uint32_t i = 0; i < count; i++, f += TRACK_FIELDS)
        tracks[i] = (struct track){.family = (enum track_family)(uint8_t)f[0],
                                   .pid = {f[1], (str_id)f[2]},
                                   .tid = {f[3], (str_id)f[4]},
                                   .name = (str_id)f[5],
                                   .first = (uint32_t)f[6],
                                   .count = (uint32_t)f[7]};
    trace->tracks = tracks;
    trace->track_count = count;
    return true;
}

static bool take_strings(struct loader *loader, struct trace *trace, struct err *err)
{
    const struct section *s = loader->header.sections;
    struct strtab_parts parts = {.text = take(loader, SECTION_TEXT),
                                 .text_len = s[SECTION_TEXT].count,
                                 .span = take(loader, SECTION_SPANS),
                                 .count = (uint32_t)s[SECTION_SPANS].count};
    return strtab_adopt(&trace->strings, loader->budget, parts, err);
}

static void take_columns(struct loader *loader, struct trace *trace)
{
    const struct section *s = loader->header.sections;
    trace->event_count = (uint32_t)s[SECTION_BEGIN].count;
    trace->begin_ns = take(loader, SECTION_BEGIN);
    trace->dur_ns = take(loader, SECTION_DUR);
    trace->name = take(loader, SECTION_NAME);
    trace->kind = take(loader, SECTION_KIND);
    trace->args = take(loader, SECTION_ARGS);
    trace->device_args = take(loader, SECTION_DEVICE_ARGS);
    trace->device_args_count = (uint32_t)s[SECTION_DEVICE_ARGS].count;
    trace->launch_args = take(loader, SECTION_LAUNCH_ARGS);
    trace->launch_args_count = (uint32_t)s[SECTION_LAUNCH_ARGS].count;
    trace->op_args = take(loader, SECTION_OP_ARGS);
    trace->op_args_count = (uint32_t)s[SECTION_OP_ARGS].count;
    trace->memory_args = take(loader, SECTION_MEMORY_ARGS);
    trace->memory_args_count = (uint32_t)s[SECTION_MEMORY_ARGS].count;
    trace->shapes = take(loader, SECTION_SHAPES);
    trace->shape_count = (uint32_t)s[SECTION_SHAPES].count;
    trace->collectives = take(loader, SECTION_COLLECTIVES);
    trace->collective_count = (uint32_t)s[SECTION_COLLECTIVES].count;
    trace->copy_calls = take(loader, SECTION_COPY_CALLS);
    trace->copy_call_count = (uint32_t)s[SECTION_COPY_CALLS].count;
    trace->op_inputs = take(loader, SECTION_OP_INPUTS);
    trace->op_inputs_count = (uint32_t)s[SECTION_OP_INPUTS].count;
    trace->members = take(loader, SECTION_MEMBERS);
    trace->member_count = (uint32_t)s[SECTION_MEMBERS].count;
    memcpy(trace->repairs, loader->arrays[SECTION_REPAIRS], sizeof trace->repairs);
    trace->input_events = loader->header.input_events;
    trace->text_bytes = loader->header.text_bytes;
}

static bool within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

// Events of a row are in order, of its family, and host events do not end before they begin.
static bool good_row(const struct trace *trace, const struct track *track)
{
    int64_t previous = -TRACE_MAX_NS;
    int64_t shortest = track->family == TRACK_DEVICE ? -2 * TRACE_MAX_NS : 0;
    for (uint32_t i = track->first; i < track->first + track->count; i++) {
        if (trace->kind[i] >= EVENT_KIND_COUNT ||
            event_kind_family((enum event_kind)trace->kind[i]) != track->family ||
            !within(trace->begin_ns[i], previous, TRACE_MAX_NS) ||
            !within(trace->dur_ns[i], shortest, 2 * TRACE_MAX_NS))
            return false;
        previous = trace->begin_ns[i];
    }
    return true;
}

static bool good_tracks(const struct trace *trace)
{
    uint32_t next = 0, texts = trace->strings.count;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct track *t = &trace->tracks[i];
        if (t->family > TRACK_OTHER || t->pid.text >= texts || t->tid.text >= texts ||
            t->name >= texts || t->first != next || t->count == 0 ||
            t->count > trace->event_count - next || !good_row(trace, t))
            return false;
        next += t->count;
    }
    return next == trace->event_count;
}

static bool good_args(const struct trace *trace, enum event_kind kind, uint32_t args)
{
    if (event_kind_is_device(kind))
        return args < trace->device_args_count;
    if (event_kind_is_launch(kind))
        return args < trace->launch_args_count;
    if (kind == EVENT_ALLOCATION)
        return args < trace->memory_args_count;
    return args == ARGS_NONE || (kind == EVENT_CPU_OP && args < trace->op_args_count);
}

static bool good_events(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->name[i] >= trace->strings.count ||
            !good_args(trace, (enum event_kind)trace->kind[i], trace->args[i]))
            return false;
    return true;
}

// Whether an index that may be absent lies within its table.
static bool good_index(uint32_t index, uint32_t count)
{
    return index < count || index == ARGS_NONE;
}

static bool good_indices(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->device_args_count; i++)
        if (trace->device_args[i].shape >= trace->shape_count ||
            !good_index(trace->device_args[i].collective, trace->collective_count))
            return false;
    for (uint32_t i = 0; i < trace->launch_args_count; i++)
        if (!good_index(trace->launch_args[i].copy, trace->copy_call_count))
            return false;
    for (uint32_t i = 0; i < trace->copy_call_count; i++)
        if (trace->copy_calls[i].direction >= COPY_DIRECTION_COUNT ||
            trace->copy_calls[i].bytes < 0)
            return false;
    for (uint32_t i = 0; i < trace->op_args_count; i++)
        if (!good_index(trace->op_args[i].inputs, trace->op_inputs_count) ||
            !good_index(trace->op_args[i].collective, trace->collective_count))
            return false;
    return true;
}

static bool good_texts(const struct trace *trace)
{
    uint32_t texts = trace->strings.count;
    for (uint32_t i = 0; i < trace->collective_count; i++) {
        const struct collective *c = &trace->collectives[i];
        if (c->name >= texts || c->dtype >= texts || c->group >= texts ||
            c->group_description >= texts || c->group_ranks >= texts || c->in_splits >= texts ||
            c->out_splits >= texts)
            return false;
    }
    for (uint32_t i = 0; i < trace->op_inputs_count; i++) {
        const struct op_inputs *in = &trace->op_inputs[i];
        if (in->dims >= texts || in->types >= texts || in->strides >= texts ||
            in->concrete >= texts || in->module >= texts)
            return false;
    }
    for (uint32_t i = 0; i < trace->member_count; i++)
        if (trace->members[i].key >= texts || trace->members[i].text >= texts)
            return false;
    return true;
}

static struct trace *assemble(struct loader *loader, struct err *err)
{
    struct trace *trace = budget_alloc(loader->budget, sizeof *trace, err);
    if (!trace)
        return NULL;
    *trace = (struct trace){.budget = loader->budget};
    bool ok = take_tracks(loader, trace, err) && take_strings(loader, trace, err);
    if (ok) {
        take_columns(loader, trace);
        ok = (good_tracks(trace) && good_events(trace) && good_indices(trace) &&
              good_texts(trace)) ||
             damaged(loader, "a value is out of bounds", err);
    }
    if (!ok) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

static struct trace *load(struct loader *loader, struct err *err)
{
    if (!get_header(loader, err))
        return NULL;
    loader->packed_cap = ZSTD_compressBound(BLOCK_ELEMENTS * TRACK_FIELDS * sizeof(int64_t));
    loader->packed = malloc(loader->packed_cap);
    if (!loader->packed) {
        err_set(err, ERR_LIMIT, "out of memory");
        return NULL;
    }
    for (enum section_id id = 0; id < SECTION_COUNT; id++)
        if (!get_section(loader, id, err))
            return NULL;
    return assemble(loader, err);
}

struct trace *trace_file_load(const char *path, struct budget *budget, struct err *err)
{
    struct loader loader = {.path = path, .budget = budget, .file = fopen(path, "rbe")};
    if (!loader.file) {
        err_set_errno(err, "cannot open %s", path);
        return NULL;
    }
    struct trace *trace = load(&loader, err);
    for (enum section_id id = 0; id < SECTION_COUNT; id++)
        budget_free(budget, loader.arrays[id], loader.header.sections[id].count * element_size[id]);
    free(loader.packed);
    fclose(loader.file);
    return trace;
}
