// SPDX-License-Identifier: Apache-2.0
// Loading a damaged trace file fails cleanly or gives a trace that keeps its promises. Fuzzing
// builds do not compare the header checksum.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/replay/whatif_job.h"
#include "ingest/trace/timeline.h"
#include "ingest/trace/trace_file.h"
#include "server/exports/event_source.h"
#include "tests/golden/trace_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool write_all(int fd, const uint8_t *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static void use(const struct trace *trace)
{
    struct buf out = {0};
    if (dump_broken_promise(trace))
        abort();
    dump_trace(&out, trace);
    buf_free(&out);
}

// As the service does with a run's traces, in its own process.
static void replay(struct trace *trace)
{
    static const char *const changes[] = {"host_free", "data_ready", "scale=3:kernel=*",
                                          "drop:op=*", "set=1us:host=*"};
    struct budget *budget = trace->budget;
    struct analysis_options options = {.warmup_steps = -1};
    struct change_list list = {.count = 0};
    struct whatif_answer answer;
    struct job_path path = {.rank = 0};
    struct err err = {0};
    struct whatif_job job;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        if (!change_parse(str_of(changes[i]), &list, &err))
            abort();
    struct arena arena;
    arena_init(&arena, budget);
    bool opened = whatif_job_open(&job, 1, budget, &err);
    if (!opened)
        trace_free(trace);
    bool ok = opened &&
              whatif_job_add(&job, &(struct whatif_source){trace, 0, "fuzzed"}, &options, &err) &&
              whatif_job_sort(&job, &err) &&
              whatif_job_ask(&job, &list, &arena, &answer, &path, &err);
    arena_free(&arena);
    whatif_job_close(&job);
    if (!ok && err.code == ERR_NONE)
        abort();
}

static void check_slices(const struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->slice_count; i++)
        if (timeline->slices[i].name >= timeline->name_count ||
            timeline->slices[i].end_ns < timeline->slices[i].begin_ns)
            abort();
}

// Windows of a file that need not load as a trace.
static void look(const char *path)
{
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct err err = {0};
    struct trace_file *file = trace_file_open(path, &err);
    for (int64_t width_ns = 1000; file && width_ns < TRACE_MAX_NS / 1000; width_ns *= 1000) {
        struct timeline_query query = {trace_file_header(file)->begin_ns, 0, 100, 64, false};
        struct timeline timeline;
        struct arena arena;
        query.to_ns = query.from_ns + width_ns;
        arena_init(&arena, &budget);
        if (timeline_read(file, &query, &arena, &timeline, &err))
            check_slices(&timeline);
        arena_free(&arena);
    }
    trace_file_close(file);
}

static struct trace_file *open_again(void *context, size_t index, struct err *err)
{
    (void)index;
    return trace_file_open(context, err);
}

// Every format of events, of the same file as two ranks.
static void export_all(char *path)
{
    struct event_rank ranks[2] = {{.rank = 0}, {.rank = 1}};
    struct event_source source = {.ranks = ranks,
                                  .count = 2,
                                  .open = open_again,
                                  .context = path,
                                  .title = STR("fuzzed"),
                                  .to_ns = -1};
    struct err err = {0};
    bool measured = event_source_measure(&source, &err);
    for (size_t i = 0; measured && event_exports[i]; i++) {
        struct buf out = {0};
        void *state = NULL;
        bool more = true, ok = event_exports[i]->open(&source, &state, &err);
        while (ok && more) {
            buf_clear(&out);
            ok = event_exports[i]->next(state, &out, &more, &err);
        }
        if (state)
            event_exports[i]->close(state);
        buf_free(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || !write_all(fd, data, size))
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct err err = {0};
    struct trace *trace = trace_file_load(path, &budget, &err);
    bool loaded = trace;
    if (trace) {
        use(trace);
        replay(trace); // and frees it
    }
    look(path);
    export_all(path);
    close(fd);
    if (budget.used || (!loaded && err.code == ERR_NONE))
        abort();
    return 0;
}
