// SPDX-License-Identifier: Apache-2.0
// Reads every file of golden/inputs whole, in pieces and cut at every byte, and compares with
// golden/expected. --update rewrites the expected files. GOLDEN_SHARD=2/4 runs the second quarter
// of the files, so that ctest can run them in parallel.
// shards: 4
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dirent.h>

#include "tests/golden/trace_dump.h"

#define INPUTS   "tests/golden/inputs"
#define EXPECTED "tests/golden/expected"

struct input {
    char name[256];
    struct buf bytes;
};

struct inputs {
    struct input *items;
    size_t count;
    size_t shard, shards;
};

// Shards take every n-th input.
static bool is_mine(const struct inputs *inputs, size_t turn)
{
    return turn % inputs->shards == inputs->shard;
}

static bool find_shard(struct inputs *inputs)
{
    const char *text = getenv("GOLDEN_SHARD");
    inputs->shards = 1;
    if (!text)
        return true;
    bool read = sscanf(text, "%zu/%zu", &inputs->shard, &inputs->shards) == 2;
    return read && inputs->shard-- > 0 && inputs->shard < inputs->shards;
}

static void read_file(const char *path, struct buf *bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s; run %s --update", path, "golden_ingest");
    char part[4096];
    size_t got;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        buf_add(bytes, part, got);
    fclose(file);
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int load_inputs(void **state)
{
    struct dirent **entries = NULL;
    int count = scandir(INPUTS, &entries, is_input, alphasort);
    struct inputs *inputs = calloc(1, sizeof *inputs);
    if (count < 1 || !inputs || !find_shard(inputs))
        return -1;
    inputs->items = calloc((size_t)count, sizeof *inputs->items);
    inputs->count = (size_t)count;
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", INPUTS, entries[i]->d_name);
        snprintf(inputs->items[i].name, sizeof inputs->items[i].name, "%s", entries[i]->d_name);
        read_file(path, &inputs->items[i].bytes);
        free(entries[i]);
    }
    free(entries);
    *state = inputs;
    return 0;
}

static int free_inputs(void **state)
{
    struct inputs *inputs = *state;
    for (size_t i = 0; i < inputs->count; i++)
        buf_free(&inputs->items[i].bytes);
    free(inputs->items);
    free(inputs);
    return 0;
}

static struct str text_of(const struct buf *buf)
{
    return (struct str){buf->len ? buf->at : "", buf->len};
}

// The result of reading the bytes; nothing may remain counted in the budget.
static void dump(struct str bytes, size_t step, struct buf *out)
{
    // A block of exactly this size, so that AddressSanitizer sees reads past the end.
    struct budget budget = {0};
    char *exact = malloc(bytes.len ? bytes.len : 1);
    memcpy(exact, bytes.at, bytes.len);
    buf_clear(out);
    dump_bytes(out, (struct str){exact, bytes.len}, step, &budget);
    free(exact);
    assert_false(out->failed);
    assert_int_equal(budget.used, 0);
}

static void write_expected(const struct input *input)
{
    char path[512];
    struct buf got = {0};
    snprintf(path, sizeof path, "%s/%s.txt", EXPECTED, input->name);
    dump(text_of(&input->bytes), 0, &got);
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(got.at, 1, got.len, file) == got.len;
    if (!file || fclose(file) != 0 || !ok)
        fail_msg("cannot write %s", path);
    buf_free(&got);
}

static void every_input_gives_its_expected_dump(void **state)
{
    const struct inputs *inputs = *state;
    for (size_t i = inputs->shard; i < inputs->count; i += inputs->shards) {
        char path[512];
        struct buf got = {0}, expected = {0};
        snprintf(path, sizeof path, "%s/%s.txt", EXPECTED, inputs->items[i].name);
        read_file(path, &expected);
        dump(text_of(&inputs->items[i].bytes), 0, &got);
        if (!str_equal(text_of(&got), text_of(&expected)))
            fail_msg("%s: expected\n%s\nfound\n%s", path, expected.at, got.at);
        buf_free(&got);
        buf_free(&expected);
    }
}

static void pieces_of_1_to_64_bytes_give_the_same_as_the_whole(void **state)
{
    const struct inputs *inputs = *state;
    for (size_t i = inputs->shard; i < inputs->count; i += inputs->shards) {
        struct buf whole = {0}, pieces = {0};
        dump(text_of(&inputs->items[i].bytes), 0, &whole);
        for (size_t step = 1; step <= 64; step++) {
            dump(text_of(&inputs->items[i].bytes), step, &pieces);
            if (!str_equal(text_of(&whole), text_of(&pieces)))
                fail_msg("%s in pieces of %zu bytes: expected\n%s\nfound\n%s",
                         inputs->items[i].name, step, whole.at, pieces.at);
        }
        buf_free(&whole);
        buf_free(&pieces);
    }
}

static void sealed_traces_keep_their_promises(void **state)
{
    const struct inputs *inputs = *state;
    for (size_t i = inputs->shard; i < inputs->count; i += inputs->shards) {
        struct budget budget = {0};
        struct err err;
        struct trace *trace = dump_read(text_of(&inputs->items[i].bytes), 0, &budget, &err);
        const char *broken = trace ? dump_broken_promise(trace) : NULL;
        if (broken)
            fail_msg("%s: %s", inputs->items[i].name, broken);
        trace_free(trace);
    }
}

// ---- cutting
// -------------------------------------------------------------------------------------

// A second, simple way to find where the items of the event list end, for files whose brackets and
// quotes are well-formed.
struct outline {
    size_t list;      // after the opening bracket of the event list; 0 if there is none
    size_t ends[256]; // after the closing bracket of each item that is a container
    size_t count;
    bool bare;
};

static bool opens_list(struct str text, size_t at, size_t depth)
{
    static const char key[] = "\"traceEvents\"";
    if (text.at[at] != '[')
        return false;
    if (depth == 0)
        return true;
    size_t end = at;
    while (end > 0 && strchr(" \t\r\n:", text.at[end - 1]))
        end--;
    return depth == 1 && end >= sizeof key - 1 &&
           memcmp(text.at + end - (sizeof key - 1), key, sizeof key - 1) == 0;
}

static void draw_outline(struct str text, struct outline *outline)
{
    *outline = (struct outline){0};
    size_t depth = 0, list_depth = 0;
    bool in_text = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (in_text) {
            i += c == '\\';
            in_text = c != '"';
        } else if (c == '"') {
            in_text = true;
        } else if (c == '{' || c == '[') {
            if (!outline->list && opens_list(text, i, depth)) {
                outline->bare = depth == 0;
                outline->list = i + 1;
                list_depth = depth + 1;
            }
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
            if (list_depth && depth < list_depth)
                return;
            if (list_depth && depth == list_depth)
                outline->ends[outline->count++] = i + 1;
        }
    }
}

static void dump_only_events(struct str bytes, struct buf *out)
{
    struct budget budget = {0};
    struct err err = {0};
    buf_clear(out);
    struct trace *trace = dump_read(bytes, 0, &budget, &err);
    if (trace)
        dump_events(out, trace);
    else
        buf_printf(out, "error %s", err_code_word(err.code));
    trace_free(trace);
    assert_int_equal(budget.used, 0);
}

// Whether the event list or one of its items becomes complete at this cut.
static bool completes(const struct outline *outline, size_t cut)
{
    for (size_t i = 0; i < outline->count; i++)
        if (outline->ends[i] == cut)
            return true;
    return cut == outline->list;
}

// The events that end before `end`, with their brackets closed.
static void dump_complete(struct str text, const struct outline *outline, size_t end,
                          struct buf *out)
{
    struct buf closed = {0};
    buf_add(&closed, text.at, end);
    buf_puts(&closed, outline->bare ? "]" : "]}");
    dump_only_events(text_of(&closed), out);
    buf_free(&closed);
}

static void cut_everywhere(const struct inputs *inputs, const struct input *input)
{
    struct str text = text_of(&input->bytes);
    struct outline outline;
    draw_outline(text, &outline);
    struct buf found = {0}, expected = {0};
    for (size_t cut = 0; outline.list && cut < text.len; cut++) {
        if (completes(&outline, cut))
            dump_complete(text, &outline, cut, &expected);
        if (!is_mine(inputs, cut))
            continue;
        dump_only_events((struct str){text.at, cut}, &found);
        if (cut < outline.list)
            assert_true(str_starts_with(text_of(&found), STR("error ")));
        else if (!str_equal(text_of(&found), text_of(&expected)))
            fail_msg("%s cut at byte %zu: expected\n%s\nfound\n%s", input->name, cut, expected.at,
                     found.at);
    }
    buf_free(&found);
    buf_free(&expected);
}

static bool is_well_formed(const struct input *input)
{
    return strncmp(input->name, "bad_", 4) != 0;
}

static void what_was_complete_before_a_cut_is_kept(void **state)
{
    const struct inputs *inputs = *state;
    for (size_t i = 0; i < inputs->count; i++)
        if (is_well_formed(&inputs->items[i]))
            cut_everywhere(inputs, &inputs->items[i]);
}

static void what_is_cut_reads_the_same_in_pieces(void **state)
{
    const struct inputs *inputs = *state;
    struct buf whole = {0}, pieces = {0};
    for (size_t i = 0; i < inputs->count; i++) {
        struct str text = text_of(&inputs->items[i].bytes);
        for (size_t cut = i % 3; cut < text.len; cut += 3) { // each takes a millisecond
            if (!is_mine(inputs, cut / 3))
                continue;
            dump((struct str){text.at, cut}, 0, &whole);
            dump((struct str){text.at, cut}, 1 + cut % 13, &pieces);
            if (!str_equal(text_of(&whole), text_of(&pieces)))
                fail_msg("%s cut at byte %zu: expected\n%s\nfound\n%s", inputs->items[i].name, cut,
                         whole.at, pieces.at);
        }
    }
    buf_free(&whole);
    buf_free(&pieces);
}

static int update(void)
{
    void *state = NULL;
    if (load_inputs(&state) != 0)
        return 1;
    const struct inputs *inputs = state;
    for (size_t i = 0; i < inputs->count; i++)
        write_expected(&inputs->items[i]);
    printf("wrote %zu files to %s\n", inputs->count, EXPECTED);
    return free_inputs(&state);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--update") == 0)
        return update();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_input_gives_its_expected_dump),
        cmocka_unit_test(pieces_of_1_to_64_bytes_give_the_same_as_the_whole),
        cmocka_unit_test(sealed_traces_keep_their_promises),
        cmocka_unit_test(what_was_complete_before_a_cut_is_kept),
        cmocka_unit_test(what_is_cut_reads_the_same_in_pieces),
    };
    return cmocka_run_group_tests(tests, load_inputs, free_inputs);
}
