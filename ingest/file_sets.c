// SPDX-License-Identifier: Apache-2.0
#include "ingest/file_sets.h"

#include <stdlib.h>

// --- names --------------------------------------------------------------------------------------

static const struct {
    const char *ending, *joined;
    unsigned place;
    bool events, bare;
} members[] = {
    {"_agent_info.csv", ".csv", 0, false, false},
    {"_kernel_trace.csv", ".csv", 1, true, false},
    {"_hip_api_trace.csv", ".csv", 2, true, false},
    {"_hip_trace.csv", ".csv", 2, true, false},
    {"_hip_runtime_api_trace.csv", ".csv", 2, true, false},
    {"_hip_runtime_trace.csv", ".csv", 2, true, false},
    {"_hip_compiler_api_trace.csv", ".csv", 2, true, false},
    {"_hsa_api_trace.csv", ".csv", 2, true, false},
    {"_hsa_trace.csv", ".csv", 2, true, false},
    {"_rccl_api_trace.csv", ".csv", 2, true, false},
    {"_rccl_trace.csv", ".csv", 2, true, false},
    {"_marker_api_trace.csv", ".csv", 2, true, false},
    {"_marker_trace.csv", ".csv", 2, true, false},
    {"_memory_copy_trace.csv", ".csv", 3, true, false},
    {"_memory_allocation_trace.csv", ".csv", 4, false, false},
    {"_scratch_memory_trace.csv", ".csv", 4, false, false},
    {"_counter_collection.csv", ".csv", 5, false, false},
    {".pcf", ".prv", 0, false, true},
    {".row", ".prv", 1, false, true},
    {".prv", ".prv", 2, true, false},
};

static bool ends_with(struct str name, struct str end)
{
    return name.len > end.len &&
           str_equal((struct str){name.at + name.len - end.len, end.len}, end);
}

static struct str coding_of(struct str filename)
{
    static const char *const codings[] = {".gz", ".zst"};
    for (size_t i = 0; i < sizeof codings / sizeof *codings; i++)
        if (ends_with(filename, str_of(codings[i])))
            return str_of(codings[i]);
    return STR("");
}

bool file_set_key(struct str filename, struct file_set_key *key)
{
    struct str coding = coding_of(filename);
    filename.len -= coding.len;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        struct str end = str_of(members[i].ending);
        if (!ends_with(filename, end))
            continue;
        *key = (struct file_set_key){.stem = {filename.at, filename.len - end.len},
                                     .ending = members[i].joined,
                                     .coding = coding,
                                     .place = members[i].place,
                                     .events = members[i].events,
                                     .names = !members[i].events && members[i].place < 2,
                                     .bare = members[i].bare};
        return true;
    }
    return false;
}

bool file_set_turn(struct str filename, struct file_set_turn *turn)
{
    static const char *const codings[] = {"", ".gz", ".zst"};
    enum { MEMBERS = sizeof members / sizeof *members, CODINGS = 3 };
    struct file_set_key key;
    if (!file_set_key(filename, &key))
        return false;
    for (; turn->next < (size_t)MEMBERS * CODINGS; turn->next++) {
        size_t member = turn->next / CODINGS;
        bool wanted = turn->bare ? members[member].bare : members[member].events;
        if (!wanted || strcmp(members[member].joined, key.ending) != 0)
            continue;
        turn->stem = key.stem;
        turn->ending = members[member].ending;
        turn->coding = codings[turn->next++ % CODINGS];
        return true;
    }
    return false;
}

static bool is_same(const struct file_set_key *a, const struct file_set_key *b)
{
    return str_equal(a->stem, b->stem) && strcmp(a->ending, b->ending) == 0;
}

// Whether a name is preferred to another: uncompressed, then .gz, then .zst.
static bool is_preferred(struct str name, struct str to)
{
    struct str own = coding_of(name), other = coding_of(to);
    return own.len < other.len;
}

static bool is_copy(struct str name, struct str of)
{
    struct str own = coding_of(name), other = coding_of(of);
    return !str_equal(own, other) && str_equal((struct str){name.at, name.len - own.len},
                                               (struct str){of.at, of.len - other.len});
}

size_t file_set_original(const struct str *names, size_t count, size_t index)
{
    struct file_set_key key;
    size_t best = index;
    if (!file_set_key(names[index], &key))
        return SIZE_MAX;
    for (size_t i = 0; i < count; i++)
        if (is_copy(names[index], names[i]) && is_preferred(names[i], names[best]))
            best = i;
    return best == index ? SIZE_MAX : best;
}

void file_set_tell_copy(struct str original, struct err *why)
{
    const char *slash = memrchr(original.at, '/', original.len);
    size_t start = slash ? (size_t)(slash - original.at) + 1 : 0;
    err_set(why, ERR_FORMAT, "a compressed copy of %.*s beside it, which is read instead",
            (int)(original.len - start), original.at + start);
}

// The files found so far.
struct found {
    const struct str *names;
    size_t *in_set, count;
};

// False if there are two files of the name. Of copies the preferred one stays.
static bool add_found(struct found *found, size_t index)
{
    struct str name = found->names[index];
    for (size_t i = 0; i < found->count; i++) {
        struct str other = found->names[found->in_set[i]];
        if (str_equal(name, other))
            return false;
        if (!is_copy(name, other))
            continue;
        if (is_preferred(name, other))
            found->in_set[i] = index;
        return true;
    }
    found->in_set[found->count++] = index;
    return true;
}

size_t file_set_find(const struct str *names, size_t count, size_t index, size_t *in_set)
{
    enum { PLACES = 6 };
    struct file_set_key own, key;
    struct found found = {names, in_set, 0};
    size_t first = SIZE_MAX;
    bool events = false;
    if (!file_set_key(names[index], &own))
        return 0;
    for (unsigned place = 0; place < PLACES; place++)
        for (size_t i = 0; i < count; i++) {
            if (!file_set_key(names[i], &key) || !is_same(&key, &own) || key.place != place)
                continue;
            if (!add_found(&found, i))
                return 0;
            events |= key.events;
        }
    for (size_t i = 0; i < found.count; i++)
        first = in_set[i] < first ? in_set[i] : first;
    return found.count > 1 && events && first == index ? found.count : 0;
}

// --- bytes --------------------------------------------------------------------------------------

struct joined {
    struct source source;
    size_t count, at;
    uint64_t consumed; // of those that ended
    struct source *parts[];
};

static bool joined_read(struct source *source, void *bytes, size_t cap, size_t *got,
                        struct err *err)
{
    struct joined *joined = (struct joined *)source;
    *got = 0;
    while (*got == 0 && joined->at < joined->count && cap > 0) {
        if (!source_read(joined->parts[joined->at], bytes, cap, got, err))
            return false;
        if (*got == 0)
            joined->consumed += source_consumed(joined->parts[joined->at++]);
    }
    return true;
}

static void joined_close(struct source *source)
{
    struct joined *joined = (struct joined *)source;
    for (size_t i = 0; i < joined->count; i++)
        source_close(joined->parts[i]);
    free(joined);
}

static uint64_t joined_consumed(const struct source *source)
{
    const struct joined *joined = (const struct joined *)source;
    return joined->consumed +
           (joined->at < joined->count ? source_consumed(joined->parts[joined->at]) : 0);
}

static const struct source_ops joined_ops = {
    .read = joined_read, .close = joined_close, .consumed = joined_consumed};

// Looks at what a part is. If one is compressed, all have to be.
static bool find_coding(struct source **part, enum source_coding *own, enum source_coding *all,
                        struct err *err)
{
    struct str head;
    *part = source_peek_open(*part, 4, &head, err);
    if (!*part)
        return false;
    *own = source_coding_of(head);
    if (*own != SOURCE_PLAIN && *all != SOURCE_PLAIN && *own != *all)
        return err_set(err, ERR_UNSUPPORTED,
                       "found files of one trace as .gz and as .zst, expected one of them");
    *all = *all == SOURCE_PLAIN ? *own : *all;
    return true;
}

// Adds a part and, unless it is the last, the line end that it may lack. Takes it over.
static bool add_part(struct joined *joined, struct source *part, bool plain,
                     enum source_coding coding, bool last, struct err *err)
{
    struct source *ends[] = {part, last ? NULL : source_mem_open("\n", 1, 0, err)};
    bool ok = last || ends[1];
    for (size_t i = 0; i < 2 && ends[i]; i++) {
        bool stores = coding != SOURCE_PLAIN && (plain || i == 1);
        if (stores)
            ends[i] = source_stored_open(ends[i], coding, err);
        ok = ok && ends[i];
        if (ends[i])
            joined->parts[joined->count++] = ends[i];
    }
    return ok;
}

static bool join(struct joined *joined, struct source **parts, enum source_coding *codings,
                 size_t count, struct err *err)
{
    enum source_coding all = SOURCE_PLAIN;
    for (size_t i = 0; i < count; i++)
        if (!find_coding(&parts[i], &codings[i], &all, err))
            return false;
    for (size_t i = 0; i < count; i++) {
        struct source *part = parts[i];
        parts[i] = NULL;
        if (!add_part(joined, part, codings[i] == SOURCE_PLAIN, all, i + 1 == count, err))
            return false;
    }
    return true;
}

struct source *file_set_open(struct source **parts, size_t count, struct err *err)
{
    struct joined *joined = malloc(sizeof *joined + 2 * count * sizeof *parts);
    enum source_coding *codings = malloc(count * sizeof *codings);
    bool ok = (joined && codings) || err_set(err, ERR_MEMORY, "out of memory");
    if (joined)
        *joined = (struct joined){.source = {&joined_ops}};
    ok = ok && join(joined, parts, codings, count, err);
    for (size_t i = 0; i < count; i++)
        source_close(parts[i]);
    free(codings);
    if (ok)
        return &joined->source;
    if (joined)
        joined_close(&joined->source);
    return NULL;
}
