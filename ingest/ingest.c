// SPDX-License-Identifier: Apache-2.0
// Open, probe, read, seal.
#include "ingest/ingest.h"

#include <unistd.h>

// A trace compresses 10 to 40 times; anything far beyond that is an attack.
static const struct source_limits limits = {
    .max_bytes = (uint64_t)256 << 30,
    .max_ratio = 200,
};

// Reads with the free cores, one of which decompresses ahead: a reader that shared its core with
// that thread would be slower for it.
static bool read_ahead(const struct format *format, const struct format_input *input,
                       struct err *err)
{
    struct cores *cores = input->progress ? input->progress->cores : NULL;
    unsigned taken = cores_take(cores, 1);
    bool ok = format->read(input, err);
    cores_give(cores, taken);
    return ok;
}

static struct trace *read_and_seal(struct source *source, struct str head, struct budget *budget,
                                   struct progress *progress, struct err *err)
{
    const struct format *format = format_of_trace(head, (struct str){"", 0}, err);
    struct trace_builder *builder = format ? trace_builder_new(budget, err) : NULL;
    if (!builder)
        return NULL;
    struct format_input input = {source, head, builder, budget, progress};
    if (!read_ahead(format, &input, err)) {
        trace_builder_free(builder);
        return NULL;
    }
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

struct trace *ingest_opened(struct source *source, const struct format_found *found,
                            struct budget *budget, struct progress *progress, struct err *err)
{
    struct secret_tally tally = {0};
    if (!(source = source_limit_open(source, limits, err)) ||
        !(source = source_secrets_open(source, &tally, err)) ||
        !(source = source_ahead_open(source, err)))
        return NULL;
    struct trace *trace = read_and_seal(source, found->head, budget, progress, err);
    source_close(source);
    if (!trace)
        return NULL;
    memcpy(trace->secrets, tally.found, sizeof trace->secrets);
    count_escaped(trace);
    return trace;
}

struct trace *ingest_source(struct source *source, struct budget *budget, struct progress *progress,
                            struct err *err)
{
    struct format_found found;
    source = format_open(source, (struct str){"", 0}, &found, err);
    return source ? ingest_opened(source, &found, budget, progress, err) : NULL;
}

static struct trace *read_fd(int fd, struct budget *budget, struct progress *progress,
                             struct err *err)
{
    struct source *source = source_fd_open(fd, err);
    return source ? ingest_source(source, budget, progress, err) : NULL;
}

struct trace *ingest_fd(int fd, struct budget *budget, struct progress *progress, struct err *err)
{
    struct trace *trace = read_fd(fd, budget, progress, err);
    struct cores *cores = progress ? progress->cores : NULL;
    if (trace || !cores || !budget->refused || lseek(fd, 0, SEEK_SET) != 0)
        return trace;
    // Helpers hold their own pieces and tables: whether a file can be read must not depend on how
    // many cores happen to be free.
    progress->cores = NULL;
    trace = read_fd(fd, budget, progress, err);
    progress->cores = cores;
    return trace;
}

struct trace *ingest_file(const char *path, struct budget *budget, struct progress *progress,
                          struct err *err)
{
    int fd;
    if (!source_open_path(path, &fd, err))
        return NULL;
    struct trace *trace = ingest_fd(fd, budget, progress, err);
    close(fd);
    return trace;
}
