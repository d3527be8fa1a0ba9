// SPDX-License-Identifier: Apache-2.0
// Memory snapshots in small, put together by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/source/format.h"
#include "ingest/source/source.h"
#include "ingest/torch/snapshot_calls.h"

// --- writing ------------------------------------------------------------------------------------

static void put_text(struct buf *out, const char *text)
{
    buf_add(out, "U", 1);
    buf_putc(out, (char)strlen(text));
    buf_puts(out, text);
}

static void put_int(struct buf *out, uint32_t number)
{
    buf_putc(out, 'J');
    for (int i = 0; i < 4; i++)
        buf_putc(out, (char)(number >> 8 * i));
}

static void put_member(struct buf *out, const char *key, uint32_t number)
{
    put_text(out, key);
    put_int(out, number);
}

static void put_word(struct buf *out, const char *key, const char *word)
{
    put_text(out, key);
    put_text(out, word);
}

static void put_block(struct buf *out, const char *state, uint32_t size)
{
    buf_puts(out, "}(");
    put_word(out, "state", state);
    put_member(out, "size", size);
    buf_puts(out, "u");
}

// With two blocks: one in use, the rest free.
static void put_segment(struct buf *out, uint32_t device, uint32_t total, uint32_t allocated)
{
    buf_puts(out, "}(");
    put_member(out, "device", device);
    put_member(out, "total_size", total);
    put_member(out, "allocated_size", allocated);
    put_member(out, "active_size", allocated + 1);
    put_word(out, "segment_type", "large");
    put_text(out, "blocks");
    buf_puts(out, "](");
    put_block(out, "active_allocated", allocated);
    put_block(out, "inactive", total - allocated);
    buf_puts(out, "eu");
}

static void put_event(struct buf *out, const char *action, uint32_t size)
{
    buf_puts(out, "}(");
    put_word(out, "action", action);
    put_member(out, "size", size);
    buf_puts(out, "u");
}

static void put_traces(struct buf *out)
{
    put_text(out, "device_traces");
    buf_puts(out, "](](e]("); // the first device has none
    put_event(out, "free_completed", 30);
    put_event(out, "alloc", 50);
    put_event(out, "alloc", 20);
    put_event(out, "free_requested", 20);
    put_event(out, "free_completed", 20);
    put_event(out, "not known", 5);
    buf_puts(out, "ee");
}

// --- counting -----------------------------------------------------------------------------------

static bool count_bytes(struct buf *bytes, struct buf *out, struct err *err)
{
    *err = (struct err){0};
    struct arena arena;
    struct budget budget = {0};
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct str head = {bytes->at, bytes->len};
    const struct format *format = format_find(head, STR("snapshot.pickle"));
    assert_non_null(format);
    assert_string_equal(format->name, "memory-snapshot");
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(bytes->at, bytes->len, 0, err);
    bool ok = format->count(&input, err);
    source_close(input.source);
    assert_int_equal(budget.used, 0);
    figures_json(&figures, out);
    arena_free(&arena);
    buf_free(bytes);
    return ok;
}

static void assert_counted(struct buf *bytes, const char *expected)
{
    struct err err;
    struct buf out = {0};
    if (!count_bytes(bytes, &out, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(out.at, expected);
    buf_free(&out);
}

static void assert_refused(struct buf *bytes, const char *message)
{
    struct err err;
    struct buf out = {0};
    assert_false(count_bytes(bytes, &out, &err));
    assert_int_equal(err.code, ERR_FORMAT);
    if (!strstr(err.msg, message))
        fail_msg("%s", err.msg);
    buf_free(&out);
}

static void segments_blocks_and_traces_are_counted(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_puts(&bytes, "\x80\x02}(");
    put_text(&bytes, "segments");
    buf_puts(&bytes, "](");
    put_segment(&bytes, 0, 100, 60);
    put_segment(&bytes, 1, 1000, 700);
    buf_puts(&bytes, "e");
    put_traces(&bytes);
    put_text(&bytes, "external_annotations");
    buf_puts(&bytes, "](N}(");
    put_word(&bytes, "stage", "START");
    put_word(&bytes, "name", "Optimizer.step#AdamW.step");
    buf_puts(&bytes, "ueu.");
    assert_counted(
        &bytes,
        "{\"segments\":2,\"reserved\":1100,\"allocated\":760,\"active\":762,\"blocks\":4,"
        "\"largest_inactive_block\":300,"
        "\"block_states\":{\"inactive\":2,\"active_allocated\":2},"
        "\"segment_types\":{\"large\":2},"
        "\"traces\":[{\"device\":1,\"events\":6,"
        "\"actions\":{\"alloc\":2,\"free_completed\":2,\"free_requested\":1,"
        "\"other\":1},"
        "\"net_bytes\":20,\"peak_over_start\":40,\"lowest\":-30,\"baseline\":681,"
        "\"peak_allocated\":721,\"allocated_at_end\":700}],\"annotations\":1,\"inactive\":338,"
        "\"failed_requests\":0,\"peak_allocated\":721,\"peak_device\":1,\"peak_reserved\":1000,"
        "\"most_by_one_call\":0,\"which_is\":\"\",\"peak_without_call\":721}");
}

enum host { NO_HOST, HOST, HOST_BY_DEVICE };

static void put_snapshot_with(struct buf *out, enum host host)
{
    buf_puts(out, "\x80\x04}(");
    put_text(out, "segments");
    buf_puts(out, "](");
    put_segment(out, 0, 100, 60);
    put_segment(out, 1, 1000, 700);
    buf_puts(out, "e");
    put_traces(out);
    if (host != NO_HOST) {
        put_text(out, "host_segments");
        buf_puts(out, "](");
        put_segment(out, (uint32_t)-1, 3000, 2000);
        put_segment(out, (uint32_t)-1, 3000, 2000);
        buf_puts(out, "e");
        put_text(out, "host_traces");
        buf_puts(out, host == HOST ? "](" : "](](");
        put_event(out, "alloc", 2000);
        put_event(out, "alloc", 2000);
        buf_puts(out, host == HOST ? "e" : "e]");
        put_event(out, "alloc", 2000);
        buf_puts(out, host == HOST ? "a" : "ae");
    }
    buf_puts(out, "u.");
}

// PyTorch 2.14 has pinned memory beside that of devices, with record_pinned_host_memory=True.
static void memory_of_the_host_counts_for_no_device(void **state)
{
    (void)state;
    struct buf without = {0};
    struct err err;
    for (enum host host = NO_HOST; host <= HOST_BY_DEVICE; host++) {
        struct buf bytes = {0}, out = {0};
        put_snapshot_with(&bytes, host);
        if (!count_bytes(&bytes, host == NO_HOST ? &without : &out, &err))
            fail_msg("%s", err.msg);
        if (host != NO_HOST)
            assert_string_equal(out.at, without.at);
        buf_free(&out);
    }
    buf_free(&without);
}

static void old_snapshots_are_a_list_of_segments(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_puts(&bytes, "\x80\x04](");
    put_segment(&bytes, 0, 100, 60);
    buf_puts(&bytes, "e.");
    assert_counted(
        &bytes, "{\"segments\":1,\"reserved\":100,\"allocated\":60,\"active\":61,\"blocks\":2,"
                "\"largest_inactive_block\":40,"
                "\"block_states\":{\"inactive\":1,\"active_allocated\":1},"
                "\"segment_types\":{\"large\":1},\"traces\":[],\"annotations\":0,\"inactive\":39}");
}

static void members_of_other_types_count_as_nothing(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_puts(&bytes, "\x80\x02}(");
    put_text(&bytes, "segments");
    buf_puts(&bytes, "](N}(");
    put_word(&bytes, "allocated_size", "much");
    put_member(&bytes, "total_size", (uint32_t)-5);
    put_member(&bytes, "device", 70000);
    buf_puts(&bytes, "ueu.");
    assert_counted(&bytes,
                   "{\"segments\":1,\"reserved\":0,\"allocated\":0,\"active\":0,\"blocks\":0,"
                   "\"largest_inactive_block\":0,\"segment_types\":{\"other\":1},"
                   "\"traces\":[],\"annotations\":0,\"inactive\":0}");
}

static void other_pickles_are_no_snapshots(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_puts(&bytes, "\x80\x02}(");
    put_member(&bytes, "device_traces", 1);
    buf_puts(&bytes, "u.");
    assert_refused(&bytes, "without a list of segments");
    buf_puts(&bytes, "\x80\x02}(");
    put_text(&bytes, "device_traces");
    buf_puts(&bytes, "cos\nsystem\n");
    assert_refused(&bytes, "which names a class or function");
}

static void snapshots_in_json_are_counted_alike(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_puts(&bytes,
             "{\"segments\": [{\"device\": 0, \"total_size\": 100, \"allocated_size\": 60,"
             " \"active_size\": 61, \"segment_type\": \"large\", \"frames\": [], \"blocks\": ["
             "{\"size\": 60, \"state\": \"active_allocated\"},"
             " {\"state\": \"inactive\", \"frames\": [{\"line\": 1}], \"size\": 40}]}],"
             " \"device_traces\": [[{\"action\": \"alloc\", \"size\": 50, \"frames\": []},"
             " {\"action\": \"free_completed\", \"size\": 30}], []],"
             " \"external_annotations\": [{}]}");
    assert_counted(
        &bytes,
        "{\"segments\":1,\"reserved\":100,\"allocated\":60,\"active\":61,\"blocks\":2,"
        "\"largest_inactive_block\":40,"
        "\"block_states\":{\"inactive\":1,\"active_allocated\":1},"
        "\"segment_types\":{\"large\":1},"
        "\"traces\":[{\"device\":0,\"events\":2,"
        "\"actions\":{\"alloc\":1,\"free_completed\":1},"
        "\"net_bytes\":20,\"peak_over_start\":50,\"lowest\":0,\"baseline\":41,"
        "\"peak_allocated\":91,\"allocated_at_end\":60}],\"annotations\":1,\"inactive\":39,"
        "\"failed_requests\":0,\"peak_allocated\":91,\"peak_device\":0,\"peak_reserved\":100,"
        "\"most_by_one_call\":0,\"which_is\":\"\",\"peak_without_call\":91}");
    buf_puts(&bytes, "[{\"total_size\": 8, \"allocated_size\": -1, \"blocks\": 3}, null]");
    assert_counted(
        &bytes, "{\"segments\":1,\"reserved\":8,\"allocated\":0,\"active\":0,"
                "\"blocks\":0,\"largest_inactive_block\":0,"
                "\"segment_types\":{\"other\":1},\"traces\":[],\"annotations\":0,\"inactive\":8}");
}

// What a ring buffer lost stands in the blocks with its calls; sizes of blocks are rounded up.
static void blocks_from_before_count_for_their_call(void **state)
{
    (void)state;
    struct err err;
    struct buf bytes = {0}, out = {0};
#define CALL(NAME) "\"frames\":[{\"name\":\"" NAME "\",\"filename\":\"m.py\",\"line\":8}]"
    buf_puts(
        &bytes,
        "{\"segments\":[{\"device\":1,\"total_size\":4096,\"allocated_size\":2048,"
        "\"active_size\":2048,\"segment_type\":\"small\",\"blocks\":["
        "{\"address\":1,\"size\":1024,\"state\":\"active_allocated\"," CALL(
            "build") "},"
                     "{\"address\":2,\"size\":512,\"state\":\"active_allocated\"},"
                     "{\"address\":3,\"size\":512,\"state\":\"active_allocated\"," CALL(
                         "step") "}]}],"
                                 "\"device_traces\":[[],[{\"action\":\"alloc\",\"addr\":3,\"size\":"
                                 "9,\"time_us\":70," CALL("step") "},{\"action\":\"oom\",\"size\":"
                                                                  "8192,\"device_free\":77,"
                                                                  "\"time_us\":80}]]}");
    if (!count_bytes(&bytes, &out, &err))
        fail_msg("%s", err.msg);
    assert_non_null(strstr(
        out.at, "\"inactive\":2048,\"failed_requests\":1,\"failed\":[{\"device\":1,\"time_us\":80,"
                "\"requested\":8192,\"device_free\":77}],\"last_failed\":\"8192 bytes on device 1, "
                "where 77 were free\",\"peak_allocated\":2048,\"peak_device\":1,"
                "\"peak_time_us\":70,\"peak_reserved\":4096,\"most_by_one_call\":1024,"
                "\"which_is\":\"build (m.py:8)\",\"peak_without_call\":1015}"));
    buf_free(&out);
}

// All blocks at the end were recorded, so nothing was there before but the rounding of their sizes.
static void a_recording_from_the_start_begins_with_nothing(void **state)
{
    (void)state;
    static const char *const addresses[] = {"1", "2"}; // of a block; 2: not recorded
    for (size_t i = 0; i < 2; i++) {
        struct err err;
        struct buf bytes = {0}, out = {0};
        buf_printf(&bytes,
                   "{\"segments\":[{\"device\":0,\"total_size\":2048,\"allocated_size\":512,"
                   "\"active_size\":512,\"blocks\":[{\"address\":%s,\"size\":512,"
                   "\"state\":\"active_allocated\"}]}],\"device_traces\":[["
                   "{\"action\":\"alloc\",\"addr\":1,\"size\":9},"
                   "{\"action\":\"alloc\",\"addr\":5,\"size\":8},"
                   "{\"action\":\"free_completed\",\"addr\":5,\"size\":8}]]}",
                   addresses[i]);
        if (!count_bytes(&bytes, &out, &err))
            fail_msg("%s", err.msg);
        assert_non_null(strstr(out.at, i ? "\"baseline\":503,\"peak_allocated\":520"
                                         : "\"baseline\":0,\"peak_allocated\":17"));
        buf_free(&out);
    }
}

// As the pickle of Python has a number of 64 bits whose highest is set.
static void put_address(struct buf *out, const char *key, uint64_t address)
{
    put_text(out, key);
    buf_puts(out, "\x8a\x09");
    for (int i = 0; i < 8; i++)
        buf_putc(out, (char)(address >> 8 * i));
    buf_putc(out, 0);
}

static void put_block_at(struct buf *out, uint64_t address, uint32_t size)
{
    buf_puts(out, "}(");
    put_address(out, "address", address);
    put_member(out, "size", size);
    put_word(out, "state", "active_allocated");
    buf_puts(out, "u");
}

static void put_alloc_at(struct buf *out, uint64_t address, uint32_t size)
{
    buf_puts(out, "}(");
    put_word(out, "action", "alloc");
    put_address(out, "addr", address);
    put_member(out, "size", size);
    buf_puts(out, "u");
}

#define HIGH   0xffffd556b6400000u
#define HIGHER 0xffffd556b6600000u

static void put_high_addresses(struct buf *out)
{
    buf_puts(out, "\x80\x04}(");
    put_text(out, "segments");
    buf_puts(out, "](}(");
    put_member(out, "total_size", 2048);
    put_member(out, "allocated_size", 1024);
    put_text(out, "blocks");
    buf_puts(out, "](");
    put_block_at(out, HIGH, 512);
    put_block_at(out, HIGHER, 512);
    buf_puts(out, "eue");
    put_text(out, "device_traces");
    buf_puts(out, "](](");
    put_alloc_at(out, HIGH, 100);
    put_alloc_at(out, HIGHER, 200);
    buf_puts(out, "eeu.");
}

static void put_high_addresses_in_json(struct buf *out)
{
    const unsigned long long high = HIGH, higher = HIGHER;
    buf_printf(out,
               "{\"segments\":[{\"total_size\":2048,\"allocated_size\":1024,\"blocks\":["
               "{\"address\":%llu,\"size\":512,\"state\":\"active_allocated\"},"
               "{\"address\":%llu,\"size\":512,\"state\":\"active_allocated\"}]}],"
               "\"device_traces\":[[{\"action\":\"alloc\",\"addr\":%llu,\"size\":100},"
               "{\"action\":\"alloc\",\"addr\":%llu,\"size\":200}]]}",
               high, higher, high, higher);
}

// Those of Intel's GPUs have the highest bit set.
static void addresses_use_all_bits(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct err err;
        struct buf bytes = {0}, out = {0};
        if (json)
            put_high_addresses_in_json(&bytes);
        else
            put_high_addresses(&bytes);
        if (!count_bytes(&bytes, &out, &err))
            fail_msg("%s", err.msg);
        assert_non_null(strstr(out.at, "\"baseline\":0,\"peak_allocated\":300,"));
        buf_free(&out);
    }
}

static void pages_of_memory_viz_have_the_pickle_in_them(void **state)
{
    (void)state;
    struct buf bytes = {0};
    // of base64.b64encode(pickle.dumps({"segments": [{"device": 0, "total_size": 9,
    //                                                 "allocated_size": 5}]}) + b"\0")
    buf_puts(&bytes, "\n<!DOCTYPE html>\n<html>\n<script type=\"module\">\n"
                     "import {add_local_files} from \"MemoryViz.js\"\n"
                     "const local_files = [{\"name\": \"snapshot.pickle\", \"base64\": "
                     "\"gASVQwAAAAAAAAB9lIwIc2VnbWVudHOUXZR9lCiMBmRldmljZZRLAIwKdG90YWxfc2l6ZZRLCYw"
                     "OYWxsb2NhdGVkX3NpemWUSwV1YXMuAA==\"}]\n"
                     "add_local_files(local_files, 'Active Memory Timeline')\n</script>");
    assert_counted(
        &bytes, "{\"segments\":1,\"reserved\":9,\"allocated\":5,\"active\":0,"
                "\"blocks\":0,\"largest_inactive_block\":0,"
                "\"segment_types\":{\"other\":1},\"traces\":[],\"annotations\":0,\"inactive\":4}");
    buf_puts(&bytes, "<html>const local_files = [{\"base64\":\"gA\"}]");
    assert_refused(&bytes, "without a snapshot in it");
}

// Blocks of PyTorch 1.13 and 2.0 follow one another within their segment.
static void blocks_without_an_address_are_found_by_their_sizes(void **state)
{
    (void)state;
    struct err err;
    struct buf bytes = {0}, out = {0};
#define USED   "{\"size\":512,\"state\":\"active_allocated\"}"
#define UNUSED "{\"size\":512,\"state\":\"inactive\"}"
    buf_puts(&bytes, "{\"segments\":[{\"address\":4096,\"total_size\":2048,\"allocated_size\":1024,"
                     "\"blocks\":[" USED "," UNUSED "," USED "," UNUSED "]}],\"device_traces\":[["
                     "{\"action\":\"alloc\",\"addr\":4096,\"size\":9},"
                     "{\"action\":\"alloc\",\"addr\":5120,\"size\":8}]]}");
    if (!count_bytes(&bytes, &out, &err))
        fail_msg("%s", err.msg);
    assert_non_null(strstr(out.at, "\"baseline\":0,\"peak_allocated\":17,"));
    buf_free(&out);
}

// A weight of 1000 bytes that was there, 500 and 300 allocated, 500 freed; the host's 77 bytes come
// as one more device. As PyTorch's profile_plot writes it: base64.b64encode(pickle.dumps(...)) of
// {"device_traces": [[{"action": "alloc", "addr": 8192, "size": 500, "frames": F, ...}, ...], [H]],
//  "segments": [{"device": 0, "address": 4096, "total_size": 8492, "stream": 0, "blocks": [
//   {"size": 1000, "state": "active_allocated", "requested_size": 1000, "frames": ()},
//   {"size": 7192, "state": "inactive"}, {"size": 300, "state": "active_allocated", ...}]}, ...]}
static void pages_of_a_profile_say_what_is_allocated_on_devices(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_puts(&bytes,
             "<html>const local_files = [{\"name\": \"snapshot.pickle\", \"base64\": "
             "\"gASVHgIAAAAAAAB9lCiMDWRldmljZV90cmFjZXOUXZQoXZQofZQojAZhY3Rpb26UjAVhbGxvY5SM"
             "BGFkZHKUTQAgjARzaXpllE30AYwGc3RyZWFtlEsAjAZmcmFtZXOUXZR9lCiMCGZpbGVuYW1llIwE"
             "bm9uZZSMBGxpbmWUSwCMBG5hbWWUjAFmlHVhjAhjYXRlZ29yeZSMB3Vua25vd26UdX2UKGgFaAZo"
             "B00AMGgITSwBaAlLAGgKXZR9lChoDWgOaA9LAGgQjAFnlHVhaBJoE3V9lChoBYwOZnJlZV9yZXF1"
             "ZXN0ZWSUaAdNACBoCE30AWgJSwBoCmgLdX2UKGgFjA5mcmVlX2NvbXBsZXRlZJRoB00AIGgITfQB"
             "aAlLAGgKaAt1ZV2UfZQoaAVoBmgHS0BoCEtNaAlLAGgKaAtoEmgTdWFljAhzZWdtZW50c5RdlCh9"
             "lCiMBmRldmljZZRLAIwHYWRkcmVzc5RNABCMCnRvdGFsX3NpemWUTSwhaAlLAIwGYmxvY2tzlF2U"
             "KH2UKGgITegDjAVzdGF0ZZSMEGFjdGl2ZV9hbGxvY2F0ZWSUjA5yZXF1ZXN0ZWRfc2l6ZZRN6ANo"
             "Cil1fZQoaAhNGBxoJ4wIaW5hY3RpdmWUdX2UKGgITSwBaCdoKGgpTSwBaApoFXVldX2UKGghSwFo"
             "IktAaCNLTWgJSwBoJF2UfZQoaAhLTWgnaChoKUtNaApoC3VhdWV1LgAA\"}]");
    assert_counted(&bytes,
                   "{\"allocated\":1300,\"traces\":[{\"device\":0,\"events\":4,"
                   "\"actions\":{\"alloc\":2,\"free_completed\":1,\"free_requested\":1},"
                   "\"net_bytes\":300,\"peak_over_start\":800,\"lowest\":0,\"baseline\":1000,"
                   "\"peak_allocated\":1800,\"allocated_at_end\":1300}],\"annotations\":0,"
                   "\"failed_requests\":0,\"peak_allocated\":1800,\"peak_device\":0,"
                   "\"most_by_one_call\":500,\"which_is\":\"f (none:0)\","
                   "\"peak_without_call\":1000}");
}

static void snapshots_in_json_that_are_cut_are_refused(void **state)
{
    (void)state;
    struct buf bytes = {0};
    buf_puts(&bytes, "{\"device_traces\": [[{\"size\": 1}, {\"size\"");
    assert_refused(&bytes, "ends early");
    buf_puts(&bytes, "{\"device_traces\": [[}]");
    assert_refused(&bytes, "bad JSON");
}

// A segment that is in the list 1000 times, with a block that is in it 1000 times.
static void what_is_referred_to_again_counts_once(void **state)
{
    (void)state;
    enum { TIMES = 1000 };
    struct buf bytes = {0};
    buf_puts(&bytes, "\x80\x02}(");
    put_text(&bytes, "segments");
    buf_puts(&bytes, "](}(");
    put_text(&bytes, "blocks");
    buf_puts(&bytes, "](");
    put_block(&bytes, "inactive", 1);
    for (int i = 0; i < TIMES; i++)
        buf_puts(&bytes, i ? "h\1" : "q\1");
    buf_puts(&bytes, "e");
    put_member(&bytes, "allocated_size", 1);
    buf_puts(&bytes, "u");
    for (int i = 0; i < TIMES; i++)
        buf_puts(&bytes, i ? "h\2" : "q\2");
    buf_puts(&bytes, "eu.");
    assert_counted(
        &bytes, "{\"segments\":1,\"reserved\":0,\"allocated\":1,\"active\":0,\"blocks\":1,"
                "\"largest_inactive_block\":1,\"block_states\":{\"inactive\":1},"
                "\"segment_types\":{\"other\":1},\"traces\":[],\"annotations\":0,\"inactive\":0}");
}

// --- many events --------------------------------------------------------------------------------

static void put_long(struct buf *out, uint64_t number)
{
    buf_puts(out, "\x8a\x08");
    for (int i = 0; i < 8; i++)
        buf_putc(out, (char)(number >> 8 * i));
}

// As Python writes it, with numbers for all that it might refer to again. frames: the number of a
// list, or one to come.
static void put_numbered_event(struct buf *out, bool alloc, uint64_t address, bool again)
{
    buf_puts(out, "}\x94(");
    put_word(out, "action", alloc ? "alloc" : "free_completed");
    put_text(out, "addr");
    put_long(out, address);
    put_member(out, "size", 512);
    put_text(out, "frames");
    buf_puts(out, "]\x94");
    if (again)
        buf_puts(out, "(h\x04\x65"); // the frame of the first event
    buf_puts(out, "u");
}

static uint64_t memory_of(struct buf *bytes, struct evidence *evidence, struct budget *budget)
{
    struct err err = {.pos = ERR_NO_POS};
    evidence_init(evidence, budget);
    struct format_input input = {.budget = budget, .evidence = evidence};
    input.source = source_mem_open(bytes->at, bytes->len, 0, &err);
    if (!format_find((struct str){bytes->at, bytes->len}, STR("x"))->gather(&input, &err))
        fail_msg("%s", err.msg);
    source_close(input.source);
    buf_free(bytes);
    return budget->peak;
}

static uint64_t memory_of_events(int count, struct evidence *evidence, struct budget *budget)
{
    struct buf bytes = {0};
    buf_puts(&bytes, "\x80\x04}\x94(");
    put_text(&bytes, "segments");
    buf_puts(&bytes, "]\x94");
    put_text(&bytes, "device_traces");
    buf_puts(&bytes, "]\x94(]\x94(}("); // numbers 2 and 3
    put_word(&bytes, "action", "alloc");
    put_text(&bytes, "frames");
    buf_puts(&bytes, "](}\x94("); // number 4: a frame
    put_word(&bytes, "name", "forward");
    put_word(&bytes, "filename", "model.py");
    put_member(&bytes, "line", 7);
    buf_puts(&bytes, "ueu");
    for (int i = 0; i < count; i++) {
        put_numbered_event(&bytes, true, 0x700000000000 + (uint64_t)i, i % 2);
        put_numbered_event(&bytes, false, 0x700000000000 + (uint64_t)i, i % 2);
        if (i % 500 == 499)
            buf_puts(&bytes, "e("); // as many as Python adds at once
    }
    buf_puts(&bytes, "eeu.");
    return memory_of(&bytes, evidence, budget);
}

static void events_take_no_memory_but_of_what_is_in_use(void **state)
{
    (void)state;
    struct evidence few, many;
    struct budget budget_few = {0}, budget_many = {0};
    uint64_t before = memory_of_events(10000, &few, &budget_few);
    uint64_t after = memory_of_events(200000, &many, &budget_many);
    assert_int_equal(many.memory->devices[0]->events, 400001);
    assert_int_equal(many.memory->live.count, 1); // the first, without an address
    assert_int_equal(many.memory->stack_count, 2);
    assert_int_equal(many.memory->devices[0]->sites[1].allocations, 100001);
    if (after > before + before / 4)
        fail_msg("%llu bytes became %llu", (unsigned long long)before, (unsigned long long)after);
    evidence_free(&few);
    evidence_free(&many);
    assert_int_equal(budget_many.used, 0);
}

static const struct cached {
    const char *type;
    uint32_t used, unused;
    bool expandable, private;
} cached[] = {
    {"large", 2 << 20, 38 << 20, true, false}, // the second page
    {"small", 512, (4 << 20) - 512, true, false},
    {"large", 0, 20 << 20, false, false},
    {"large", 0, 20 << 20, false, true}, // of a graph
    {"large", 512, (20 << 20) - 512, false, false},
};

static void put_cached(struct buf *out, const struct cached *segment)
{
    buf_puts(out, "}(");
    put_member(out, "address", 5 << 20);
    put_member(out, "total_size", segment->used + segment->unused);
    put_member(out, "allocated_size", segment->used);
    put_word(out, "segment_type", segment->type);
    put_text(out, "is_expandable");
    buf_puts(out, segment->expandable ? "\x88" : "\x89");
    put_text(out, "segment_pool_id");
    put_int(out, 0);
    put_int(out, segment->private);
    buf_puts(out, "\x86");
    put_text(out, "blocks");
    buf_puts(out, "](");
    if (segment->used)
        put_block(out, "active_allocated", segment->used);
    put_block(out, "inactive", segment->unused);
    buf_puts(out, "eu");
}

static void put_cached_in_json(struct buf *out, const struct cached *segment)
{
    buf_printf(out,
               "%s{\"address\":5242880,\"total_size\":%u,\"allocated_size\":%u,"
               "\"segment_type\":\"%s\",\"is_expandable\":%s,\"segment_pool_id\":[0,%d],"
               "\"blocks\":[{\"size\":%u,\"state\":\"active_allocated\"},"
               "{\"size\":%u,\"state\":\"inactive\"}]}",
               segment == cached ? "{\"segments\":[" : ",", segment->used + segment->unused,
               segment->used, segment->type, segment->expandable ? "true" : "false",
               segment->private, segment->used, segment->unused);
}

static void whole_pages_are_given_back_but_none_of_a_graph(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct budget budget = {0};
        struct evidence evidence;
        struct buf bytes = {0};
        if (!json) {
            buf_puts(&bytes, "\x80\x04}(");
            put_text(&bytes, "segments");
            buf_puts(&bytes, "](");
        }
        for (size_t i = 0; i < sizeof cached / sizeof *cached; i++)
            (json ? put_cached_in_json : put_cached)(&bytes, &cached[i]);
        buf_puts(&bytes, json ? "]}" : "eu.");
        memory_of(&bytes, &evidence, &budget);
        assert_int_equal(evidence.memory->devices[0]->releasable, (20 + 2 + 20) << 20);
        evidence_free(&evidence);
    }
}

static void calls_say_what_memory_is_for(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file;
        enum snapshot_category category;
    } cases[] = {
        {"step", "C:\\Lib\\site-packages\\torch\\optim\\adamw.py", SNAPSHOT_OPTIMIZER},
        {"forward", "/srv/job/model.py", SNAPSHOT_ACTIVATIONS},
        {"backward", "/usr/lib/python3/dist-packages/torch/_tensor.py", SNAPSHOT_GRADIENTS},
        {"convert", "/x/site-packages/torch/nn/modules/module.py", SNAPSHOT_WEIGHTS},
        {"main", "train.py", SNAPSHOT_OTHER},
    };
    struct budget budget = {0};
    struct evidence evidence;
    struct snapshot_calls calls = {0};
    struct err err = {.pos = ERR_NO_POS};
    uint32_t stack;
    evidence_init(&evidence, &budget);
    assert_true(memory_snapshot_start(&evidence, STR("a/rank3_memory_snapshot.pickle"), &err));
    assert_int_equal(evidence.memory->rank, 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snapshot_calls_open(&calls);
        snapshot_calls_add(&calls, &(struct call_frame){STR("helper"), STR("x/util.py"), 1});
        snapshot_calls_add(&calls,
                           &(struct call_frame){str_of(cases[i].name), str_of(cases[i].file), 2});
        assert_true(snapshot_calls_close(&calls, &evidence, &stack, &err));
        assert_int_equal(snapshot_category_of(evidence.memory, stack), cases[i].category);
        struct str shown = snapshot_frames(evidence.memory, stack);
        assert_true(str_starts_with(shown, STR("helper (util.py:1)")));
    }
    assert_int_equal(snapshot_category_of(evidence.memory, SNAPSHOT_NO_STACK), SNAPSHOT_GRADIENTS);
    assert_int_equal(snapshot_rank_of_name(STR("s/000012_step_10.pickle")), 12);
    assert_int_equal(snapshot_rank_of_name(STR("memory_snapshot.pickle")), -1);
    snapshot_calls_free(&calls);
    evidence_free(&evidence);
}

// PyTorch records compiled code as well, but for stacks="python".
static void calls_of_compiled_code_are_left_out(void **state)
{
    (void)state;
    const struct call_frame inner[] = {
        {STR("torch::unwind::unwind()"), STR("??"), 0},
        {STR("torch::cuda::(anonymous namespace)::gather_with_cpp()"), STR("memory_snapshot.cpp"),
         0},
        {STR("c10::cuda::CUDACachingAllocator::Native::allocate(unsigned long)"), STR(""), 0},
        {STR("at::_ops::nll_loss_backward::redispatch(c10::DispatchKeySet)"), STR("??"), 0},
        {STR("at::_ops::nll_loss_backward::call(at::Tensor const&)"), STR("??"), 0},
    };
    const struct call_frame autograd[] = {
        {STR("torch::autograd::generated::NllLossBackward0::apply(std::vector<at::Tensor>&&)"),
         STR("??"), 0},
        {STR("torch::autograd::Engine::thread_main(std::shared_ptr<torch::GraphTask> const&)"),
         STR("??"), 0},
    };
    const struct call_frame user = {STR("forward"), STR("/srv/job/model.py"), 7};
    struct budget budget = {0};
    struct evidence evidence;
    struct snapshot_calls calls = {0};
    struct err err = {.pos = ERR_NO_POS};
    evidence_init(&evidence, &budget);
    assert_true(memory_snapshot_start(&evidence, STR("x.pickle"), &err));
    for (int of_user = 0; of_user < 2; of_user++) {
        uint32_t stack;
        snapshot_calls_open(&calls);
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
            snapshot_calls_add(&calls, &inner[i]);
        for (size_t i = 0; i < 2; i++)
            snapshot_calls_add(&calls, of_user ? &user : &autograd[i]);
        assert_true(snapshot_calls_close(&calls, &evidence, &stack, &err));
        assert_int_equal(snapshot_category_of(evidence.memory, stack),
                         of_user ? SNAPSHOT_ACTIVATIONS : SNAPSHOT_GRADIENTS);
        assert_string_equal(snapshot_frames(evidence.memory, stack).at,
                            of_user ? "forward (model.py:7), forward (model.py:7)"
                                    : "aten::nll_loss_backward, NllLossBackward0");
    }
    snapshot_calls_free(&calls);
    evidence_free(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_blocks_and_traces_are_counted),
        cmocka_unit_test(memory_of_the_host_counts_for_no_device),
        cmocka_unit_test(old_snapshots_are_a_list_of_segments),
        cmocka_unit_test(members_of_other_types_count_as_nothing),
        cmocka_unit_test(other_pickles_are_no_snapshots),
        cmocka_unit_test(snapshots_in_json_are_counted_alike),
        cmocka_unit_test(blocks_from_before_count_for_their_call),
        cmocka_unit_test(a_recording_from_the_start_begins_with_nothing),
        cmocka_unit_test(addresses_use_all_bits),
        cmocka_unit_test(pages_of_memory_viz_have_the_pickle_in_them),
        cmocka_unit_test(blocks_without_an_address_are_found_by_their_sizes),
        cmocka_unit_test(pages_of_a_profile_say_what_is_allocated_on_devices),
        cmocka_unit_test(snapshots_in_json_that_are_cut_are_refused),
        cmocka_unit_test(what_is_referred_to_again_counts_once),
        cmocka_unit_test(events_take_no_memory_but_of_what_is_in_use),
        cmocka_unit_test(whole_pages_are_given_back_but_none_of_a_graph),
        cmocka_unit_test(calls_say_what_memory_is_for),
        cmocka_unit_test(calls_of_compiled_code_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
