// SPDX-License-Identifier: Apache-2.0
// A run's randomness comes from the seed, an operator's from the seed and its name: an operator
// that occurs in several places is faster or slower in all of them.
#include "tests/tracegen/repeat.h"

#include "tests/tracegen/splitmix.h"

#include <string.h>

enum { PPM = 1000000, DEPTH = 64 };

// The open rows of the host threads, as far as the instructions show.
struct places {
    const struct instruction *open[THREAD_COUNT][DEPTH];
    size_t depth[THREAD_COUNT];
    enum host_thread thread;
};

static int64_t draw_ppm(const struct arguments *arguments, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    struct splitmix rng = {hash ^ (arguments->seed * UINT64_C(0x9e3779b97f4a7c15))};
    splitmix_next(&rng);
    return splitmix_jitter(&rng, PPM, arguments->run_noise_ppm);
}

int64_t repeat_run_ppm(const struct arguments *arguments)
{
    return draw_ppm(arguments, "");
}

static void follow_rows(struct places *places, const struct instruction *instruction)
{
    size_t *depth = &places->depth[places->thread];
    if (instruction->code == CODE_THREAD)
        places->thread = instruction->thread;
    if (instruction->code == CODE_BEGIN && *depth < DEPTH)
        places->open[places->thread][(*depth)++] = instruction;
    if (instruction->code == CODE_END && *depth > 0)
        (*depth)--;
}

// The operator that launches the work, the innermost open one; otherwise the kernel's name.
static const char *name_of(const struct places *places, const struct instruction *work)
{
    for (size_t i = places->depth[places->thread]; i > 0; i--) {
        const struct instruction *row = places->open[places->thread][i - 1];
        if (row->kind == ROW_OP || row->kind == ROW_COLLECTIVE_OP)
            return row->name;
    }
    return work->kernel->name;
}

int64_t repeat_apply(const struct arguments *arguments, struct program *program)
{
    struct places places = {.thread = THREAD_MAIN};
    int64_t added_ns = 0;
    bool found = !arguments->slow_op;
    for (size_t k = 0; k < program->count; k++) {
        struct instruction *work = &program->instructions[k];
        follow_rows(&places, work);
        if (!work->kernel || work->ns <= 0)
            continue;
        const char *name = name_of(&places, work);
        bool slow = arguments->slow_op && strcmp(name, arguments->slow_op) == 0;
        int64_t percent = slow ? arguments->slow_op_percent : 100;
        int64_t count = work->kernels > 1 ? work->kernels : 1;
        double factor = (double)draw_ppm(arguments, name) * (double)percent / 100 / (double)PPM;
        found |= slow;
        if (work->schedule == SCHEDULE_ALL)
            added_ns += work->ns * (percent - 100) / 100 * count;
        work->ns = (int64_t)((double)work->ns * factor);
        work->planted_ns = (int64_t)((double)work->planted_ns * factor);
    }
    if (!found)
        outfile_die("found no operator %s in the step, expected one that launches kernels",
                    arguments->slow_op);
    return added_ns;
}
