// SPDX-License-Identifier: Apache-2.0
// Writing truth.json.
#include "tests/tracegen/truth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const class_names[TALLY_CLASSES] = {
    [TALLY_COMPUTE] = "compute",
    [TALLY_COMMUNICATION] = "communication",
    [TALLY_MEMORY] = "memory",
};

static void say_breakdown(FILE *out, const struct tally_times *t)
{
    fprintf(out,
            "\"breakdown\": {\"window_ns\": %lld, \"compute_ns\": %lld, \"exposed_comm_ns\": %lld, "
            "\"exposed_memory_ns\": %lld, \"idle_ns\": %lld, \"busy_ns\": %lld, "
            "\"total_comm_ns\": %lld, \"total_memory_ns\": %lld}",
            (long long)t->window_ns, (long long)t->compute_ns, (long long)t->exposed_comm_ns,
            (long long)t->exposed_memory_ns, (long long)t->idle_ns, (long long)t->busy_ns,
            (long long)t->total_comm_ns, (long long)t->total_memory_ns);
}

static void say_times(FILE *out, const struct tally_times *t)
{
    fprintf(out, "\"device_events\": %lld, \"classes\": {", (long long)t->events);
    for (int class = 0; class < TALLY_CLASSES; class ++)
        fprintf(out, "%s\"%s\": {\"events\": %lld, \"sum_ns\": %lld}", class ? ", " : "",
                class_names[class], (long long)t->class_events[class],
                (long long)t->class_sum_ns[class]);
    fprintf(out, "}, ");
    say_breakdown(out, t);
}

static void say_plants(FILE *out, const struct arguments *arguments, const int64_t *plant_ns)
{
    const char *comma = "";
    for (int i = 0; i < PLANT_COUNT; i++) {
        if (!arguments->plant_ns[i])
            continue;
        fprintf(out, "%s\"%s\": %lld", comma, arguments_plant_name((enum plant)i),
                (long long)plant_ns[i]);
        comma = ", ";
    }
}

static void say_step(FILE *out, const struct machine *machine, const struct rank *rank,
                     const struct tally_step *step)
{
    fprintf(out, "        {\"step\": %d, \"begin_ns\": %lld, \"end_ns\": %lld, ", step->number,
            (long long)(step->begin_ns + rank->clock_ns),
            (long long)(step->end_ns + rank->clock_ns));
    say_times(out, &step->times);
    fprintf(out, ", \"collective_wait_ns\": %lld, \"collective_transfer_ns\": %lld",
            (long long)step->wait_ns, (long long)step->transfer_ns);
    fprintf(out, ", \"plants_ns\": {");
    say_plants(out, machine->arguments, step->plant_ns);
    fprintf(out, "}}");
}

static void say_rank(FILE *out, const struct machine *machine, const struct rank *rank,
                     uint64_t text_bytes)
{
    static const char *const suffixes[] = {"", ".gz", ".zst"};
    const struct tally *tally = &rank->tally;
    struct tally_times total = tally_total(tally);
    int64_t plant_ns[PLANT_COUNT] = {0};
    for (size_t i = 0; i < tally->step_count; i++)
        for (int plant = 0; plant < PLANT_COUNT; plant++)
            plant_ns[plant] += tally->steps[i].plant_ns[plant];
    fprintf(out, "    {\"rank\": %d, \"file\": \"rank%d.json%s\", \"json_bytes\": %llu, ",
            rank->index, rank->index, suffixes[machine->arguments->format],
            (unsigned long long)text_bytes);
    fprintf(out, "\"clock_offset_ns\": %lld, \"step_count\": %zu, ", (long long)rank->clock_ns,
            tally->step_count);
    say_times(out, &total);
    fprintf(out, ", \"plants_ns\": {");
    say_plants(out, machine->arguments, plant_ns);
    fprintf(out, "},\n      \"steps\": [\n");
    for (size_t i = 0; i < tally->step_count; i++) {
        say_step(out, machine, rank, &tally->steps[i]);
        fprintf(out, i + 1 < tally->step_count ? ",\n" : "\n");
    }
    fprintf(out, "      ]}");
}

void truth_write(const char *path, const struct machine *machine, const uint64_t *text_bytes)
{
    const struct arguments *a = machine->arguments;
    FILE *out = fopen(path, "we");
    if (!out)
        outfile_die("cannot create %s: %s", path, strerror(errno));
    fprintf(out,
            "{\n  \"seed\": %llu, \"flavour\": \"%s\", \"strategy\": \"%s\", \"world_size\": %d,\n"
            "  \"events_per_step\": %lld, \"requested_ns_per_step\": {",
            (unsigned long long)a->seed, a->flavour == VENDOR_ROCM ? "rocm" : "cuda",
            a->strategy == STRATEGY_FSDP ? "fsdp" : "ddp", a->world,
            (long long)machine->program->events);
    say_plants(out, a, a->plant_ns);
    fprintf(out, "},\n  \"ranks\": [\n");
    for (int32_t i = 0; i < a->ranks; i++) {
        say_rank(out, machine, &machine->ranks[i], text_bytes[i]);
        fprintf(out, i + 1 < a->ranks ? ",\n" : "\n");
    }
    fprintf(out, "  ]\n}\n");
    if (fclose(out) != 0)
        outfile_die("cannot write %s: %s", path, strerror(errno));
}
