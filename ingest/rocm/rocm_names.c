// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocm_names.h"

// What rocprof-sys records of the host: functions of the program, ranges, calls of libraries, and
// the functions of call stacks that it samples, each from one sample to the next.
static const struct {
    const char *domain;
    enum event_kind kind;
} host_domains[] = {
    {"host", EVENT_ANNOTATION},      {"user", EVENT_ANNOTATION},
    {"kokkos", EVENT_ANNOTATION},    {"mpi", EVENT_ANNOTATION},
    {"python", EVENT_PYTHON},        {"pthread", EVENT_OS_CALL},
    {"timer_sampling", EVENT_OTHER}, {"overflow_sampling", EVENT_OTHER},
};

static bool has_word(struct str domain, const char *const words[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_contains_nocase(domain, str_of(words[i])))
            return true;
    return false;
}

enum event_kind rocm_call_kind(struct str domain)
{
    static const char *const libraries[] = {"marker",    "rccl",    "ompt",
                                            "rocdecode", "rocjpeg", "vaapi"};
    for (size_t i = 0; i < sizeof host_domains / sizeof *host_domains; i++)
        if (str_equal(domain, str_of(host_domains[i].domain)))
            return host_domains[i].kind;
    if (has_word(domain, libraries, sizeof libraries / sizeof *libraries))
        return EVENT_ANNOTATION;
    if (str_contains_nocase(domain, STR("kfd")))
        return EVENT_OS_CALL;
    return str_contains_nocase(domain, STR("hsa")) ? EVENT_DRIVER : EVENT_RUNTIME;
}

struct str rocm_kernel_name(struct str name)
{
    static const char *const ends[] = {" [clone .kd]", " (.kd)", "(.kd)", ".kd"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct str end = str_of(ends[i]);
        if (name.len > end.len &&
            str_equal((struct str){name.at + name.len - end.len, end.len}, end))
            return (struct str){name.at, name.len - end.len};
    }
    return name;
}

bool rocm_kernel_intern(struct text_table *texts, struct trace_builder *builder, int64_t id,
                        str_id *interned, struct err *err)
{
    struct str text = STR("");
    (void)text_table_find(texts, id, &text);
    struct str name = rocm_kernel_name(text);
    return name.len < text.len ? trace_builder_text(builder, name, ERR_NO_POS, interned, err)
                               : text_table_intern(texts, builder, id, interned, err);
}

bool rocm_times(struct trace_builder *builder, struct event_record *record, int64_t start_ns,
                int64_t end_ns, uint64_t pos)
{
    bool timed = start_ns != 0 || end_ns != 0 || !event_kind_is_device(record->kind);
    return event_record_times(builder, record, timed ? start_ns : VALUE_ABSENT, end_ns, pos);
}

void rocm_extent(struct launch_shape *shape, unsigned dimension, int64_t items, int64_t per_block)
{
    if (items <= 0 || items > UINT32_MAX || per_block <= 0 || per_block > INT32_MAX)
        return;
    int64_t blocks = (items + per_block - 1) / per_block;
    shape->grid[dimension] = blocks <= INT32_MAX ? (int32_t)blocks : 0;
    shape->block[dimension] = (int32_t)per_block;
}
