// SPDX-License-Identifier: Apache-2.0
// Generates profiler traces of a simulated training job, and the truth about them.
#include "tests/tracegen/arguments.h"
#include "tests/tracegen/kineto.h"
#include "tests/tracegen/mesh.h"
#include "tests/tracegen/repeat.h"
#include "tests/tracegen/truth.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void make_folder(const char *path)
{
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        outfile_die("cannot create folder %s: %s", path, strerror(errno));
}

static struct kineto **open_files(const struct machine *machine)
{
    static const char *const suffixes[] = {"", ".gz", ".zst"};
    const struct arguments *arguments = machine->arguments;
    struct kineto **files = outfile_memory((size_t)arguments->ranks, sizeof(struct kineto *));
    for (int32_t i = 0; i < arguments->ranks; i++) {
        char path[PATH_MAX];
        int n = snprintf(path, sizeof path, "%s/rank%d.json%s", arguments->out, i,
                         suffixes[arguments->format]);
        if (n >= (int)sizeof path)
            outfile_die("found a path of %d bytes, expected fewer than %d", n, PATH_MAX);
        files[i] = kineto_open(path, machine, &machine->ranks[i]);
    }
    return files;
}

static void write_ranks(const struct machine *machine, struct kineto **files)
{
    for (int32_t i = 0; i < machine->arguments->ranks; i++)
        kineto_step(files[i]);
}

static void run_steps(struct machine *machine, struct kineto **files)
{
    const struct arguments *arguments = machine->arguments;
    int32_t done = 0;
    bool more = true;
    while (more) {
        machine_step(machine);
        write_ranks(machine, files);
        done++;
        more = arguments->size ? kineto_text_bytes(files[0]) < arguments->size
                               : done < arguments->steps;
    }
    machine_finish(machine);
    write_ranks(machine, files);
}

static void close_files(const struct machine *machine, struct kineto **files)
{
    const struct arguments *arguments = machine->arguments;
    uint64_t *bytes = outfile_memory((size_t)arguments->ranks, sizeof *bytes);
    for (int32_t i = 0; i < arguments->ranks; i++)
        bytes[i] = kineto_close(files[i]);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/truth.json", arguments->out);
    truth_write(path, machine, bytes);
    free(bytes);
    free(files);
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    if (argc > 1 && strcmp(argv[1], "mesh") == 0)
        return mesh_main(argc - 1, argv + 1);
    if (!arguments_parse(argc, argv, &arguments))
        return 2;
    make_folder(arguments.out);
    if (arguments.shape) {
        shape_generate(&arguments);
        return 0;
    }
    struct program *program = program_build(&arguments);
    program->slow_op_ns = repeat_apply(&arguments, program);
    struct machine *machine = machine_new(&arguments, program);
    struct kineto **files = open_files(machine);
    run_steps(machine, files);
    close_files(machine, files);
    machine_free(machine);
    program_free(program);
    return 0;
}
