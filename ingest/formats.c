// SPDX-License-Identifier: Apache-2.0
// The table of formats that are read, and detection and errors based on it and on the table of
// those that are not.
#include "ingest/formats_unread.h"
#include "ingest/json/json_outline.h"
#include "ingest/sqlite/database.h"

#include <stdio.h>

// One line per format that is read or counted; if two are equally likely, the first wins.
#define FORMATS(ROW)           \
    ROW(gzip)                  \
    ROW(zstd)                  \
    ROW(container_log)         \
    ROW(wrapped_log)           \
    ROW(config_yaml)           \
    ROW(config_toml)           \
    ROW(config_json)           \
    ROW(slurm)                 \
    ROW(env)                   \
    ROW(pip_freeze)            \
    ROW(collect_env)           \
    ROW(training_log)          \
    ROW(torchtitan_structured) \
    ROW(jsonl)                 \
    ROW(metrics_csv)           \
    ROW(trainer_state)         \
    ROW(tfevents)              \
    ROW(rocm_old_json)         \
    ROW(kineto_merged)         \
    ROW(kineto)                \
    ROW(xplane)                \
    ROW(prv)                   \
    ROW(ncu_csv)               \
    ROW(nccl_tests)            \
    ROW(nccl_tests_json)       \
    ROW(rccl_json)             \
    ROW(rccl_csv)              \
    ROW(nccl_inspector)        \
    ROW(nccl_ras)              \
    ROW(perftest)              \
    ROW(perftest_json)         \
    ROW(nvbandwidth)           \
    ROW(nvbandwidth_json)      \
    ROW(topology)              \
    ROW(ibstat)                \
    ROW(nvidia_smi)            \
    ROW(nvidia_dmon)           \
    ROW(dcgmi)                 \
    ROW(prometheus)            \
    ROW(prometheus_query)      \
    ROW(amd_smi)               \
    ROW(amd_smi_json)          \
    ROW(amd_smi_text)          \
    ROW(rocm_smi)              \
    ROW(rocm_smi_json)         \
    ROW(memory_snapshot)       \
    ROW(memory_snapshot_json)  \
    ROW(memory_snapshot_html)  \
    ROW(flight_recorder)       \
    ROW(flight_recorder_json)  \
    ROW(execution_trace)       \
    ROW(chakra)                \
    ROW(chakra_et)             \
    ROW(speedscope)            \
    ROW(perf_script)           \
    ROW(rocm_counters)         \
    ROW(rocm_old_counters)     \
    ROW(rocm_sums)             \
    ROW(rocm_others)           \
    ROW(rocm_compute)          \
    ROW(rocm_set)              \
    ROW(rocm_kernels)          \
    ROW(rocm_calls)            \
    ROW(rocm_copies)           \
    ROW(sqlite)                \
    ROW(rocm_json)             \
    ROW(rocpd)                 \
    ROW(rpd)                   \
    ROW(rocm_compute_db)       \
    ROW(nsys)                  \
    ROW(tar)                   \
    ROW(zip)

#define DECLARE(name) extern const struct format format_##name;
FORMATS(DECLARE)

#define POINT(name) &format_##name,
static const struct format *const formats[] = {FORMATS(POINT)};
enum { FORMAT_COUNT = sizeof formats / sizeof *formats };

// Enough for a description with the members of an object.
#define WHAT_BYTES ((size_t)256)

bool format_is_read(const struct format *format)
{
    return format->read || format->decode || format->unpack;
}

bool format_is_kept(const struct format *format)
{
    return format->gather || (format->count && !format->read);
}

const char *format_kind_word(enum format_kind kind)
{
    static const char *const words[FORMAT_KINDS] = {
        [FORMAT_TRACE] = "trace",       [FORMAT_RECORDS] = "records",
        [FORMAT_TEXT] = "text",         [FORMAT_ARCHIVE] = "archive",
        [FORMAT_OTHER] = "other",       [FORMAT_COMPRESSION] = "compression",
        [FORMAT_DATABASE] = "database",
    };
    return words[kind];
}

// --- finding ------------------------------------------------------------------------------------

static bool ends_with(struct str text, const char *ending)
{
    struct str end = str_of(ending);
    return text.len > end.len &&
           str_equal_nocase((struct str){text.at + text.len - end.len, end.len}, end);
}

static enum format_likeness likeness(const struct format *format,
                                     const struct format_sample *sample)
{
    if (format->probe)
        return format->probe(sample);
    if (format->magic.len && str_starts_with(sample->head, format->magic))
        return FORMAT_SURE;
    if (format->member && json_outline_has(sample->outline, format->member))
        return FORMAT_SURE;
    if (format->words && str_find(sample->head, str_of(format->words)) != SIZE_MAX)
        return FORMAT_PERHAPS;
    bool named = format->ending && ends_with(sample->filename, format->ending);
    return named && !format_is_read(format) ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

struct best {
    const struct format *format;
    enum format_likeness likeness;
};

static void offer(struct best *best, const struct format *format,
                  const struct format_sample *sample)
{
    if (best->likeness == FORMAT_SURE)
        return;
    enum format_likeness found = likeness(format, sample);
    if (found > best->likeness)
        *best = (struct best){format, found};
}

static struct best best_read(const struct format_sample *sample)
{
    struct best best = {0};
    // these show the bytes of their first member, which are those of another format
    offer(&best, &format_tar, sample);
    offer(&best, &format_zip, sample);
    offer(&best, &format_sqlite, sample); // its first bytes leave no doubt: nothing else is asked
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        offer(&best, formats[i], sample);
    return best;
}

// The best format that is not read, if more likely than the one found so far.
static const struct format *best_of_all(struct best best, const struct format_sample *sample)
{
    for (size_t i = 0; i < formats_unread_count; i++)
        offer(&best, &formats_unread[i], sample);
    return best.format;
}

// A text may begin with a hole of NUL bytes, which its reader passes. If it is all that is seen,
// the name has to tell. Text in UTF-16 or UTF-32 begins with fewer.
static struct str after_hole(struct str head)
{
    enum { FEWEST = 8 };
    size_t hole = 0;
    while (hole < head.len && head.at[hole] == '\0')
        hole++;
    if (hole == FORMAT_HEAD_BYTES)
        return STR("\n");
    return hole < FEWEST || hole == head.len ? head : (struct str){head.at + hole, head.len - hole};
}

static const struct format *find_in(struct str head, struct str filename)
{
    struct json_outline outline = json_outline_of(head);
    struct format_sample sample = {head, filename, &outline};
    return best_of_all(best_read(&sample), &sample);
}

const struct format *format_find(struct str head, struct str filename)
{
    struct str text = after_hole(head);
    const struct format *found = find_in(text, filename);
    bool is_trace = found && found->kind == FORMAT_TRACE; // read from the first byte on
    return is_trace && text.at != head.at ? find_in(head, filename) : found;
}

const struct format *format_find_unread(struct str head, struct str filename)
{
    struct json_outline outline = json_outline_of(head);
    struct format_sample sample = {head, filename, &outline};
    return best_of_all((struct best){0}, &sample);
}

enum format_likeness format_like(const struct format *format, struct str head, struct str filename)
{
    if (format->kind != FORMAT_TRACE)
        head = after_hole(head);
    struct json_outline outline = json_outline_of(head);
    struct format_sample sample = {head, filename, &outline};
    return likeness(format, &sample);
}

const struct format *format_named(struct str name)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (str_equal(name, str_of(formats[i]->name)))
            return formats[i];
    return NULL;
}

// --- databases ----------------------------------------------------------------------------------

static bool has_a_table(const struct database *database, const char *tables)
{
    char name[64];
    for (const char *at = tables; *at;) {
        size_t len = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        if (database_has(database, name))
            return true;
        at += len + (at[len] == ' ');
    }
    return false;
}

const struct format *format_of_database(struct source *source)
{
    struct err ignored;
    const struct format *found = NULL;
    struct database *database = database_open(source, NULL, &ignored);
    for (size_t i = 0; database && !found && i < FORMAT_COUNT; i++)
        if (formats[i]->tables && has_a_table(database, formats[i]->tables))
            found = formats[i];
    database_close(database);
    return found;
}

// --- refusing -----------------------------------------------------------------------------------

#define OR_ARCHIVE ", or an archive"

static bool refuse(const char *what, const char *also, const char *advice, struct err *err)
{
    char endings[FORMAT_ENDINGS_BYTES];
    format_endings(1u << FORMAT_TRACE, endings);
    return err_set(err, ERR_FORMAT, "found %s, expected a trace as %s%s%s%s", what, endings, also,
                   advice ? ": " : "", advice ? advice : "");
}

bool format_refuse(const struct format *found, struct err *err)
{
    return refuse(found->what, found->kind == FORMAT_ARCHIVE ? "" : OR_ARCHIVE, found->advice, err);
}

bool format_refuse_database(struct source *source, bool *cut, struct err *err)
{
    uint64_t size;
    *cut = false;
    if (!source_size(source, &size))
        return format_refuse(&format_sqlite, err);
    struct database *database = database_open(source, NULL, err);
    *cut = database && (database_state(database).cut || database_state(database).damaged);
    bool opened = database;
    database_close(database);
    if (*cut)
        return err_set(
            err, ERR_FORMAT,
            "found an SQLite database that is truncated or damaged: send it again, whole");
    return opened && format_refuse(&format_sqlite, err);
}

bool format_refuse_what(const char *what, struct err *err)
{
    return refuse(what, OR_ARCHIVE, NULL, err);
}

// With as many members as fit beside the rest.
static bool refuse_outline(const struct json_outline *outline, struct err *err)
{
    char what[WHAT_BYTES];
    const char *send = "for PyTorch, prof.export_chrome_trace()";
    refuse("", OR_ARCHIVE, send, err);
    size_t room = sizeof err->msg - strlen(err->msg);
    json_outline_describe(outline, what, room < sizeof what ? room : sizeof what);
    return refuse(what, OR_ARCHIVE, send, err);
}

bool format_refuse_json(struct str head, struct err *err)
{
    struct json_outline outline = json_outline_of(head);
    struct format_sample sample = {head, STR(""), &outline};
    const struct format *known = best_of_all((struct best){0}, &sample);
    if (known && (known->words || likeness(known, &sample) == FORMAT_SURE))
        return format_refuse(known, err);
    return refuse_outline(&outline, err);
}

bool format_refuse_unknown(struct str head, struct err *err)
{
    unsigned char first[4] = {0};
    char endings[FORMAT_ENDINGS_BYTES];
    format_endings(1u << FORMAT_TRACE, endings);
    if (head.len == 0)
        return err_set_at(err, ERR_FORMAT, 0,
                          "the file is empty, expected a trace as %s" OR_ARCHIVE, endings);
    memcpy(first, head.at, head.len < sizeof first ? head.len : sizeof first);
    return err_set_at(
        err, ERR_UNSUPPORTED, 0,
        "found an unknown format (bytes %02x %02x %02x %02x), expected a trace as %s" OR_ARCHIVE,
        first[0], first[1], first[2], first[3], endings);
}

const struct format *format_of_trace(struct str head, struct str filename, struct err *err)
{
    struct json_outline outline = json_outline_of(head);
    struct format_sample sample = {head, filename, &outline};
    struct best read = best_read(&sample);
    if (read.format && read.format->read)
        return read.format;
    const struct format *found = best_of_all(read, &sample);
    if (found)
        format_refuse(found, err);
    else
        format_refuse_unknown(head, err);
    return NULL;
}

// --- endings ------------------------------------------------------------------------------------

// Calls take with endings until it returns false.
typedef bool take_ending(void *context, const char *ending);

// Calls take with the endings of a format in each compression.
static bool each_coded(const struct format *format, take_ending *take, void *context)
{
    char ending[32];
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        snprintf(ending, sizeof ending, "%s%s", format->ending, formats[i]->ending);
        if (formats[i]->kind == FORMAT_COMPRESSION && !take(context, ending))
            return false;
    }
    return true;
}

// A zip is read from its end, and compressing it is pointless.
static bool may_be_coded(const struct format *format)
{
    return format->kind != FORMAT_ARCHIVE || format->access == FORMAT_STREAM;
}

static bool is_ending_of_earlier(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (formats[i]->kind == formats[index]->kind && formats[i]->ending &&
            strcmp(formats[i]->ending, formats[index]->ending) == 0)
            return true;
    return false;
}

// Endings of the formats of some kinds that are read. coded: the kinds for which compressed endings
// count, too.
struct endings {
    unsigned kinds, coded;
    bool common; // also those of other files
};

static bool each_ending(const struct endings *which, take_ending *take, void *context)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const struct format *format = formats[i];
        if (!format->ending || !(which->kinds & 1u << format->kind) || is_ending_of_earlier(i) ||
            (format->common && !which->common))
            continue;
        bool coded = which->coded & 1u << format->kind && may_be_coded(format);
        if (!take(context, format->ending) || (coded && !each_coded(format, take, context)))
            return false;
    }
    return true;
}

static bool count_ending(void *context, const char *ending)
{
    (void)ending;
    return ++*(size_t *)context;
}

struct list {
    char *out;
    size_t len, count, listed;
};

static bool list_ending(void *context, const char *ending)
{
    struct list *list = context;
    bool last = ++list->listed == list->count;
    const char *before = list->listed == 1 ? "" : last ? " or " : ", ";
    int wrote =
        snprintf(list->out + list->len, FORMAT_ENDINGS_BYTES - list->len, "%s%s", before, ending);
    list->len += (size_t)wrote;
    return list->len < FORMAT_ENDINGS_BYTES;
}

void format_endings(unsigned kinds, char out[FORMAT_ENDINGS_BYTES])
{
    const unsigned traces = 1u << FORMAT_TRACE;
    struct list list = {.out = out};
    *out = '\0';
    const struct endings listed = {kinds, ~traces, true};
    each_ending(&listed, count_ending, &list.count);
    each_ending(&listed, list_ending, &list);
    if (kinds == traces) // of which there are too many to list each three times
        snprintf(out + list.len, FORMAT_ENDINGS_BYTES - list.len, ", also as .gz or .zst");
}

static bool is_not_ending(void *context, const char *ending)
{
    return !ends_with(*(struct str *)context, ending);
}

bool format_has_ending(unsigned kinds, struct str filename)
{
    return !each_ending(&(struct endings){kinds, kinds, false}, is_not_ending, &filename);
}

bool format_has_common_ending(unsigned kinds, struct str filename)
{
    return !each_ending(&(struct endings){kinds, kinds, true}, is_not_ending, &filename);
}

bool format_may_be_many(struct str filename)
{
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const struct format *format = formats[i];
        bool many = format->ending && (format->unpack || format->parts);
        if (many && (ends_with(filename, format->ending) ||
                     (may_be_coded(format) && !each_coded(format, is_not_ending, &filename))))
            return true;
    }
    return false;
}
