// SPDX-License-Identifier: Apache-2.0
// Runs and times each stage of a trace job, and the yardsticks beside it.
#include "tests/bench/stages.h"
#include "analysis/analyses.h"
#include "ingest/base/clock.h"
#include "ingest/ingest.h"
#include "ingest/json_index.h"
#include "ingest/trace/trace_file.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define BLOCK_BYTES ((size_t)256 << 10) // what the reader asks its source for
#define PIECE_BYTES ((size_t)64 << 10)  // what it indexes at a time

// ---- yardsticks
// ----------------------------------------------------------------------------------

static bool run_zstd(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    char block[BLOCK_BYTES];
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        return err_set(err, ERR_LIMIT, "out of memory");
    ZSTD_inBuffer in = {lap->corpus->zstd.at, lap->corpus->zstd.len, 0};
    size_t left = 1;
    int64_t begin_ns = clock_mono_ns();
    while (left && !ZSTD_isError(left)) {
        ZSTD_outBuffer out = {block, sizeof block, 0};
        left = ZSTD_decompressStream(stream, &out, &in);
        lap->sink += (unsigned char)block[0];
    }
    *took_ns = clock_mono_ns() - begin_ns;
    ZSTD_freeDStream(stream);
    return left == 0 || err_set(err, ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(left));
}

#ifdef HAVE_SIMDJSON
static bool run_simdjson(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                         struct err *err)
{
    struct simdjson_sums sums;
    const char *why;
    struct str text = lap->corpus->text;
    int64_t begin_ns = clock_mono_ns();
    bool ok = simdjson_pass_run(lap->simdjson, text.at, text.len, stage->all_args, &sums, &why);
    *took_ns = clock_mono_ns() - begin_ns;
    lap->sink += sums.numbers + sums.text_bytes;
    lap->simdjson_events = sums.events;
    return ok || err_set(err, ERR_FORMAT, "simdjson: %s", why);
}
#endif

// ---- sources and scan
// ----------------------------------------------------------------------------

static bool drain(struct lap *lap, struct source *source, int64_t *took_ns, struct err *err)
{
    char block[BLOCK_BYTES];
    size_t got = 1;
    bool ok = source != NULL;
    int64_t begin_ns = clock_mono_ns();
    while (ok && got) {
        ok = source_read(source, block, sizeof block, &got, err);
        lap->sink += (unsigned char)block[0];
    }
    *took_ns = clock_mono_ns() - begin_ns;
    source_close(source);
    return ok;
}

static struct source *open_packed(struct str packed, struct err *err)
{
    struct source *source = source_mem_open(packed.at, packed.len, 0, err);
    return source ? source_detect(source, err) : NULL;
}

static bool run_source_zstd(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                            struct err *err)
{
    (void)stage;
    return drain(lap, open_packed(lap->corpus->zstd, err), took_ns, err);
}

static bool run_source_gzip(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                            struct err *err)
{
    (void)stage;
    return drain(lap, open_packed(lap->corpus->gzip, err), took_ns, err);
}

// The index of pieces that are in the cache: each is copied there first, untimed.
static bool run_index(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    (void)err;
    char piece[PIECE_BYTES];
    uint32_t tokens[PIECE_BYTES + 64];
    struct json_index_state state = {0};
    json_index_fn *index = json_index_best();
    struct str text = lap->corpus->text;
    for (size_t at = 0; at < text.len; at += PIECE_BYTES) {
        size_t len = text.len - at < PIECE_BYTES ? text.len - at : PIECE_BYTES;
        memcpy(piece, text.at + at, len);
        int64_t begin_ns = clock_mono_ns();
        lap->sink += index(piece, len, 0, &state, tokens);
        *took_ns += clock_mono_ns() - begin_ns;
    }
    return true;
}

static bool run_scan(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    trace_builder_free(lap->builder);
    lap->builder = NULL;
    int64_t begin_ns = clock_mono_ns();
    bool ok = lap_need_builder(lap, err);
    *took_ns = clock_mono_ns() - begin_ns;
    return ok;
}

// A source that notes the time spent below it.
struct timed {
    struct source source;
    struct source *below;
    int64_t *spent_ns;
};

static bool timed_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct timed *timed = (struct timed *)source;
    int64_t begin_ns = clock_mono_ns();
    bool ok = source_read(timed->below, bytes, cap, got, err);
    *timed->spent_ns += clock_mono_ns() - begin_ns;
    return ok;
}

static void timed_close(struct source *source)
{
    source_close(((struct timed *)source)->below);
}

static uint64_t timed_consumed(const struct source *source)
{
    return source_consumed(((const struct timed *)source)->below);
}

// The scan of blocks that decompression has just left in the cache, without the decompression.
static bool run_scan_behind_zstd(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                                 struct err *err)
{
    (void)stage;
    static const struct source_ops ops = {timed_read, timed_close, timed_consumed};
    int64_t spent_ns = 0;
    struct timed timed = {{&ops}, open_packed(lap->corpus->zstd, err), &spent_ns};
    trace_builder_free(lap->builder);
    lap->builder = NULL;
    int64_t begin_ns = clock_mono_ns();
    bool ok = timed.below && lap_scan(lap, &timed.source, err);
    *took_ns = clock_mono_ns() - begin_ns - spent_ns;
    return ok;
}

// ---- trace and report
// ----------------------------------------------------------------------------

static bool run_seal(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    if (!lap_need_builder(lap, err))
        return false;
    int64_t begin_ns = clock_mono_ns();
    bool ok = lap_need_trace(lap, err);
    *took_ns = clock_mono_ns() - begin_ns;
    lap->event_count = ok ? lap->trace->input_events : 0;
    return ok;
}

static bool run_facts(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    if (!lap_need_trace(lap, err))
        return false;
    int64_t begin_ns = clock_mono_ns();
    bool ok = lap_need_facts(lap, err);
    *took_ns = clock_mono_ns() - begin_ns;
    return ok;
}

static bool run_analysis(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                         struct err *err)
{
    if (!lap_need_facts(lap, err))
        return false;
    int64_t begin_ns = clock_mono_ns();
    bool ok = stage->analysis->run(&lap->facts, &lap->report, err);
    *took_ns = clock_mono_ns() - begin_ns;
    return ok || err_wrap(err, "%s", stage->analysis->name);
}

static bool analyse(const struct trace *trace, struct err *err)
{
    static const struct analysis_options options = {.warmup_steps = -1};
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = analyse_trace(trace, &options, &report, err);
    arena_free(&arena);
    return ok;
}

static bool run_analyses(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                         struct err *err)
{
    (void)stage;
    if (!lap_need_trace(lap, err))
        return false;
    int64_t begin_ns = clock_mono_ns();
    bool ok = analyse(lap->trace, err);
    *took_ns = clock_mono_ns() - begin_ns;
    return ok;
}

static bool run_save(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    const char *path = lap->corpus->trace_path;
    if (!lap_need_trace(lap, err))
        return false;
    unlink(path);
    int64_t begin_ns = clock_mono_ns();
    bool ok = trace_file_save(lap->trace, path, err);
    *took_ns = clock_mono_ns() - begin_ns;
    struct stat st;
    if (ok && stat(path, &st) == 0)
        lap->trace_file_bytes = (uint64_t)st.st_size;
    return ok;
}

static bool run_load(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    const char *path = lap->corpus->trace_path;
    if (access(path, R_OK) != 0 &&
        (!lap_need_trace(lap, err) || !trace_file_save(lap->trace, path, err)))
        return false;
    struct budget budget = {0};
    int64_t begin_ns = clock_mono_ns();
    struct trace *trace = trace_file_load(path, &budget, err);
    *took_ns = clock_mono_ns() - begin_ns;
    if (trace)
        trace_free(trace);
    return trace != NULL;
}

// ---- the whole job
// -------------------------------------------------------------------------------

static bool whole(struct lap *lap, const char *path, int64_t *took_ns, struct err *err)
{
    struct budget budget = {0};
    int64_t begin_ns = clock_mono_ns();
    struct trace *trace = ingest_file(path, &budget, NULL, err);
    if (!trace)
        return false;
    lap->memory = (struct job_memory){.ingest_peak_bytes = budget.peak,
                                      .kept_bytes = budget.used,
                                      .string_bytes = strtab_bytes(&trace->strings)};
    bool ok = analyse(trace, err);
    *took_ns = clock_mono_ns() - begin_ns;
    lap->memory.job_peak_bytes = budget.peak;
    lap->event_count = trace->input_events;
    lap->kept_count = trace->event_count;
    trace_free(trace);
    return ok;
}

static bool run_whole_json(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                           struct err *err)
{
    (void)stage;
    return whole(lap, lap->corpus->json_path, took_ns, err);
}

static bool run_whole_gzip(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                           struct err *err)
{
    (void)stage;
    return whole(lap, lap->corpus->gzip_path, took_ns, err);
}

static bool run_whole_zstd(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                           struct err *err)
{
    (void)stage;
    return whole(lap, lap->corpus->zstd_path, took_ns, err);
}

#define ANALYSIS(name)                                                 \
    {                                                                  \
        "  " #name, .run = run_analysis, .analysis = &name##_analysis, \
    }

const struct stage stages[] = {
    {"libzstd", .heading = "decompression", .yardstick = YARD_ZSTD, .run = run_zstd},
    {"our source, zstd", .run = run_source_zstd},
    {"our source, gzip", .run = run_source_gzip},
#ifdef HAVE_SIMDJSON
    {"simdjson, all args", .heading = "reading, one thread", .yardstick = YARD_SIMDJSON,
     .run = run_simdjson, .all_args = true},
    {"simdjson, args we read", .run = run_simdjson},
#endif
    {"our index, 64 KiB in cache", .run = run_index},
    {"our scan and columns, from memory", .run = run_scan},
    {"our scan and columns, behind zstd", .yardstick = YARD_SCAN, .run = run_scan_behind_zstd},
    {"seal", .yardstick = YARD_SEAL, .run = run_seal},
    {"facts", .heading = "analyses", .run = run_facts},
    ANALYSIS(breakdown),
    ANALYSIS(step_table),
    ANALYSIS(classes),
    ANALYSIS(kernels),
    ANALYSIS(ops),
    ANALYSIS(part_rows),
    ANALYSIS(collectives),
    ANALYSIS(short_kernels),
    ANALYSIS(launches),
    ANALYSIS(environment),
    ANALYSIS(quality),
    ANALYSIS(operators),
    ANALYSIS(op_shapes),
    ANALYSIS(op_tree),
    ANALYSIS(modules),
    ANALYSIS(categories),
    ANALYSIS(uncategorized),
    ANALYSIS(idle_causes),
    ANALYSIS(idle_gaps),
    ANALYSIS(stream_idle),
    ANALYSIS(queues),
    ANALYSIS(launch_delays),
    ANALYSIS(work),
    ANALYSIS(memory_use),
    ANALYSIS(copies),
    ANALYSIS(process_groups),
    ANALYSIS(comm_sizes),
    ANALYSIS(recording),
    ANALYSIS(findings),
    ANALYSIS(summary),
    {"all analyses", .yardstick = YARD_ANALYSE, .run = run_analyses},
    {"save", .heading = "trace file", .run = run_save},
    {"load", .run = run_load},
    {"from .json", .heading = "whole job, two threads", .run = run_whole_json},
    {"from .json.gz", .run = run_whole_gzip},
    {"from .json.zst", .yardstick = YARD_WHOLE, .run = run_whole_zstd},
};

const unsigned stage_count = sizeof stages / sizeof *stages;
