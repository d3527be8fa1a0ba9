// SPDX-License-Identifier: Apache-2.0
// Writes trace files: the columns in compressed blocks, and the data for the timeline.
#include "ingest/trace/plausible.h"
#include "ingest/trace/timeline_levels.h"
#include "ingest/trace/trace_file.h"
#include "ingest/trace/trace_file_code.h"
#include "ingest/trace/trace_file_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#define LEVEL 1 // fast; columns compress well anyway

// Blocks of one section; elements wait until they fill a block.
struct column {
    char *waiting;
    size_t waiting_count;
    struct stored_block *blocks;
    size_t block_cap;
    struct stored_section stored;
};

struct writer {
    FILE *file;
    const char *path;
    const struct trace *trace;
    ZSTD_CCtx *zstd;
    char *packed;
    uint8_t *coded; // room for one block
    struct code_room *room;
    uint64_t offset;
    struct column columns[SECTION_COUNT];
};

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

static bool put(struct writer *writer, const void *bytes, size_t size, struct err *err)
{
    if (size && fwrite(bytes, 1, size, writer->file) != size)
        return err_set_errno(err, "cannot write %s", writer->path);
    writer->offset += size;
    return true;
}

static bool note_block(struct column *column, struct stored_block block, struct err *err)
{
    struct stored_block *blocks = budget_room(NULL, column->blocks, &column->block_cap,
                                              column->stored.block_count + 1, sizeof *blocks, err);
    if (!blocks)
        return false;
    column->blocks = blocks;
    column->blocks[column->stored.block_count++] = block;
    return true;
}

// Writes the waiting elements as one block.
static bool put_block(struct writer *writer, enum section_id id, struct err *err)
{
    struct column *column = &writer->columns[id];
    if (column->waiting_count == 0)
        return true;
    size_t first = column->stored.block_count * COLUMN_BLOCK;
    struct code_block block = {id, column->waiting_count, {0}, writer->room};
    if (trace_code_needs_names(id))
        block.events.name = writer->trace->name + first;
    if (trace_code_needs_kinds(id))
        block.events.kind = writer->trace->kind + first;
    trace_code_encode(&block, column->waiting, writer->coded);
    size_t packed =
        ZSTD_compress2(writer->zstd, writer->packed, ZSTD_compressBound(BLOCK_MAX_BYTES),
                       writer->coded, column->waiting_count * section_element(id));
    if (ZSTD_isError(packed))
        return err_set(err, ERR_INTERNAL, "cannot compress: %s", ZSTD_getErrorName(packed));
    column->waiting_count = 0;
    return note_block(column, (struct stored_block){writer->offset, packed}, err) &&
           put(writer, writer->packed, packed, err);
}

static bool append(struct writer *writer, enum section_id id, const void *from, uint64_t count,
                   struct err *err)
{
    struct column *column = &writer->columns[id];
    const char *at = from;
    size_t element = section_element(id), room = section_block(id);
    if (count && !column->waiting && !(column->waiting = malloc(room * element)))
        return no_memory(err);
    column->stored.count += count;
    while (count) {
        size_t part = room - column->waiting_count;
        part = part < count ? part : (size_t)count;
        memcpy(column->waiting + column->waiting_count * element, at, part * element);
        column->waiting_count += part;
        at += part * element;
        count -= part;
        if (column->waiting_count == room && !put_block(writer, id, err))
            return false;
    }
    return true;
}

static bool append_tracks(struct writer *writer, const struct trace *trace, struct err *err)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct track *track = &trace->tracks[i];
        const int64_t fields[TRACK_FIELDS] = {track->family,     track->pid.number, track->pid.text,
                                              track->tid.number, track->tid.text,   track->name,
                                              track->first,      track->count};
        if (!append(writer, SECTION_TRACKS, fields, 1, err))
            return false;
    }
    return true;
}

static bool append_arrays(struct writer *writer, const struct trace *trace, struct err *err)
{
    const struct {
        enum section_id id;
        const void *array;
        uint64_t count;
    } arrays[] = {
        {SECTION_BEGIN, trace->begin_ns, trace->event_count},
        {SECTION_DUR, trace->dur_ns, trace->event_count},
        {SECTION_NAME, trace->name, trace->event_count},
        {SECTION_KIND, trace->kind, trace->event_count},
        {SECTION_ARGS, trace->args, trace->event_count},
        {SECTION_DEVICE_ARGS, trace->device_args, trace->device_args_count},
        {SECTION_COMMS_IDS, trace->comms_ids, trace->comms_id_count},
        {SECTION_LAUNCH_ARGS, trace->launch_args, trace->launch_args_count},
        {SECTION_OP_ARGS, trace->op_args, trace->op_args_count},
        {SECTION_MEMORY_ARGS, trace->memory_args, trace->memory_args_count},
        {SECTION_SHAPES, trace->shapes, trace->shape_count},
        {SECTION_COLLECTIVES, trace->collectives, trace->collective_count},
        {SECTION_COPY_CALLS, trace->copy_calls, trace->copy_call_count},
        {SECTION_OP_INPUTS, trace->op_inputs, trace->op_inputs_count},
        {SECTION_COUNTERS, trace->counters, trace->counter_count},
        {SECTION_COUNTER_SAMPLES, trace->counter_samples, trace->counter_sample_count},
        {SECTION_DEVICES, trace->devices, trace->device_count},
        {SECTION_GROUPS, trace->groups, trace->group_count},
        {SECTION_SETTINGS, trace->settings, trace->setting_count},
        {SECTION_TEXT, trace->strings.text, trace->strings.text_len},
        {SECTION_SPANS, trace->strings.span, trace->strings.count},
        {SECTION_REPAIRS, trace->repairs, REPAIR_COUNT},
        {SECTION_SECRETS, trace->secrets, SECRET_KINDS},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!append(writer, arrays[i].id, arrays[i].array, arrays[i].count, err) ||
            !put_block(writer, arrays[i].id, err))
            return false;
    return append_tracks(writer, trace, err);
}

// --- the timeline -------------------------------------------------------------------------------

static void widen(struct block_times *times, int64_t begin_ns, int64_t end_ns)
{
    times->begin_ns = begin_ns < times->begin_ns ? begin_ns : times->begin_ns;
    times->end_ns = end_ns > times->end_ns ? end_ns : times->end_ns;
}

static bool append_times(struct writer *writer, const struct trace *trace,
                         struct trace_file_header *header, struct err *err)
{
    struct block_times whole = {INT64_MAX, INT64_MIN};
    for (size_t at = 0; at < trace->event_count; at += COLUMN_BLOCK) {
        struct block_times times = {INT64_MAX, INT64_MIN};
        for (size_t i = at; i < trace->event_count && i < at + COLUMN_BLOCK; i++)
            widen(&times, trace->begin_ns[i],
                  trace->begin_ns[i] + (trace->dur_ns[i] > 0 ? trace->dur_ns[i] : 0));
        widen(&whole, times.begin_ns, times.end_ns);
        if (!append(writer, SECTION_TIMES, &times, 1, err))
            return false;
    }
    header->begin_ns = trace->event_count ? whole.begin_ns : 0;
    header->end_ns = trace->event_count ? whole.end_ns : 0;
    header->device_begin_ns = plausible_device_begin(trace, header->begin_ns);
    return true;
}

static bool append_slice(struct writer *writer, const struct slice *slice,
                         struct block_times *times, struct err *err)
{
    int64_t dur_ns = slice->end_ns - slice->begin_ns;
    int64_t idle_ns = (int64_t)((uint64_t)dur_ns - (uint64_t)slice->busy_ns);
    int64_t others_ns = slice->busy_ns - slice->longest_ns;
    uint8_t row = (uint8_t)(slice->row | (slice->collective ? TIMELINE_COMM : 0));
    widen(times, slice->begin_ns, slice->end_ns);
    if (!append(writer, SECTION_SLICE_BEGIN, &slice->begin_ns, 1, err) ||
        !append(writer, SECTION_SLICE_DUR, &dur_ns, 1, err) ||
        !append(writer, SECTION_SLICE_IDLE, &idle_ns, 1, err) ||
        !append(writer, SECTION_SLICE_OTHERS, &others_ns, 1, err) ||
        !append(writer, SECTION_SLICE_NAME, &slice->name, 1, err) ||
        !append(writer, SECTION_SLICE_COUNT, &slice->count, 1, err) ||
        !append(writer, SECTION_SLICE_KIND, &slice->kind, 1, err) ||
        !append(writer, SECTION_SLICE_ROW, &row, 1, err))
        return false;
    if (writer->columns[SECTION_SLICE_ROW].waiting_count) // the block continues
        return true;
    bool ok = append(writer, SECTION_SLICE_TIMES, times, 1, err);
    *times = (struct block_times){INT64_MAX, INT64_MIN};
    return ok;
}

// Levels that save few slices are left out.
static bool append_levels(struct writer *writer, uint32_t track, uint32_t events,
                          const struct timeline_levels *levels, struct block_times *times,
                          struct err *err)
{
    uint64_t stored = events;
    for (uint32_t i = 0; i < levels->level_count; i++) {
        const struct timeline_level *level = &levels->level[i];
        if (level->count * 4 > stored * 3)
            continue;
        struct level_entry entry = {.width_ns = level->width_ns,
                                    .track = track,
                                    .first = writer->columns[SECTION_SLICE_ROW].stored.count,
                                    .count = level->count};
        if (!append(writer, SECTION_LEVELS, &entry, 1, err))
            return false;
        for (size_t k = 0; k < level->count; k++)
            if (!append_slice(writer, &level->slices[k], times, err))
                return false;
        stored = level->count;
    }
    return true;
}

static bool append_timeline(struct writer *writer, const struct trace *trace, struct err *err)
{
    struct block_times times = {INT64_MAX, INT64_MIN};
    bool ok = true;
    for (uint32_t i = 0; i < trace->track_count && ok; i++) {
        const struct track *track = &trace->tracks[i];
        struct timeline_levels levels;
        ok = timeline_levels_make(trace, track, &levels, err) &&
             append(writer, SECTION_ROW, levels.rows, track->count, err) &&
             append_levels(writer, i, track->count, &levels, &times, err);
        timeline_levels_free(&levels);
    }
    if (ok && writer->columns[SECTION_SLICE_ROW].waiting_count)
        ok = append(writer, SECTION_SLICE_TIMES, &times, 1, err);
    return ok;
}

// --- the whole ----------------------------------------------------------------------------------

// The table of blocks comes after them, section by section.
static bool put_blocks(struct writer *writer, struct trace_file_header *header, struct err *err)
{
    uint32_t first = 0;
    header->blocks_offset = writer->offset;
    for (enum section_id id = 0; id < SECTION_COUNT; id++) {
        struct column *column = &writer->columns[id];
        size_t size = column->stored.block_count * sizeof *column->blocks;
        column->stored.first_block = first;
        header->sections[id] = column->stored;
        first += column->stored.block_count;
        if (size)
            header->blocks_checksum =
                hash_mix(header->blocks_checksum, hash_bytes((char *)column->blocks, size)) ^ first;
        if (!put(writer, column->blocks, size, err))
            return false;
    }
    return true;
}

static bool put_all(struct writer *writer, const struct trace *trace, struct err *err)
{
    struct trace_file_header header = {.magic = TRACE_FILE_MAGIC,
                                       .version = TRACE_FILE_VERSION,
                                       .section_count = SECTION_COUNT,
                                       .input_events = trace->input_events,
                                       .text_bytes = trace->text_bytes,
                                       .job = trace->job};
    if (!put(writer, &header, sizeof header, err) || !append_arrays(writer, trace, err) ||
        !append_times(writer, trace, &header, err) || !append_timeline(writer, trace, err))
        return false;
    for (enum section_id id = 0; id < SECTION_COUNT; id++)
        if (!put_block(writer, id, err))
            return false;
    if (!put_blocks(writer, &header, err))
        return false;
    header.checksum = trace_file_checksum(&header);
    if (fseek(writer->file, 0, SEEK_SET) != 0 ||
        fwrite(&header, sizeof header, 1, writer->file) != 1 || fflush(writer->file) != 0 ||
        fsync(fileno(writer->file)) != 0)
        return err_set_errno(err, "cannot write %s", writer->path);
    return true;
}

static bool writer_open(struct writer *writer, const struct trace *trace, int fd, const char *name,
                        struct err *err)
{
    *writer = (struct writer){.path = name,
                              .trace = trace,
                              .file = fdopen(fd, "wb"),
                              .zstd = ZSTD_createCCtx(),
                              .packed = malloc(ZSTD_compressBound(BLOCK_MAX_BYTES)),
                              .coded = malloc(BLOCK_MAX_BYTES),
                              .room = malloc(sizeof *writer->room)};
    if (!writer->file)
        close(fd);
    if (!writer->file || !writer->zstd || !writer->packed || !writer->coded || !writer->room)
        return no_memory(err);
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
    return true;
}

bool trace_file_save_fd(const struct trace *trace, int fd, const char *name, struct err *err)
{
    struct writer writer;
    bool ok = writer_open(&writer, trace, fd, name, err) && put_all(&writer, trace, err);
    if (writer.file && fclose(writer.file) != 0 && ok)
        ok = err_set_errno(err, "cannot close %s", name);
    for (enum section_id id = 0; id < SECTION_COUNT; id++) {
        free(writer.columns[id].waiting);
        free(writer.columns[id].blocks);
    }
    ZSTD_freeCCtx(writer.zstd);
    free(writer.packed);
    free(writer.coded);
    free(writer.room);
    return ok;
}

bool trace_file_save(const struct trace *trace, const char *path, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, "cannot create %s", path);
    bool ok = trace_file_save_fd(trace, fd, path, err);
    if (!ok)
        unlink(path);
    return ok;
}
