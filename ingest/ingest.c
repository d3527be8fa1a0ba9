// SPDX-License-Identifier: Apache-2.0
// Open, probe, read, seal.
#include "ingest/ingest.h"

#include "ingest/evidence/evidence.h"
#include "ingest/base/fuzzed.h"

#include <stdlib.h>
#include <unistd.h>

// A database is known by its tables, a stream by its first bytes.
static const struct format *reader_of(struct source *source, const struct format_found *found,
                                      struct err *err)
{
    const struct format *format = found->format;
    bool cut;
    if (format && format->read)
        return format;
    if (!format)
        format_refuse_unknown(found->head, err);
    else if (format->kind == FORMAT_DATABASE)
        format_refuse_database(source, &cut, err);
    else if (format->ending || format->tables)
        format_refuse(format, err);
    else // its name may have misled
        return format_of_trace(found->head, (struct str){"", 0}, err);
    return NULL;
}

// A stream's reader meets the damage at its end; one that reads at positions does not.
static void note_damage(const struct source *source, struct trace_builder *builder)
{
    const struct err *damage = source_damage(source);
    if (damage)
        trace_builder_repair(builder, REPAIR_COMPRESSION, damage->pos);
}

static struct trace *read_and_seal(struct source *source, const struct format_found *found,
                                   struct budget *budget, struct progress *progress,
                                   struct err *err)
{
    const struct format *format = reader_of(source, found, err);
    struct trace_builder *builder = format ? trace_builder_new(budget, err) : NULL;
    if (!builder)
        return NULL;
    struct format_input input = {.source = source,
                                 .head = found->head,
                                 .builder = builder,
                                 .budget = budget,
                                 .progress = progress,
                                 .part = found->part,
                                 .figures = found->figures};
    if (!format->read(&input, err)) {
        trace_builder_free(builder);
        return NULL;
    }
    note_damage(source, builder);
    trace_builder_use(builder, progress ? progress->cores : NULL);
    return trace_builder_seal(builder, err);
}

// Searching the file's bytes misses a secret hidden by escapes that searching the texts found and
// redacted: each text with such a kind counts as one.
static void count_escaped(struct trace *trace)
{
    static const struct str mark = {"[redacted:", sizeof "[redacted:" - 1};
    uint64_t shown[SECRET_KINDS] = {0};
    struct str left = {trace->strings.text, trace->strings.text_len};
    for (size_t at; (at = str_find(left, mark)) != SIZE_MAX;) {
        left = (struct str){left.at + at + mark.len, left.len - at - mark.len};
        for (int kind = 0; kind < SECRET_KINDS; kind++)
            shown[kind] += str_starts_with(left, str_of(secret_word((enum secret_kind)kind)));
    }
    for (int kind = 0; kind < SECRET_KINDS; kind++)
        if (trace->secrets[kind].count == 0)
            trace->secrets[kind].count = shown[kind];
}

static struct trace *ingest_stream(struct source *source, const struct format_found *found,
                                   struct budget *budget, struct progress *progress,
                                   struct err *err)
{
    struct secret_tally tally = {0};
    struct cores *cores = progress ? progress->cores : NULL;
    source_spread(source, cores);
    if (!(source = source_limit_open(source, source_trace_limits, err)) ||
        !(source = source_ahead_open(source, cores, &tally, err)))
        return NULL;
    struct trace *trace = read_and_seal(source, found, budget, progress, err);
    source_close(source);
    if (trace)
        memcpy(trace->secrets, tally.found, sizeof trace->secrets);
    return trace;
}

// Counts the secrets in all of its bytes.
static bool tally_secrets(struct source *source, struct trace *trace, struct err *err)
{
    static const size_t block_bytes = FUZZED_SIZE((size_t)256 << 10, (size_t)4 << 10);
    struct secret_tally tally = {0};
    struct source_place place = {.bytes = malloc(block_bytes), .cap = block_bytes};
    bool ok = place.bytes || err_set(err, ERR_MEMORY, "out of memory");
    for (size_t got = 1; ok && got; place.offset += got) {
        ok = source_read_at(source, &place, &got, err);
        if (ok)
            secret_tally_add(&tally, (struct str){place.bytes, got});
    }
    secret_tally_end(&tally);
    memcpy(trace->secrets, tally.found, sizeof trace->secrets);
    free(place.bytes);
    return ok;
}

static struct trace *ingest_seekable(struct source *source, const struct format_found *found,
                                     struct budget *budget, struct progress *progress,
                                     struct err *err)
{
    if (found->format->read) // others are only named
        source = source_seekable_open(source, SCRATCH_NONE, err);
    struct trace *trace = source ? read_and_seal(source, found, budget, progress, err) : NULL;
    if (trace && !tally_secrets(source, trace, err)) {
        trace_free(trace);
        trace = NULL;
    }
    source_close(source);
    return trace;
}

struct trace *ingest_opened(struct source *source, const struct format_found *found,
                            struct budget *budget, struct progress *progress, struct err *err)
{
    bool seeks = found->format && found->format->access == FORMAT_SEEK;
    struct trace *trace =
        (seeks ? ingest_seekable : ingest_stream)(source, found, budget, progress, err);
    if (trace)
        count_escaped(trace);
    return trace;
}

static struct trace *open_and_read(struct source *source, const struct ingest_from *from,
                                   struct budget *budget, struct progress *progress,
                                   struct err *err)
{
    struct format_hint hint = {.filename = STR(""), .scratch = from->scratch};
    struct format_found found;
    source = format_open(source, &hint, &found, err);
    if (!source)
        return NULL;
    found.part = from->part;
    return ingest_opened(source, &found, budget, progress, err);
}

struct trace *ingest_source(struct source *source, struct budget *budget, struct progress *progress,
                            struct err *err)
{
    struct ingest_from from = {.fd = -1, .scratch = SCRATCH_NONE};
    return open_and_read(source, &from, budget, progress, err);
}

static struct trace *read_fd(const struct ingest_from *from, struct budget *budget,
                             struct progress *progress, struct err *err)
{
    struct source *source = source_fd_open(from->fd, err);
    return source ? open_and_read(source, from, budget, progress, err) : NULL;
}

struct trace *ingest_fd(const struct ingest_from *from, struct budget *budget,
                        struct progress *progress, struct err *err)
{
    struct trace *trace = read_fd(from, budget, progress, err);
    struct cores *cores = progress ? progress->cores : NULL;
    if (trace || !cores || !budget->refused || lseek(from->fd, 0, SEEK_SET) != 0)
        return trace;
    // Helpers hold their own pieces and tables: whether a file can be read must not depend on how
    // many cores happen to be free.
    progress->cores = NULL;
    trace = read_fd(from, budget, progress, err);
    progress->cores = cores;
    return trace;
}

struct trace *ingest_file(const char *path, struct budget *budget, struct progress *progress,
                          struct err *err)
{
    struct ingest_from from;
    if (!source_open_path(path, &from.fd, err))
        return NULL;
    from = (struct ingest_from){.fd = from.fd, .scratch = scratch_open()};
    struct trace *trace = ingest_fd(&from, budget, progress, err);
    scratch_close(from.scratch);
    close(from.fd);
    return trace;
}

// --- what is no trace ---------------------------------------------------------------------------

static bool gather(struct source *source, const struct format_found *found, struct str filename,
                   struct evidence *evidence, struct progress *progress, struct err *err)
{
    const struct format *format = found->format;
    struct format_input input = {.source = source,
                                 .head = found->head,
                                 .budget = evidence->budget,
                                 .progress = progress,
                                 .evidence = evidence,
                                 .filename = filename};
    if (format && format->gather)
        return format->gather(&input, err);
    return err_set(err, ERR_FORMAT, "found %s, which says nothing about a run",
                   format ? format->what : "an unknown format");
}

bool ingest_evidence(const struct ingest_from *from, struct evidence *evidence,
                     struct progress *progress, struct err *err)
{
    struct format_hint hint = {.filename = from->filename, .scratch = from->scratch};
    struct format_found found;
    struct source *source = source_fd_open(from->fd, err);
    source = source ? format_open(source, &hint, &found, err) : NULL;
    if (source && found.format && found.format->access == FORMAT_STREAM)
        source = source_limit_open(source, source_trace_limits, err);
    bool ok = source && gather(source, &found, from->filename, evidence, progress, err);
    source_close(source);
    return ok;
}
