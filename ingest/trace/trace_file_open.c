// SPDX-License-Identifier: Apache-2.0
// Opens trace files and unpacks their blocks. They are read, not mapped, so that a failing disk
// fails one request instead of killing the process.
#include "ingest/trace/trace_file_open.h"

#include "ingest/trace/trace_file_code.h"

#include "ingest/base/fd_io.h"
#include "ingest/base/fuzzed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

// What decoding a block of events needs of other blocks, and room for one.
struct unpacking {
    uint64_t names, kinds; // the blocks that are here; UINT64_MAX: none
    str_id name[COLUMN_BLOCK];
    uint8_t kind[COLUMN_BLOCK];
    uint8_t coded[BLOCK_MAX_BYTES];
    struct code_room room;
};

struct trace_file {
    struct trace_file_header header;
    struct unpacking *unpacking;
    ZSTD_DCtx *zstd;
    int fd;
    uint64_t size;
    struct stored_block *blocks; // of all sections
    char *packed;                // room for one block
    char path[256];              // for messages
};

bool trace_file_damaged(const struct trace_file *file, const char *what, struct err *err)
{
    return err_set(err, ERR_FORMAT, "%s is damaged: %s", file->path, what);
}

const struct trace_file_header *trace_file_header(const struct trace_file *file)
{
    return &file->header;
}

uint64_t trace_file_count(const struct trace_file *file, enum section_id id)
{
    return file->header.sections[id].count;
}

size_t trace_file_block_count(const struct trace_file *file, enum section_id id, uint64_t block)
{
    const struct stored_section *section = &file->header.sections[id];
    if (block >= section->block_count)
        return 0;
    uint64_t left = section->count - block * section_block(id);
    return left < section_block(id) ? (size_t)left : section_block(id);
}

// Reads all bytes of a range or fails.
static bool read_at(const struct trace_file *file, uint64_t offset, void *to, size_t size,
                    struct err *err)
{
    ssize_t got = fd_read_at(file->fd, to, size, offset);
    if (got < 0)
        return err_set_errno(err, "cannot read %s", file->path);
    return (size_t)got == size || trace_file_damaged(file, "it is cut", err);
}

static void from_differences(int64_t *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        values[i] = (int64_t)((uint64_t)values[i] + (uint64_t)values[i - 1]);
}

// Decompresses a block into exactly its bytes.
static bool decompress(const struct trace_file *file, enum section_id id, uint64_t block, void *to,
                       struct err *err)
{
    struct stored_block stored = file->blocks[file->header.sections[id].first_block + block];
    if (stored.offset > file->size || stored.length > file->size - stored.offset ||
        stored.length > ZSTD_COMPRESSBOUND(BLOCK_MAX_BYTES))
        return trace_file_damaged(file, "a block is cut", err);
    if (!read_at(file, stored.offset, file->packed, (size_t)stored.length, err))
        return false;
    size_t size = trace_file_block_count(file, id, block) * section_element(id);
    size_t got = ZSTD_decompressDCtx(file->zstd, to, size, file->packed, (size_t)stored.length);
    return (!ZSTD_isError(got) && got == size) ||
           trace_file_damaged(file, "a block does not decompress", err);
}

// The block of names or kinds beside one of events, kept for the next column.
static bool read_beside(const struct trace_file *file, enum section_id id, uint64_t block,
                        struct err *err)
{
    struct unpacking *unpacking = file->unpacking;
    bool is_name = id == SECTION_NAME;
    uint64_t *here = is_name ? &unpacking->names : &unpacking->kinds;
    if (*here == block)
        return true;
    *here = UINT64_MAX;
    if (!decompress(file, id, block, is_name ? (void *)unpacking->name : unpacking->kind, err))
        return false;
    *here = block;
    return true;
}

static bool decode(const struct trace_file *file, enum section_id id, uint64_t block, void *to,
                   struct err *err)
{
    struct unpacking *unpacking = file->unpacking;
    if ((trace_code_needs_names(id) && !read_beside(file, SECTION_NAME, block, err)) ||
        (trace_code_needs_kinds(id) && !read_beside(file, SECTION_KIND, block, err)) ||
        !decompress(file, id, block, unpacking->coded, err))
        return false;
    struct code_block code = {id,
                              trace_file_block_count(file, id, block),
                              {unpacking->name, unpacking->kind},
                              &unpacking->room};
    trace_code_decode(&code, unpacking->coded, to);
    return true;
}

bool trace_file_block(const struct trace_file *file, enum section_id id, uint64_t block, void *to,
                      struct err *err)
{
    size_t count = trace_file_block_count(file, id, block);
    if (count == 0)
        return err_set(err, ERR_INTERNAL, "%s has no such block", file->path);
    if (file->header.version > TRACE_FILE_OLDEST && trace_code_changes(id))
        return decode(file, id, block, to, err);
    if (!decompress(file, id, block, to, err))
        return false;
    if (file->header.version == TRACE_FILE_OLDEST && section_is_ordered(id))
        from_differences(to, count);
    return true;
}

bool trace_file_section(const struct trace_file *file, enum section_id id, void *to,
                        struct err *err)
{
    char *at = to;
    for (uint64_t block = 0; block < file->header.sections[id].block_count; block++) {
        if (!trace_file_block(file, id, block, at, err))
            return false;
        at += section_block(id) * section_element(id);
    }
    return true;
}

static bool good_counts(const struct stored_section *s)
{
    uint64_t events = s[SECTION_BEGIN].count, slices = s[SECTION_SLICE_BEGIN].count;
    if (events > UINT32_MAX - 2 || s[SECTION_REPAIRS].count > REPAIR_COUNT ||
        s[SECTION_SECRETS].count > SECRET_KINDS || s[SECTION_ROW].count != events ||
        s[SECTION_SPANS].count > UINT32_MAX ||
        s[SECTION_TIMES].count != s[SECTION_BEGIN].block_count ||
        s[SECTION_SLICE_TIMES].count != s[SECTION_SLICE_BEGIN].block_count)
        return false;
    for (enum section_id id = SECTION_BEGIN; id <= SECTION_ARGS; id++)
        if (s[id].count != events)
            return false;
    for (enum section_id id = SECTION_SLICE_BEGIN; id <= SECTION_SLICE_ROW; id++)
        if (s[id].count != slices)
            return false;
    for (enum section_id id = SECTION_TRACKS; id <= SECTION_SETTINGS; id++)
        if (s[id].count > UINT32_MAX)
            return false;
    return true;
}

// In the table, which ends the file, the sections' blocks follow one another.
static bool good_sections(const struct trace_file *file)
{
    const struct trace_file_header *header = &file->header;
    uint64_t next = 0;
    for (enum section_id id = 0; id < SECTION_COUNT; id++) {
        const struct stored_section *section = &header->sections[id];
        uint64_t room = section_block(id);
        if (section->count > UINT32_MAX * (uint64_t)64 || section->first_block != next ||
            section->block_count != (section->count + room - 1) / room)
            return false;
        next += section->block_count;
    }
    return header->blocks_offset <= file->size &&
           next * sizeof(struct stored_block) == file->size - header->blocks_offset;
}

static uint64_t blocks_checksum(const struct trace_file *file)
{
    uint64_t sum = 0;
    for (enum section_id id = 0; id < SECTION_COUNT; id++) {
        const struct stored_section *section = &file->header.sections[id];
        size_t size = section->block_count * sizeof(struct stored_block);
        const char *blocks = (const char *)(file->blocks + section->first_block);
        if (size)
            sum = hash_mix(sum, hash_bytes(blocks, size)) ^
                  (section->first_block + section->block_count);
    }
    return sum;
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

static bool read_blocks(struct trace_file *file, struct err *err)
{
    size_t size = (size_t)(file->size - file->header.blocks_offset);
    file->blocks = malloc(size + 1);
    file->packed = malloc(ZSTD_COMPRESSBOUND(BLOCK_MAX_BYTES));
    file->unpacking = malloc(sizeof *file->unpacking);
    if (!file->blocks || !file->packed || !file->unpacking)
        return no_memory(err);
    file->unpacking->names = file->unpacking->kinds = UINT64_MAX;
    return read_at(file, file->header.blocks_offset, file->blocks, size, err);
}

static bool check_header(struct trace_file *file, struct err *err)
{
    struct trace_file_header *header = &file->header;
    if (file->size < 16)
        return trace_file_damaged(file, "it has no header", err);
    if (!read_at(file, 0, header, file->size < sizeof *header ? 16 : sizeof *header, err))
        return false;
    if (header->magic != TRACE_FILE_MAGIC)
        return trace_file_damaged(file, "it has no header", err);
    if (header->version < TRACE_FILE_OLDEST || header->version > TRACE_FILE_VERSION)
        return err_set(err, ERR_UNSUPPORTED, "%s is of version %u, this program reads %u to %u",
                       file->path, header->version, TRACE_FILE_OLDEST, TRACE_FILE_VERSION);
    if (file->size < sizeof *header || header->section_count != SECTION_COUNT ||
        !fuzzed_same(header->checksum, trace_file_checksum(header)))
        return trace_file_damaged(file, "its header does not add up", err);
    if (!good_sections(file))
        return trace_file_damaged(file, "its table of blocks does not end it", err);
    if (!read_blocks(file, err))
        return false;
    if (!fuzzed_same(header->blocks_checksum, blocks_checksum(file)))
        return trace_file_damaged(file, "its table of blocks does not add up", err);
    if (header->job.recorder < 0 || header->job.recorder >= RECORDER_COUNT)
        return trace_file_damaged(file, "its recorder is unknown", err);
    if (!good_counts(header->sections))
        return trace_file_damaged(file, "its columns differ in length", err);
    if (header->begin_ns < -TRACE_MAX_NS || header->begin_ns > header->end_ns ||
        header->end_ns > 3 * TRACE_MAX_NS || header->device_begin_ns < header->begin_ns ||
        header->device_begin_ns > header->end_ns)
        return trace_file_damaged(file, "its times are out of bounds", err);
    return true;
}

static bool measure(struct trace_file *file, struct err *err)
{
    struct stat st;
    if (fstat(file->fd, &st) != 0)
        return err_set_errno(err, "cannot read %s", file->path);
    file->size = (uint64_t)st.st_size;
    return true;
}

struct trace_file *trace_file_open_fd(int fd, const char *name, struct err *err)
{
    struct trace_file *file = calloc(1, sizeof *file);
    if (!file) {
        close(fd);
        no_memory(err);
        return NULL;
    }
    size_t len = strlen(name), from = len < sizeof file->path ? 0 : len - sizeof file->path + 1;
    memcpy(file->path, name + from, len - from + 1);
    file->fd = fd;
    file->zstd = ZSTD_createDCtx();
    if ((file->zstd || no_memory(err)) && measure(file, err) && check_header(file, err))
        return file;
    trace_file_close(file);
    return NULL;
}

struct trace_file *trace_file_open(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return trace_file_open_fd(fd, path, err);
    if (errno == ENOENT)
        err_set(err, ERR_NOT_FOUND, "found no trace file %s", path);
    else
        err_set_errno(err, "cannot open %s", path);
    return NULL;
}

void trace_file_close(struct trace_file *file)
{
    if (!file)
        return;
    close(file->fd);
    ZSTD_freeDCtx(file->zstd);
    free(file->blocks);
    free(file->packed);
    free(file->unpacking);
    free(file);
}
