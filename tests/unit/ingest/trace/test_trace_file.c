// SPDX-License-Identifier: Apache-2.0
// Saving and loading sealed traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "ingest/trace/timeline.h"
#include "ingest/trace/trace_file.h"
#include "ingest/trace/trace_file_code.h"
#include "tests/golden/trace_dump.h"

static const char text[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"name\": \"A\"}], \"distributedInfo\": {"
    "\"rank\": 3, \"pg_config\": [{\"pg_name\": \"dp\", \"pg_desc\": \"d\", \"ranks\": [0]}]},"
    "\"traceEvents\": ["
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":5,\"dur\":2,"
    "\"args\":"
    "{\"correlation\":9,\"grid\":[4,2,1],\"Collective name\":\"allreduce\",\"In msg nelems\":8,"
    "\"Comms Id\":18446744073709551615}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"l\",\"pid\":1,\"tid\":\"t\",\"ts\":1,"
    "\"dur\":1,\"args\":{\"bytes\":\"256\",\"kind\":\"2\"}},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":2,\"ts\":1.5,\"dur\":9,"
    "\"args\":{\"Sequence number\":3,\"Input Dims\":[[4]],\"Input type\":[\"int\"],"
    "\"Input Strides\":[[1]],\"Concrete Inputs\":[\"\"],\"Module Hierarchy\":\"m\"}},"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"comms\",\"pid\":1,\"tid\":2,\"ts\":2,\"dur\":1,"
    "\"args\":{\"Collective name\":\"all_to_allv\",\"In split size\":[1],\"Global rank start\":2}},"
    "{\"ph\":\"i\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":1,\"tid\":2,\"ts\":"
    "2,"
    "\"args\":{\"Addr\":77,\"Bytes\":-8,\"Total Allocated\":64,\"Device Type\":1}},"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,\"args\":{\"name\":\"stream 7\"}},"
    "17]}";

struct place {
    char folder[64], path[96];
};

static int make_folder(void **state)
{
    struct place *place = malloc(sizeof *place);
    snprintf(place->folder, sizeof place->folder, "/tmp/stepscope-trace-XXXXXX");
    if (!mkdtemp(place->folder))
        return -1;
    snprintf(place->path, sizeof place->path, "%s/t.trace", place->folder);
    *state = place;
    return 0;
}

static int remove_folder(void **state)
{
    struct place *place = *state;
    unlink(place->path);
    int rc = rmdir(place->folder);
    free(place);
    return rc;
}

static struct trace *read_text(struct budget *budget)
{
    struct err err;
    struct trace *trace = dump_read((struct str){text, sizeof text - 1}, 0, budget, &err);
    assert_non_null(trace);
    return trace;
}

static void save(const struct place *place)
{
    struct budget budget = {0};
    struct err err = {0};
    struct trace *trace = read_text(&budget);
    unlink(place->path);
    assert_true(trace_file_save(trace, place->path, &err));
    trace_free(trace);
}

static enum err_code load(const struct place *place, struct buf *out)
{
    struct budget budget = {.limit = 64 << 20};
    struct err err = {0};
    struct trace *trace = trace_file_load(place->path, &budget, &err);
    if (trace && out)
        dump_trace(out, trace);
    trace_free(trace);
    assert_int_equal(budget.used, 0);
    assert_int_equal(trace == NULL, err.code != ERR_NONE);
    return err.code;
}

static void what_is_saved_is_loaded(void **state)
{
    const struct place *place = *state;
    struct budget budget = {0};
    struct buf before = {0}, after = {0};
    struct trace *trace = read_text(&budget);
    dump_trace(&before, trace);
    trace_free(trace);
    save(place);
    assert_int_equal(load(place, &after), ERR_NONE);
    assert_string_equal(before.at, after.at);
    static const char *const kept[] = {"allreduce", "sequence 3 dims \"[[4]]\"",
                                       "in-splits \"[1]\"", "bytes -8 allocated 64",
                                       "copies 256 DtoH"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_non_null(strstr(after.at, kept[i]));
    buf_free(&before);
    buf_free(&after);
}

static void many_blocks_are_saved_and_loaded(void **state)
{
    const struct place *place = *state;
    struct budget budget = {0};
    struct err err = {0};
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    for (uint32_t i = 0; i < 200001; i++) {
        struct event_record event = {.kind = EVENT_CPU_OP, .begin_ns = (int64_t)i * i, .dur_ns = i};
        assert_true(trace_builder_add(builder, &event, &err));
    }
    struct trace *trace = trace_builder_seal(builder, &err);
    unlink(place->path);
    assert_true(trace_file_save(trace, place->path, &err));
    struct trace *back = trace_file_load(place->path, &budget, &err);
    assert_non_null(back);
    assert_memory_equal(back->begin_ns, trace->begin_ns, 200001 * sizeof(int64_t));
    assert_memory_equal(back->dur_ns, trace->dur_ns, 200001 * sizeof(int64_t));
    trace_free(trace);
    trace_free(back);
    assert_int_equal(budget.used, 0);
}

static size_t read_bytes(const struct place *place, unsigned char bytes[4096])
{
    FILE *file = fopen(place->path, "rb");
    size_t size = fread(bytes, 1, 4096, file);
    fclose(file);
    assert_in_range(size, 100, 4095);
    return size;
}

static void write_bytes(const struct place *place, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(place->path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void every_damaged_byte_and_every_cut_is_noticed(void **state)
{
    const struct place *place = *state;
    unsigned char bytes[4096];
    save(place);
    size_t size = read_bytes(place, bytes);
    for (size_t at = 0; at < size; at++) {
        bytes[at] ^= 0x41;
        write_bytes(place, bytes, size);
        bytes[at] ^= 0x41;
        assert_int_not_equal(load(place, NULL), ERR_NONE);
        write_bytes(place, bytes, at);
        assert_int_equal(load(place, NULL), ERR_FORMAT);
    }
    write_bytes(place, bytes, size);
    assert_int_equal(load(place, NULL), ERR_NONE);
}

static void a_file_that_is_cut_while_it_is_open_is_an_error(void **state)
{
    const struct place *place = *state;
    struct timeline_query query = {-TRACE_MAX_NS, TRACE_MAX_NS, 1600, TIMELINE_ROWS, false};
    struct timeline timeline;
    struct arena arena;
    struct err err = {0};
    save(place);
    struct trace_file *file = trace_file_open(place->path, &err);
    assert_non_null(file);
    assert_int_equal(truncate(place->path, 0), 0);
    arena_init(&arena, NULL);
    assert_false(timeline_read(file, &query, &arena, &timeline, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    trace_file_close(file);
    arena_free(&arena);
}

// Every index a trace has, in its first record of each kind; NULL after the last.
static const uint32_t *index_of(const struct trace *trace, size_t number)
{
    const struct collective *c = &trace->collectives[0];
    const struct op_inputs *in = &trace->op_inputs[0];
    const uint32_t *const all[] = {
        &c->name,
        &c->dtype,
        &c->group,
        &c->group_description,
        &c->group_ranks,
        &c->in_splits,
        &c->out_splits,
        &in->dims,
        &in->types,
        &in->strides,
        &in->concrete,
        &in->module,
        &trace->device_args[0].shape,
        &trace->device_args[0].collective,
        &trace->comms_ids[0].args,
        &trace->launch_args[0].copy,
        &trace->copy_calls[0].direction,
        &trace->op_args[0].inputs,
        &trace->op_args[0].collective,
        &trace->devices[0].name,
        &trace->groups[0].name,
        &trace->groups[0].description,
        &trace->groups[0].ranks,
        &trace->settings[0].key,
        &trace->settings[0].text,
    };
    size_t count = sizeof all / sizeof *all, event = number - count;
    if (number < count)
        return all[number];
    if (event < trace->event_count)
        return &trace->args[event];
    event -= trace->event_count;
    return event < trace->event_count ? &trace->name[event] : NULL;
}

// Sealed columns are writable memory.
static void overwrite(const void *at, const void *bytes, size_t size)
{
    memcpy((void *)(uintptr_t)at, bytes, size);
}

static enum err_code load_changed(const struct place *place, struct trace *trace)
{
    struct err err = {0};
    unlink(place->path);
    assert_true(trace_file_save(trace, place->path, &err));
    trace_free(trace);
    return load(place, NULL);
}

static void every_index_that_points_nowhere_is_refused(void **state)
{
    const struct place *place = *state;
    const uint32_t nowhere = 1u << 20;
    size_t refused = 0;
    for (;; refused++) {
        struct budget budget = {0};
        struct trace *trace = read_text(&budget);
        const uint32_t *index = index_of(trace, refused);
        if (!index) {
            trace_free(trace);
            break;
        }
        overwrite(index, &nowhere, sizeof nowhere);
        if (load_changed(place, trace) != ERR_FORMAT)
            fail_msg("index %zu points nowhere and was loaded", refused);
    }
    assert_int_equal(refused, 25 + 2 * 5);
}

// Same dump of the trace as when it is saved by this program.
static void a_file_of_the_version_before_is_loaded(void **state)
{
    const struct place *place = *state;
    struct err err = {0};
    struct buf dumps[2] = {{0}};
    const char *paths[] = {"tests/fuzz/corpus/fuzz_trace_file/version8", place->path};
    for (size_t i = 0; i < 2; i++) {
        struct budget budget = {0};
        struct trace *trace = trace_file_load(paths[i], &budget, &err);
        if (!trace)
            fail_msg("%s", err.msg);
        dump_trace(&dumps[i], trace);
        unlink(place->path);
        assert_true(trace_file_save(trace, place->path, &err));
        assert_int_equal(trace->event_count, 78);
        trace_free(trace);
    }
    assert_int_equal(dumps[0].len, dumps[1].len);
    assert_memory_equal(dumps[0].at, dumps[1].at, dumps[0].len);
    buf_free(&dumps[0]);
    buf_free(&dumps[1]);
}

// A value of a column that repeats, is random, is extreme or is ARGS_NONE.
static uint64_t any_value(uint64_t *random, size_t i)
{
    static const uint64_t extremes[] = {
        0, 1, ARGS_NONE, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX, 1u << 31, (1u << 31) - 1};
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    uint64_t chance = *random >> 60;
    return chance < 8 ? i / 3 : chance < 12 ? *random >> 20 : extremes[*random >> 30 & 7];
}

static void blocks_of_any_bytes_are_decoded_to_what_was_encoded(void **state)
{
    (void)state;
    static uint64_t from[BLOCK_MAX_BYTES / 8], to[BLOCK_MAX_BYTES / 8];
    static uint8_t coded[BLOCK_MAX_BYTES], kinds[COLUMN_BLOCK];
    static str_id names[COLUMN_BLOCK];
    static struct code_room room;
    const size_t counts[] = {1, 2, 3, 1000, COLUMN_BLOCK};
    const struct code_events events = {names, kinds};
    uint64_t random = 1;
    for (size_t i = 0; i < COLUMN_BLOCK; i++) {
        names[i] = (str_id)any_value(&random, i % 50);
        kinds[i] = (uint8_t)any_value(&random, i % 7);
    }
    for (size_t i = 0; i < BLOCK_MAX_BYTES / 8; i++)
        from[i] = any_value(&random, i);
    for (enum section_id id = 0; id < SECTION_COUNT; id++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts && id != SECTION_TEXT; k++) {
            size_t size = counts[k] * section_element(id);
            assert_true(size <= BLOCK_MAX_BYTES);
            struct code_block block = {id, counts[k], events, &room};
            trace_code_encode(&block, from, coded);
            memset(to, 0xAA, size);
            trace_code_decode(&block, coded, to);
            if (memcmp(from, to, size) != 0)
                fail_msg("section %d differs", (int)id);
        }
}

// Seeds of another version would be refused at once, and the fuzzer would start from nothing.
static void seeds_of_the_fuzzer_are_of_this_version(void **state)
{
    (void)state;
    struct err err = {0};
    struct trace_file *file = trace_file_open("tests/fuzz/corpus/fuzz_trace_file/names", &err);
    if (!file)
        fail_msg("%s", err.msg);
    trace_file_close(file);
}

static void a_copy_of_less_than_nothing_is_refused(void **state)
{
    const struct place *place = *state;
    const int64_t bytes = -1;
    struct budget budget = {0};
    struct trace *trace = read_text(&budget);
    overwrite(&trace->copy_calls[0].bytes, &bytes, sizeof bytes);
    assert_int_equal(load_changed(place, trace), ERR_FORMAT);
}

static void a_file_is_never_overwritten_and_a_missing_one_is_named(void **state)
{
    const struct place *place = *state;
    struct budget budget = {0};
    struct err err = {0};
    save(place);
    struct trace *trace = read_text(&budget);
    assert_false(trace_file_save(trace, place->path, &err));
    assert_int_equal(err.code, ERR_IO);
    trace_free(trace);
    assert_int_equal(load(place, NULL), ERR_NONE);
    unlink(place->path);
    assert_null(trace_file_load(place->path, &budget, &err));
    assert_non_null(strstr(err.msg, place->path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_is_loaded),
        cmocka_unit_test(many_blocks_are_saved_and_loaded),
        cmocka_unit_test(every_damaged_byte_and_every_cut_is_noticed),
        cmocka_unit_test(a_file_that_is_cut_while_it_is_open_is_an_error),
        cmocka_unit_test(every_index_that_points_nowhere_is_refused),
        cmocka_unit_test(a_file_of_the_version_before_is_loaded),
        cmocka_unit_test(blocks_of_any_bytes_are_decoded_to_what_was_encoded),
        cmocka_unit_test(seeds_of_the_fuzzer_are_of_this_version),
        cmocka_unit_test(a_copy_of_less_than_nothing_is_refused),
        cmocka_unit_test(a_file_is_never_overwritten_and_a_missing_one_is_named),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
