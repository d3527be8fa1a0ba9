// SPDX-License-Identifier: Apache-2.0
// Lines of a key, a tab and any JSON: what members say becomes facts within bounds, and a trace
// file returns the same.
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/kineto/kineto_members.h"
#include "ingest/trace/trace_file.h"
#include "tests/unit/same_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void keep_lines(struct kineto_members *members, struct str text)
{
    struct err err;
    while (text.len) {
        const char *end = memchr(text.at, '\n', text.len);
        struct str line = {text.at, end ? (size_t)(end - text.at) : text.len};
        const char *tab = memchr(line.at, '\t', line.len);
        struct str key = {line.at, tab ? (size_t)(tab - line.at) : line.len};
        size_t used = key.len + (tab != NULL);
        check(
            kineto_members_keep(members, key, (struct str){line.at + used, line.len - used}, &err));
        text = (struct str){text.at + line.len, text.len - line.len};
        if (end)
            text = (struct str){text.at + 1, text.len - 1};
    }
}

static void save_and_load(const struct trace *trace, struct budget *budget)
{
    struct err err;
    int fd = memfd_create("trace", MFD_CLOEXEC), again = dup(fd);
    check(fd >= 0 && again >= 0 && trace_file_save_fd(trace, fd, "saved", &err));
    struct trace *loaded = trace_file_load_fd(again, "saved", budget, &err);
    check(loaded && !trace_difference(trace, loaded));
    trace_free(loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err;
    struct budget budget = {0};
    struct kineto_members members;
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    check(builder && kineto_members_init(&members, &budget, &err));
    keep_lines(&members, (struct str){(const char *)data, size});
    check(kineto_members_read(&members, builder, &err));
    kineto_members_free(&members);
    struct trace *trace = trace_builder_seal(builder, &err);
    check(trace && trace->setting_count <= 4096);
    save_and_load(trace, &budget);
    trace_free(trace);
    check(budget.used == 0);
    return 0;
}
