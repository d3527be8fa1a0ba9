// SPDX-License-Identifier: Apache-2.0
// Runs and times each stage of a trace job, and its yardsticks.
#include "tests/bench/stages.h"
#include "analysis/trace/analyses.h"
#include "ingest/base/secret_tally.h"
#include "analysis/analysis.h"
#include "ingest/ingest.h"
#include "ingest/json/json_index.h"
#include "ingest/trace/trace_file.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define BLOCK_BYTES ((size_t)256 << 10) // the reader's request size
#define PIECE_BYTES ((size_t)64 << 10)  // how much it indexes at a time

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
    int64_t begin_ns = lap_now_ns(lap);
    while (left && !ZSTD_isError(left)) {
        ZSTD_outBuffer out = {block, sizeof block, 0};
        left = ZSTD_decompressStream(stream, &out, &in);
        lap->sink += (unsigned char)block[0];
    }
    *took_ns = lap_now_ns(lap) - begin_ns;
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
    int64_t begin_ns = lap_now_ns(lap);
    bool ok =
        simdjson_pass_run(lap->simdjson, text.at, text.len, stage->simdjson_reads, &sums, &why);
    *took_ns = lap_now_ns(lap) - begin_ns;
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
    uint64_t bytes = 0;
    bool ok = source != NULL;
    int64_t begin_ns = lap_now_ns(lap);
    while (ok && got) {
        ok = source_read(source, block, sizeof block, &got, err);
        lap->sink += (unsigned char)block[0];
        bytes += got;
    }
    lap->json_bytes = bytes;
    *took_ns = lap_now_ns(lap) - begin_ns;
    if (source)
        source_close(source);
    return ok;
}

static bool run_source_zstd(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                            struct err *err)
{
    (void)stage;
    return drain(lap, corpus_unpack(lap->corpus->zstd, err), took_ns, err);
}

static bool run_source_gzip(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                            struct err *err)
{
    (void)stage;
    return drain(lap, corpus_unpack(lap->corpus->gzip, err), took_ns, err);
}

static json_index_fn *find_index(const char *name)
{
    const struct json_index *variant = json_index_variants();
    while (name && variant->name && strcmp(variant->name, name) != 0)
        variant++;
    return variant->name ? variant->run : NULL;
}

// The index of pieces in the cache: each is first copied there, untimed.
static bool run_index(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)err;
    char piece[PIECE_BYTES];
    uint32_t tokens[PIECE_BYTES + 64];
    struct json_index_state state = {0};
    json_index_fn *index = find_index(stage->variant);
    struct str text = lap->corpus->text;
    for (size_t at = 0; index && at < text.len; at += PIECE_BYTES) {
        size_t len = text.len - at < PIECE_BYTES ? text.len - at : PIECE_BYTES;
        memcpy(piece, text.at + at, len);
        int64_t begin_ns = lap_now_ns(lap);
        lap->sink += index(piece, len, 0, &state, tokens);
        *took_ns += lap_now_ns(lap) - begin_ns;
    }
    return true;
}

// Searches the whole text for secrets, in the pieces a source returns.
static bool run_secrets(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                        struct err *err)
{
    (void)stage;
    (void)err;
    struct secret_tally tally = {0};
    struct str text = lap->corpus->text;
    int64_t begin_ns = lap_now_ns(lap);
    for (size_t at = 0; at < text.len; at += BLOCK_BYTES)
        secret_tally_add(
            &tally,
            (struct str){text.at + at, text.len - at < BLOCK_BYTES ? text.len - at : BLOCK_BYTES});
    secret_tally_end(&tally);
    *took_ns = lap_now_ns(lap) - begin_ns;
    lap->sink += tally.pos;
    return true;
}

static bool run_scan(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    trace_builder_free(lap->builder);
    lap->builder = NULL;
    int64_t begin_ns = lap_now_ns(lap);
    bool ok = lap_need_builder(lap, err);
    *took_ns = lap_now_ns(lap) - begin_ns;
    return ok;
}

// A source that notes the time spent below it.
struct timed {
    struct source source;
    struct source *below;
    const struct lap *lap;
    int64_t *spent_ns;
};

static bool timed_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct timed *timed = (struct timed *)source;
    int64_t begin_ns = lap_now_ns(timed->lap);
    bool ok = source_read(timed->below, bytes, cap, got, err);
    *timed->spent_ns += lap_now_ns(timed->lap) - begin_ns;
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

// The scan of blocks that decompression has just left in the cache, without the decompression
// itself.
static bool run_scan_fed_by_zstd(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                                 struct err *err)
{
    (void)stage;
    static const struct source_ops ops = {
        .read = timed_read, .close = timed_close, .consumed = timed_consumed};
    int64_t spent_ns = 0;
    struct timed timed = {{&ops}, corpus_unpack(lap->corpus->zstd, err), lap, &spent_ns};
    trace_builder_free(lap->builder);
    lap->builder = NULL;
    int64_t begin_ns = lap_now_ns(lap);
    bool ok = timed.below && lap_scan(lap, &timed.source, err);
    *took_ns = lap_now_ns(lap) - begin_ns - spent_ns;
    return ok;
}

// ---- trace and report
// ----------------------------------------------------------------------------

static bool run_seal(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    if (!lap_need_builder(lap, err))
        return false;
    int64_t begin_ns = lap_now_ns(lap);
    bool ok = lap_need_trace(lap, err);
    *took_ns = lap_now_ns(lap) - begin_ns;
    lap->event_count = ok ? lap->trace->input_events : 0;
    return ok;
}

bool stages_facts(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    if (!lap_need_trace(lap, err))
        return false;
    int64_t begin_ns = lap_now_ns(lap);
    bool ok = lap_need_facts(lap, err);
    *took_ns = lap_now_ns(lap) - begin_ns;
    return ok;
}

static bool run_analysis(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                         struct err *err)
{
    if (!lap_need_facts(lap, err))
        return false;
    struct arena scratch;
    arena_init(&scratch, lap->facts.budget);
    int64_t begin_ns = lap_now_ns(lap);
    bool ok = stage->analysis->run(&lap->facts, &scratch, &lap->report, err);
    arena_free(&scratch);
    *took_ns = lap_now_ns(lap) - begin_ns;
    return ok || err_wrap(err, "%s", stage->analysis->name);
}

static bool analyze(const struct trace *trace, struct cores *cores, struct err *err)
{
    struct analysis_options options = {.warmup_steps = -1, .cores = cores};
    struct arena arena;
    arena_init(&arena, trace->budget);
    struct report report = {.arena = &arena};
    bool ok = analyze_trace(trace, &options, &report, err);
    arena_free(&arena);
    return ok;
}

// The cores a row may use besides its own thread: all of the machine's, or none.
static struct cores *init_cores(const struct stage *stage, struct cores *cores)
{
    cores_init(cores, (unsigned)sysconf(_SC_NPROCESSORS_ONLN));
    cores_hold(cores);
    return stage->has_helpers ? cores : NULL;
}

static bool run_analyses(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                         struct err *err)
{
    struct cores cores;
    if (!lap_need_trace(lap, err))
        return false;
    int64_t begin_ns = lap_now_ns(lap);
    bool ok = analyze(lap->trace, init_cores(stage, &cores), err);
    *took_ns = lap_now_ns(lap) - begin_ns;
    return ok;
}

static bool run_save(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err)
{
    (void)stage;
    const char *path = lap->corpus->trace_path;
    if (!lap_need_trace(lap, err))
        return false;
    unlink(path);
    int64_t begin_ns = lap_now_ns(lap);
    bool ok = trace_file_save(lap->trace, path, err);
    *took_ns = lap_now_ns(lap) - begin_ns;
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
    int64_t begin_ns = lap_now_ns(lap);
    struct trace *trace = trace_file_load(path, &budget, err);
    *took_ns = lap_now_ns(lap) - begin_ns;
    if (trace)
        trace_free(trace);
    return trace != NULL;
}

// ---- the whole job
// -------------------------------------------------------------------------------

static bool whole(struct lap *lap, const char *path, struct cores *cores, int64_t *took_ns,
                  struct err *err)
{
    struct budget budget = {0};
    struct progress progress = {.cores = cores};
    int64_t begin_ns = lap_now_ns(lap);
    struct trace *trace = ingest_file(path, &budget, &progress, err);
    if (!trace)
        return false;
    lap->memory = (struct job_memory){.ingest_peak_bytes = budget.peak,
                                      .kept_bytes = budget.used,
                                      .string_bytes = strtab_bytes(&trace->strings)};
    bool ok = analyze(trace, cores, err);
    *took_ns = lap_now_ns(lap) - begin_ns;
    lap->memory.job_peak_bytes = budget.peak;
    lap->event_count = trace->input_events;
    lap->kept_count = trace->event_count;
    trace_free(trace);
    return ok;
}

static bool run_whole_json(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                           struct err *err)
{
    struct cores cores;
    return whole(lap, lap->corpus->json_path, init_cores(stage, &cores), took_ns, err);
}

static bool run_whole_gzip(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                           struct err *err)
{
    struct cores cores;
    return whole(lap, lap->corpus->gzip_path, init_cores(stage, &cores), took_ns, err);
}

static bool run_whole_zstd(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                           struct err *err)
{
    struct cores cores;
    return whole(lap, lap->corpus->zstd_path, init_cores(stage, &cores), took_ns, err);
}

// All threads of the job on this thread's core.
static bool run_whole_alone(struct lap *lap, const struct stage *stage, int64_t *took_ns,
                            struct err *err)
{
    (void)stage;
    cpu_set_t before, one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_getaffinity(0, sizeof before, &before) != 0 ||
        sched_setaffinity(0, sizeof one, &one) != 0)
        return err_set_errno(err, "cannot stay on one core");
    bool ok = whole(lap, lap->corpus->zstd_path, NULL, took_ns, err);
    return sched_setaffinity(0, sizeof before, &before) == 0 && ok;
}

#define INDEX(name)                                                             \
    {                                                                           \
        "our index, 64 KiB in cache, " name, .run = run_index, .variant = name, \
                                             .needs_text = true,                \
    }

#define ANALYSIS(name)                                                 \
    {                                                                  \
        "  " #name, .run = run_analysis, .analysis = &name##_analysis, \
    }

const struct stage stages[] = {
    {"libzstd", .heading = "decompression", .yardstick = YARD_ZSTD, .run = run_zstd},
    {"our source, zstd", .run = run_source_zstd},
    {"our source, gzip", .run = run_source_gzip, .needs_text = true},
#ifdef HAVE_SIMDJSON
    {"simdjson, the same fields", .heading = "reading, one thread", .yardstick = YARD_SIMDJSON,
     .run = run_simdjson, .simdjson_reads = SIMDJSON_SAME, .needs_text = true},
    {"simdjson, seven fields", .run = run_simdjson, .simdjson_reads = SIMDJSON_FEW,
     .needs_text = true},
#endif
    INDEX("AVX-512"),
    INDEX("AVX2"),
    INDEX("NEON"),
    INDEX("scalar"),
    {"search for secrets", .run = run_secrets, .needs_text = true},
    {"our scan and columns, from memory", .run = run_scan, .needs_text = true},
    {"our scan and columns, fed by zstd", .yardstick = YARD_SCAN, .run = run_scan_fed_by_zstd},
    {"seal", .yardstick = YARD_SEAL, .run = run_seal},
    {"facts", .heading = "analyses", .run = stages_facts},
    ANALYSIS(breakdown),
    ANALYSIS(step_table),
    ANALYSIS(classes),
    ANALYSIS(kernels),
    ANALYSIS(part_rows),
    ANALYSIS(collectives),
    ANALYSIS(short_kernels),
    ANALYSIS(launches),
    ANALYSIS(environment),
    ANALYSIS(trust),
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
    ANALYSIS(roofline),
    ANALYSIS(memory_use),
    ANALYSIS(copies),
    ANALYSIS(communication),
    ANALYSIS(recording),
    ANALYSIS(summary),
    {"all analyses, one thread", .yardstick = YARD_ANALYZE, .run = run_analyses},
    {"all analyses, all cores", .run = run_analyses, .has_helpers = true},
    {"save", .heading = "trace file", .run = run_save},
    {"load", .run = run_load},
    {"from .json.zst, one core", .heading = "whole job", .run = run_whole_alone},
    {"from .json, all cores", .run = run_whole_json, .has_helpers = true, .needs_text = true},
    {"from .json.gz, all cores", .run = run_whole_gzip, .has_helpers = true, .needs_text = true},
    {"from .json.zst, all cores", .yardstick = YARD_WHOLE, .run = run_whole_zstd,
     .has_helpers = true},
};

const unsigned stage_count = sizeof stages / sizeof *stages;
