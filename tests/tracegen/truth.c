// SPDX-License-Identifier: Apache-2.0
// Writes truth.json.
#include "tests/tracegen/truth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const class_names[LOGBOOK_CLASSES] = {
    [LOGBOOK_COMPUTE] = "compute",
    [LOGBOOK_COMMUNICATION] = "communication",
    [LOGBOOK_MEMORY] = "memory",
};

static void say_breakdown(FILE *out, const struct logbook_times *t)
{
    fprintf(out,
            "\"breakdown\": {\"window_ns\": %lld, \"compute_ns\": %lld, \"exposed_comm_ns\": %lld, "
            "\"exposed_memory_ns\": %lld, \"idle_ns\": %lld, \"busy_ns\": %lld, "
            "\"total_comm_ns\": %lld, \"total_memory_ns\": %lld}",
            (long long)t->window_ns, (long long)t->compute_ns, (long long)t->exposed_comm_ns,
            (long long)t->exposed_memory_ns, (long long)t->idle_ns, (long long)t->busy_ns,
            (long long)t->total_comm_ns, (long long)t->total_memory_ns);
}

static void say_times(FILE *out, const struct logbook_times *t)
{
    fprintf(out, "\"device_events\": %lld, \"classes\": {", (long long)t->events);
    for (int class = 0; class < LOGBOOK_CLASSES; class ++)
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
                     const struct logbook_step *step)
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

// Names in truth.json for the columns of a table of accounts.
struct account_words {
    const char *table, *key, *detail;
    bool bytes, flops;
};

static const struct account_words account_words[LEDGER_TABLES] = {
    [LEDGER_OPS] = {"ops", "name", NULL, false, false},
    [LEDGER_MODULES] = {"modules", "path", "phase", false, false},
    [LEDGER_WORK] = {"work", "op", "dims", true, true},
    [LEDGER_GROUPS] = {"process_groups", "process_group", NULL, true, false},
    [LEDGER_COLLECTIVES] = {"collectives", "process_group", "kind", true, false},
    [LEDGER_CATEGORIES] = {"categories", "category", NULL, false, false},
    [LEDGER_COPIES] = {"copies", "direction", "host_memory", true, false},
};

static void say_text(FILE *out, const char *key, const char *value)
{
    fprintf(out, "\"%s\": \"", key);
    for (; *value; value++)
        fprintf(out, *value == '"' ? "\\%c" : "%c", *value);
    fprintf(out, "\", ");
}

static void say_account(FILE *out, const struct account *account)
{
    const struct account_words *words = &account_words[account->table];
    const struct ledger_entry *sum = &account->sum;
    fprintf(out, "{");
    say_text(out, words->key, account->key);
    if (words->detail)
        say_text(out, words->detail, account->detail);
    if (words->bytes)
        fprintf(out, "\"bytes\": %lld, ", (long long)sum->bytes);
    if (words->flops)
        fprintf(out, "\"flops\": %lld, ", (long long)sum->flops);
    fprintf(out, "\"events\": %lld, \"calls\": %lld, \"total_ns\": %lld, \"owned_ns\": %lld}",
            (long long)account->events, (long long)sum->calls, (long long)sum->total_ns,
            (long long)sum->owned_ns);
}

static void say_accounts(FILE *out, const struct ledger *ledger)
{
    for (int table = 0; table < LEDGER_TABLES; table++) {
        const char *comma = "";
        fprintf(out, ",\n      \"%s\": [", account_words[table].table);
        for (size_t i = 0; i < ledger->count; i++) {
            if ((int)ledger->accounts[i].table != table)
                continue;
            fprintf(out, "%s\n        ", comma);
            say_account(out, &ledger->accounts[i]);
            comma = ",";
        }
        fprintf(out, "]");
    }
}

// Only idle time whose cause was planted.
static void say_gaps(FILE *out, const struct logbook *logbook, int64_t clock_ns)
{
    int64_t sum_ns[IDLE_COUNT] = {0}, gaps[IDLE_COUNT] = {0};
    const char *comma = "";
    fprintf(out, ",\n      \"gaps\": [");
    for (size_t i = 0; i < logbook->gap_count; i++) {
        const struct logbook_gap *gap = &logbook->gaps[i];
        sum_ns[gap->cause] += gap->end_ns - gap->begin_ns;
        gaps[gap->cause]++;
        fprintf(out, "%s\n        {\"cause\": \"%s\", \"begin_ns\": %lld, \"dur_ns\": %lld}", comma,
                idle_cause_name(gap->cause), (long long)(gap->begin_ns + clock_ns),
                (long long)(gap->end_ns - gap->begin_ns));
        comma = ",";
    }
    fprintf(out, "],\n      \"idle_causes\": {");
    comma = "";
    for (int cause = 1; cause < IDLE_COUNT; cause++) {
        if (!gaps[cause])
            continue;
        fprintf(out, "%s\"%s\": {\"gaps\": %lld, \"total_ns\": %lld}", comma,
                idle_cause_name((enum idle_cause)cause), (long long)gaps[cause],
                (long long)sum_ns[cause]);
        comma = ", ";
    }
    fprintf(out, "}");
}

// What was live at the peak, by operator; memory from before the recording has none.
static void say_peak(FILE *out, const struct heap *heap)
{
    struct ledger alive = {0};
    struct ledger_entry entry = {.bytes = heap->base_bytes};
    ledger_add(&alive, LEDGER_OPS, "", "", &entry);
    entry = (struct ledger_entry){.bytes = heap->peak_lost_bytes};
    if (entry.bytes)
        ledger_add(&alive, LEDGER_OPS, heap->losing_op, "", &entry);
    for (size_t i = 0; i < heap->count; i++) {
        entry = (struct ledger_entry){.calls = 1, .bytes = heap->at_peak[i].bytes};
        if (entry.bytes)
            ledger_add(&alive, LEDGER_OPS, heap->at_peak[i].op ? heap->at_peak[i].op : "", "",
                       &entry);
    }
    for (size_t i = 0; i < alive.count; i++) {
        fprintf(out, i ? ", {" : "{");
        say_text(out, "op", alive.accounts[i].key);
        fprintf(out, "\"bytes\": %lld}", (long long)alive.accounts[i].sum.bytes);
    }
    ledger_free(&alive);
}

static void say_memory(FILE *out, const struct machine *machine, const struct rank *rank)
{
    const struct heap *heap = &rank->heap;
    if (!machine->arguments->memory)
        return;
    fprintf(out,
            ",\n      \"memory\": {\"events\": %lld, \"peak_allocated_bytes\": %lld, "
            "\"peak_reserved_bytes\": %lld, \"fragmentation_bytes\": %lld, \"peak_ns\": %lld, "
            "\"begin_bytes\": %lld, \"end_bytes\": %lld, \"leak_bytes_per_step\": %lld, ",
            (long long)heap->events, (long long)heap->peak_bytes, (long long)heap->reserved_bytes,
            (long long)(heap->reserved_at_peak_bytes - heap->peak_bytes),
            (long long)(heap->peak_ns + rank->clock_ns), (long long)heap->base_bytes,
            (long long)heap->allocated_bytes, (long long)machine->arguments->leak_bytes);
    say_text(out, "peak_op", heap->peak_op ? heap->peak_op : "");
    fprintf(out, "\"alive_at_peak\": [");
    say_peak(out, heap);
    fprintf(out, "]}");
}

// Device events with their launches, for checks that compute other figures.
static void say_events(FILE *out, const struct vendor *vendor, const struct rank *rank)
{
    const int32_t streams[STREAM_COUNT] = {vendor->compute_stream, vendor->comm_stream,
                                           vendor->side_stream};
    const struct logbook *logbook = &rank->logbook;
    if (!logbook->keeps_events)
        return;
    fprintf(out, ",\n      \"events\": [");
    for (size_t i = 0; i < logbook->event_count; i++) {
        const struct logbook_span *event = &logbook->events[i];
        fprintf(out,
                "%s\n        {\"call\": \"%s\", \"stream\": \"%d\", \"call_begin_ns\": %lld, "
                "\"call_end_ns\": %lld, \"begin_ns\": %lld, \"end_ns\": %lld}",
                i ? "," : "", event->api ? event->api->name : "", streams[event->work->stream],
                (long long)event->api_begin_ns, (long long)event->api_end_ns,
                (long long)event->begin_ns, (long long)event->end_ns);
    }
    fprintf(out, "]");
}

static void say_rank(FILE *out, const struct machine *machine, const struct rank *rank,
                     uint64_t text_bytes)
{
    static const char *const suffixes[] = {"", ".gz", ".zst"};
    const struct logbook *logbook = &rank->logbook;
    struct logbook_times total = logbook_total(logbook);
    int64_t plant_ns[PLANT_COUNT] = {0};
    for (size_t i = 0; i < logbook->step_count; i++)
        for (int plant = 0; plant < PLANT_COUNT; plant++)
            plant_ns[plant] += logbook->steps[i].plant_ns[plant];
    fprintf(out, "    {\"rank\": %d, \"file\": \"rank%d.json%s\", \"json_bytes\": %llu, ",
            rank->index, rank->index, suffixes[machine->arguments->format],
            (unsigned long long)text_bytes);
    fprintf(out, "\"clock_offset_ns\": %lld, \"step_count\": %zu, ", (long long)rank->clock_ns,
            logbook->step_count);
    say_times(out, &total);
    fprintf(out, ", \"plants_ns\": {");
    say_plants(out, machine->arguments, plant_ns);
    fprintf(out, "},\n      \"steps\": [\n");
    for (size_t i = 0; i < logbook->step_count; i++) {
        say_step(out, machine, rank, &logbook->steps[i]);
        fprintf(out, i + 1 < logbook->step_count ? ",\n" : "\n");
    }
    fprintf(out, "      ]");
    say_gaps(out, logbook, rank->clock_ns);
    say_memory(out, machine, rank);
    say_accounts(out, &logbook->ledger);
    say_events(out, machine->vendor, rank);
    fprintf(out, "}");
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
    fprintf(out, "},\n  \"run_ppm\": %lld, \"slow_op\": ", (long long)machine->run_ppm);
    if (a->slow_op)
        fprintf(out, "{\"name\": \"%s\", \"percent\": %lld, \"ns_per_step\": %lld}", a->slow_op,
                (long long)a->slow_op_percent, (long long)machine->program->slow_op_ns);
    else
        fprintf(out, "null");
    fprintf(out, ",\n  \"ranks\": [\n");
    for (int32_t i = 0; i < a->ranks; i++) {
        say_rank(out, machine, &machine->ranks[i], text_bytes[i]);
        fprintf(out, i + 1 < a->ranks ? ",\n" : "\n");
    }
    fprintf(out, "  ]\n}\n");
    if (fclose(out) != 0)
        outfile_die("cannot write %s: %s", path, strerror(errno));
}
