// SPDX-License-Identifier: Apache-2.0
// Builds a program of the wanted size out of the transformer model.
#include "tests/tracegen/program.h"

#include "tests/tracegen/probe.h"
#include "tests/tracegen/transformer.h"

#include <stdlib.h>

static struct program *build(const struct arguments *arguments, int32_t layers, int64_t filler)
{
    struct program *program = outfile_memory(1, sizeof *program);
    transformer_write(program, arguments, layers, filler);
    return program;
}

static int64_t count_events(const struct arguments *arguments, int32_t layers)
{
    struct program *program = build(arguments, layers, 0);
    int64_t events = program->events;
    program_free(program);
    return events;
}

struct program *program_build(const struct arguments *arguments)
{
    int64_t wanted = arguments->events;
    if (arguments->job == JOB_PROBE) {
        struct program *probe = outfile_memory(1, sizeof *probe);
        probe_write(probe, arguments);
        return probe;
    }
    if (!wanted)
        return build(arguments, arguments->layers, 0);
    if (arguments->layers) {
        int64_t missing = wanted - count_events(arguments, arguments->layers);
        return build(arguments, arguments->layers,
                     missing > 0 ? missing / transformer_fillers(arguments->layers) : 0);
    }
    int64_t two = count_events(arguments, 2);
    int64_t per_layer = count_events(arguments, 3) - two;
    int64_t layers = 2 + (wanted - two) / per_layer;
    return build(arguments, layers > 1 ? (int32_t)layers : 1, 0);
}

void program_free(struct program *program)
{
    for (size_t i = 0; i < program->text_count; i++)
        free(program->texts[i]);
    free(program->texts);
    free(program->instructions);
    free(program);
}
