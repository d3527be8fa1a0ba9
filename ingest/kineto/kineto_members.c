// SPDX-License-Identifier: Apache-2.0
// Members are few, and only their values are wanted: a library parses them one by one.
#include "ingest/kineto/kineto_members.h"
#include "ingest/base/buf.h"
#include "ingest/json/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

#define MAX_SETTINGS 4096 // far more than any profiler writes
#define MAX_DEVICES  4096 // of one host
#define MAX_KEY      ((size_t)1024)
#define MAX_VERSION  80

bool kineto_members_init(struct kineto_members *members, struct budget *budget, struct err *err)
{
    *members = (struct kineto_members){.budget = budget, .own_rank = VALUE_ABSENT};
    record_set_init(&members->keys, sizeof(str_id), budget);
    return strtab_init(&members->texts, budget, err);
}

void kineto_members_free(struct kineto_members *members)
{
    strtab_free(&members->texts);
    record_set_free(&members->keys);
    budget_free(members->budget, members->values, members->cap * sizeof *members->values);
}

bool kineto_members_keep(struct kineto_members *members, struct str key, struct str text,
                         struct err *err)
{
    str_id key_id, text_id;
    uint32_t at;
    if (!strtab_intern_outside(&members->texts, key, &key_id, err) ||
        !strtab_intern_outside(&members->texts, text, &text_id, err) ||
        !record_set_add(&members->keys, &key_id, &at, err))
        return false;
    str_id *values = budget_room(members->budget, members->values, &members->cap, (size_t)at + 1,
                                 sizeof *values, err);
    if (!values)
        return false;
    members->values = values;
    values[at] = text_id;
    return true;
}

// --- JSON ---------------------------------------------------------------------------------------

// NULL if it is not JSON.
static json_t *parsed(const struct kineto_members *members, uint32_t at)
{
    struct str text = strtab_get(&members->texts, members->values[at]);
    return json_loadb(text.at, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

// The index of a member; false if the document has none with this key.
static bool find(const struct kineto_members *members, struct str key, uint32_t *at)
{
    str_id id = strtab_find(&members->texts, key);
    return id && record_set_find(&members->keys, &id, at);
}

static json_t *found(const struct kineto_members *members, struct str key)
{
    uint32_t at;
    return find(members, key, &at) ? parsed(members, at) : NULL;
}

static struct str text_of(const json_t *value)
{
    return (struct str){json_string_value(value), json_string_length(value)};
}

// An integer, also one that is written as a text; VALUE_ABSENT for anything else.
static int64_t integer_of(const json_t *value)
{
    int64_t number;
    if (json_is_integer(value))
        return json_integer_value(value);
    return json_is_string(value) && str_to_i64(text_of(value), &number) ? number : VALUE_ABSENT;
}

static int64_t integer_in(const json_t *object, const char *key)
{
    return integer_of(json_object_get(object, key));
}

// 0 for a text too long to keep.
static bool intern(struct trace_builder *builder, struct str text, str_id *id, struct err *err)
{
    *id = 0;
    return text.len == 0 || text.len > STRTAB_MAX_LEN ||
           strtab_intern_outside(trace_builder_strings(builder), text, id, err);
}

// A text up to its first NUL; 0 for anything else.
static bool intern_in(struct trace_builder *builder, const json_t *object, const char *key,
                      str_id *id, struct err *err)
{
    return intern(builder, str_of(json_string_value(json_object_get(object, key))), id, err);
}

// --- settings -----------------------------------------------------------------------------------

struct settings {
    struct trace_builder *builder;
    const struct kineto_members *members;
    unsigned count;
};

static bool add(struct settings *settings, struct str key, struct trace_setting setting,
                struct str text, struct err *err)
{
    if (settings->count >= MAX_SETTINGS || key.len > MAX_KEY)
        return true;
    settings->count++;
    return intern(settings->builder, key, &setting.key, err) &&
           intern(settings->builder, text, &setting.text, err) &&
           trace_builder_setting(settings->builder, &setting, err);
}

static bool add_text(struct settings *settings, struct str key, struct str text, struct err *err)
{
    return add(settings, key, (struct trace_setting){.number = VALUE_ABSENT}, text, err);
}

static bool add_value(struct settings *settings, struct str key, const json_t *value,
                      struct err *err)
{
    struct trace_setting setting = {.number = integer_of(value)};
    if (json_is_string(value))
        return add(settings, key, setting, text_of(value), err);
    if (!json_is_number(value) && !json_is_boolean(value))
        return true;
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
    bool ok = text ? add(settings, key, setting, str_of(text), err)
                   : err_set(err, ERR_MEMORY, "out of memory for a member");
    free(text);
    return ok;
}

// Members that differ from file to file without meaning, and those with their own place.
static bool is_left_out(struct str key)
{
    static const char *const keys[] = {"traceEvents",    "traceName",           "trace_id",
                                       "group_trace_id", "baseTimeNanoseconds", "displayTimeUnit",
                                       "rank",           "pg_config",           "timestamp"};
    return str_is_one_of(key, keys, sizeof keys / sizeof *keys);
}

static bool add_object(struct settings *settings, struct str prefix, json_t *object,
                       struct err *err)
{
    const char *key;
    json_t *value;
    bool ok = true;
    json_object_foreach(object, key, value)
    {
        if (!ok || settings->count >= MAX_SETTINGS || prefix.len > MAX_KEY ||
            is_left_out(str_of(key)))
            continue;
        struct buf name = {0};
        buf_add_str(&name, prefix);
        buf_putc(&name, '.');
        buf_puts(&name, key);
        ok = buf_ok(&name, err) && add_value(settings, (struct str){name.at, name.len}, value, err);
        buf_free(&name);
    }
    return ok;
}

// --- versions -----------------------------------------------------------------------------------

// Under a key common to all vendors, unless the document has a member of that name.
static bool add_common(struct settings *settings, struct str key, const struct buf *text,
                       struct err *err)
{
    uint32_t at;
    if (!buf_ok(text, err))
        return false;
    struct str whole = {text->at, text->len};
    return whole.len == 0 || find(settings->members, key, &at) ||
           add_text(settings, key, (struct str){whole.at, str_valid_utf8(whole)}, err);
}

// CUDA counts 12090 for 12.9, HIP 60443483 for 6.4.43483.
static void put_version(const struct kineto_members *members, const char *what, struct buf *text)
{
    char key[32];
    for (int hip = 0; hip < 2; hip++) {
        snprintf(key, sizeof key, "%s_%s_version", hip ? "hip" : "cuda", what);
        json_t *value = found(members, str_of(key));
        int64_t n = integer_of(value);
        json_decref(value);
        if (n < 1000 || n >= INT32_MAX)
            continue;
        buf_clear(text);
        if (hip)
            buf_printf(text, "HIP %d.%d.%d", (int)(n / 10000000), (int)(n / 100000 % 100),
                       (int)(n % 100000));
        else
            buf_printf(text, "CUDA %d.%d", (int)(n / 1000), (int)(n % 1000 / 10));
    }
}

static void put_text(const json_t *object, const char *key, const char *before, struct buf *text)
{
    const char *value = json_string_value(json_object_get(object, key));
    if (!value || !*value || strcmp(value, "N/A") == 0)
        return;
    buf_clear(text);
    buf_printf(text, "%s%.*s", before, MAX_VERSION, value);
}

// Of the output of torch.utils.collect_env, if whoever made the file included it, only the fields
// named here are read: it may contain secrets.
static bool add_versions(struct settings *settings, struct err *err)
{
    json_t *metadata = found(settings->members, STR("metadata"));
    const json_t *info = json_object_get(json_object_get(metadata, "system"), "torch_env_info");
    struct buf framework = {0}, driver = {0}, runtime = {0};
    put_text(info, "torch_version", "PyTorch ", &framework);
    put_version(settings->members, "driver", &driver);
    put_text(info, "nvidia_driver_version", "", &driver);
    put_version(settings->members, "runtime", &runtime);
    bool ok = add_common(settings, STR("framework"), &framework, err) &&
              add_common(settings, STR("driver"), &driver, err) &&
              add_common(settings, STR("runtime"), &runtime, err);
    buf_free(&framework);
    buf_free(&driver);
    buf_free(&runtime);
    json_decref(metadata);
    return ok;
}

// --- devices and groups -------------------------------------------------------------------------

// Ranks merged into one file each list the devices of their host.
static bool is_listed(const json_t *list, size_t index)
{
    int64_t id = integer_in(json_array_get(list, index), "id");
    bool listed = false;
    for (size_t i = 0; id != VALUE_ABSENT && i < index && !listed; i++)
        listed = integer_in(json_array_get(list, i), "id") == id;
    return listed;
}

// Kineto of 2021 named members of devices as CUDA does.
static int64_t integer_of_either(const json_t *from, const char *name, const char *older)
{
    return integer_in(from, json_object_get(from, name) ? name : older);
}

static bool add_devices(struct settings *settings, const json_t *list, struct err *err)
{
    size_t count = json_array_size(list), listed = 0;
    for (size_t i = 0; i < count && i < MAX_DEVICES; i++) {
        const json_t *from = json_array_get(list, i);
        struct trace_device device = {
            .id = integer_in(from, "id"),
            .memory_bytes = integer_in(from, "totalGlobalMem"),
            .multiprocessors = integer_of_either(from, "numSms", "multiProcessorCount"),
            .compute_major = integer_of_either(from, "computeMajor", "major"),
            .compute_minor = integer_of_either(from, "computeMinor", "minor")};
        if (device.id == VALUE_ABSENT)
            device.id = (int64_t)i;
        if (settings->members->own_rank != VALUE_ABSENT && is_listed(list, i)) {
            listed++;
            continue;
        }
        if (!intern_in(settings->builder, from, "name", &device.name, err) ||
            !trace_builder_device(settings->builder, &device, err))
            return false;
    }
    json_t *visible = json_integer((json_int_t)(count - listed));
    bool ok = add_value(settings, STR("gpus_visible"), visible, err);
    json_decref(visible);
    return ok;
}

// A list of ranks as [0, 1], which is how some files have it already.
static bool intern_ranks(struct trace_builder *builder, const json_t *group, str_id *id,
                         struct err *err)
{
    const json_t *ranks = json_object_get(group, "ranks");
    char *dumped = json_is_array(ranks) ? json_dumps(ranks, 0) : NULL;
    bool ok = intern(builder, str_of(dumped ? dumped : json_string_value(ranks)), id, err);
    free(dumped);
    return ok;
}

static bool add_groups(struct trace_builder *builder, const json_t *list, struct err *err)
{
    const json_t *from;
    size_t i;
    json_array_foreach(list, i, from)
    {
        struct trace_group group = {.size = integer_in(from, "pg_size")};
        if (!json_is_string(json_object_get(from, "pg_name")))
            continue;
        if (!intern_in(builder, from, "pg_name", &group.name, err) ||
            !intern_in(builder, from, "pg_desc", &group.description, err) ||
            !intern_ranks(builder, from, &group.ranks, err) ||
            !trace_builder_group(builder, &group, err))
            return false;
    }
    return true;
}

// That of merged ranks is of the first of them: its groups may not be those of the others.
static bool add_job(struct settings *settings, json_t *info, struct err *err)
{
    int64_t own = settings->members->own_rank, rank = integer_in(info, "rank");
    trace_builder_rank(settings->builder, own == VALUE_ABSENT ? rank : own,
                       integer_in(info, "world_size"));
    if (own != VALUE_ABSENT && own != rank)
        return true;
    return add_groups(settings->builder, json_object_get(info, "pg_config"), err) &&
           (json_is_object(info) ? add_object(settings, STR("distributed"), info, err)
                                 : add_value(settings, STR("distributedInfo"), info, err));
}

// --- all of them --------------------------------------------------------------------------------

static bool add_member(struct settings *settings, struct str key, json_t *value, struct err *err)
{
    if (str_equal(key, STR("baseTimeNanoseconds")))
        trace_builder_base(settings->builder, integer_of(value));
    if (is_left_out(key))
        return true;
    if (!value) // or no memory for it, which the caller checks
        return add(settings, key, (struct trace_setting){.number = VALUE_ABSENT, .unread = 1},
                   STR(""), err);
    bool of_2021 = str_equal(key, STR("computeProperties"));
    if (str_equal(key, STR("deviceProperties")) || of_2021)
        return add_devices(settings, value, err);
    if (str_equal(key, STR("distributedInfo")))
        return add_job(settings, value, err);
    return json_is_object(value) ? add_object(settings, key, value, err)
                                 : add_value(settings, key, value, err);
}

bool kineto_members_read(const struct kineto_members *members, struct trace_builder *builder,
                         struct err *err)
{
    struct settings settings = {.builder = builder, .members = members};
    json_memory_forget();
    if (members->own_rank != VALUE_ABSENT)
        trace_builder_rank(builder, members->own_rank, VALUE_ABSENT);
    bool ok = add_versions(&settings, err);
    for (uint32_t i = 0; ok && i < members->keys.count; i++) {
        str_id key = ((const str_id *)(const void *)members->keys.items)[i];
        json_t *value = parsed(members, i);
        ok = add_member(&settings, strtab_get(&members->texts, key), value, err);
        json_decref(value);
    }
    return ok && json_memory_check(err);
}
