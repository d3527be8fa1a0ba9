// SPDX-License-Identifier: Apache-2.0
// Any bytes as a Flight Recorder dump in either form: read or refused, the same in pieces as in
// one, with every link inside its table; as the dumps of two ranks a diagnosis.
#include <stdint.h>
#include <stdlib.h>

#include "analysis/evidence/flight_tables.h"
#include "analysis/hangs/hangs.h"
#include "ingest/base/figures.h"
#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct format format_flight_recorder, format_flight_recorder_json;

#define MOST_MEMORY ((uint64_t)64 << 20)

static uint64_t check(const struct flight *flight)
{
    uint64_t sum = flight->entry_count;
    for (size_t i = 0; i < flight->group_count; i++) {
        struct str list = strtab_get(&flight->texts, flight->groups[i].ranks);
        int64_t rank;
        while (flight_next_rank(&list, &rank))
            sum = sum * 31 + (uint64_t)rank;
        sum = sum * 31 + strtab_get(&flight->texts, flight->groups[i].name).len +
              (uint64_t)flight->groups[i].completed;
    }
    for (size_t i = 0; i < flight->entry_count; i++) {
        const struct flight_entry *entry = &flight->entries[i];
        if (entry->group >= flight->group_count || entry->state >= FLIGHT_STATES)
            abort();
        sum = sum * 31 + entry->group + strtab_get(&flight->texts, entry->op).len +
              (uint64_t)entry->input.elements;
    }
    return sum;
}

// As a run keeps it.
static void check_tables(const struct evidence *evidence)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = MOST_MEMORY};
    struct evidence again;
    bool is;
    arena_init(&arena, &budget);
    evidence_init(&again, &budget);
    struct report report = {.arena = &arena};
    bool ok = flight_tables_add(evidence, STR("x"), &report, &err) &&
              flight_tables_read(&report, &again, &is, &err);
    if (ok ? again.flight.group_count != evidence->flight.group_count : err.code == ERR_NONE)
        abort();
    (void)check(&again.flight);
    evidence_free(&again);
    arena_free(&arena);
}

static uint64_t read_in_steps(const struct format *format, struct str bytes, size_t step)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = MOST_MEMORY};
    struct evidence evidence;
    arena_init(&arena, NULL);
    evidence_init(&evidence, &budget);
    struct figures figures = {.arena = &arena};
    struct format_input input = {
        .budget = &budget, .evidence = &evidence, .filename = STR("_dump_3")};
    input.source = source_mem_open(bytes.at, bytes.len, step, &err);
    if (!input.source)
        abort();
    bool ok = format->gather(&input, &err);
    if (ok == (err.code != ERR_NONE))
        abort();
    uint64_t sum = ok ? check(&evidence.flight) : err.pos;
    flight_report(&evidence.flight, ok ? &figures : NULL);
    if (ok)
        check_tables(&evidence);
    source_close(input.source);
    evidence_free(&evidence);
    if (budget.used)
        abort();
    arena_free(&arena);
    return sum;
}

static bool read_as(const struct format *format, struct str bytes, struct str filename,
                    struct evidence *evidence)
{
    struct err err = {0};
    struct format_input input = {
        .budget = evidence->budget, .evidence = evidence, .filename = filename};
    input.source = source_mem_open(bytes.at, bytes.len, 0, &err);
    bool ok = input.source && format->gather(&input, &err);
    source_close(input.source);
    return ok;
}

static void diagnose(const struct format *format, struct str bytes)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = MOST_MEMORY};
    struct evidence ranks[2];
    struct hangs hangs;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    evidence_init(&ranks[0], &budget);
    evidence_init(&ranks[1], &budget);
    const struct flight *dumps[] = {&ranks[0].flight, &ranks[1].flight};
    if (read_as(format, bytes, STR("_dump_3"), &ranks[0]) &&
        read_as(format, bytes, STR("_dump_0"), &ranks[1]) &&
        hangs_find(dumps, 2, &report, &hangs, &err) && hangs.finding_count == 0)
        abort();
    evidence_free(&ranks[0]);
    evidence_free(&ranks[1]);
    arena_free(&arena);
    if (budget.used)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format *const formats[] = {&format_flight_recorder, &format_flight_recorder_json};
    if (size == 0)
        return 0;
    struct str bytes = {(const char *)data + 1, size - 1};
    for (int i = 0; i < 2; i++) {
        diagnose(formats[i], bytes);
        if (read_in_steps(formats[i], bytes, 0) !=
            read_in_steps(formats[i], bytes, (size_t)data[0] + 1))
            abort();
    }
    return 0;
}
