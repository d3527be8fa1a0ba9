// SPDX-License-Identifier: Apache-2.0
// First bytes of the files that people upload by mistake, and members of the JSON that is no trace.
#include "ingest/stranger.h"
#include "ingest/base/secrets.h"

#include <stdio.h>

#define TAR_MAGIC ((size_t)257) // where it stands

#define KEYS    16u
#define MAX_KEY ((size_t)24)
#define SHOWN   3u // members named in a message
// Room for what was found with them; more than can be written.
#define WHAT_BYTES ((size_t)256)

struct signature {
    struct str bytes;
    struct stranger stranger;
};

#define BYTES(text)               \
    {                             \
        "" text, sizeof(text) - 1 \
    }
#define PICKLE                                                                  \
    {                                                                           \
        "a Python pickle, perhaps a memory snapshot or a Flight Recorder dump", \
            "upload what prof.export_chrome_trace() writes"                     \
    }
#define UTF_16                            \
    {                                     \
        "UTF-16 text", "save it as UTF-8" \
    }

static const struct signature signatures[] = {
    {BYTES("\x89PNG"), {"a PNG image", NULL}},
    {BYTES("\xFF\xD8\xFF"), {"a JPEG image", NULL}},
    {BYTES("GIF8"), {"a GIF image", NULL}},
    {BYTES("%PDF"), {"a PDF document", NULL}},
    {BYTES("PK\x03\x04"), {"a zip archive", "unpack it and upload the traces in it"}},
    {BYTES("7z\xBC\xAF"), {"a 7z archive", "unpack it and upload the traces in it"}},
    {BYTES("\xFD\x37zXZ"), {"an xz file", "compress the trace with zstd or gzip"}},
    {BYTES("BZh"), {"a bzip2 file", "compress the trace with zstd or gzip"}},
    {BYTES("\x7F\x45LF"), {"a program", NULL}},
    {BYTES("PAR1"), {"a Parquet file", NULL}},
    {BYTES("SQLite format 3"),
     {"an SQLite database", "exports of Nsight Systems are not read yet"}},
    {BYTES("version https://git-lfs"),
     {"a Git LFS pointer", "fetch the real file with git lfs pull"}},
    {BYTES("\x80\x02"), PICKLE},
    {BYTES("\x80\x03"), PICKLE},
    {BYTES("\x80\x04"), PICKLE},
    {BYTES("\x80\x05"), PICKLE},
    {BYTES("\xFF\xFE"), UTF_16},
    {BYTES("\xFE\xFF"), UTF_16},
    {BYTES("{\0"), UTF_16},
    {BYTES("[\0"), UTF_16},
    {BYTES("\0{"), UTF_16},
    {BYTES("\0["), UTF_16},
    {BYTES("<"), {"HTML or XML, perhaps an error page in place of the trace", NULL}},
};

// Whether bytes are lines of ASCII, and neither blank nor perhaps JSON.
static bool is_text(struct str head)
{
    bool blank = true;
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.at[i];
        if (c > 0x7E || (c < 0x20 && !memchr("\t\r\n", c, 3)) || (blank && memchr("{[", c, 2)))
            return false;
        blank = blank && memchr(" \t\r\n", c, 4);
    }
    return !blank;
}

const struct stranger *stranger_by_bytes(struct str head)
{
    static const struct stranger tar = {"a tar archive", "unpack it and upload the traces in it"};
    static const struct stranger text = {"text that is not JSON, perhaps a log", NULL};
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
        if (str_starts_with(head, signatures[i].bytes))
            return &signatures[i].stranger;
    if (head.len > TAR_MAGIC + 5 && memcmp(head.at + TAR_MAGIC, "ustar", 5) == 0)
        return &tar;
    return is_text(head) ? &text : NULL;
}

bool stranger_refuse(const struct stranger *stranger, struct err *err)
{
    return err_set(err, ERR_FORMAT,
                   "found %s, expected a trace as .json, .json.gz or .json.zst%s%s", stranger->what,
                   stranger->advice ? ": " : "", stranger->advice ? stranger->advice : "");
}

// --- JSON ----------------------------------------------------------------------------------------

// What the first bytes of a JSON text show.
struct outline {
    char root, item; // the bracket it begins with; the first byte within, NUL where the bytes end
    bool json;       // as far as that byte tells
    bool ended;      // the root is closed within the bytes
    char after;      // what follows the root, NUL when nothing does
    struct str keys[KEYS]; // of the members of the root, or of the first object in it
    unsigned key_count;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static size_t skip_space(struct str text, size_t at)
{
    while (at < text.len && is_space(text.at[at]))
        at++;
    return at;
}

static char byte_at(struct str text, size_t at)
{
    return at < text.len ? text.at[at] : '\0';
}

// Behind the text that begins at a quote, or the end.
static size_t skip_text(struct str text, size_t at)
{
    for (at++; at < text.len && text.at[at] != '"'; at++)
        at += text.at[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

// Whether the scalar that begins at `at` is one of JSON; a date or "1/3" is none.
static bool is_scalar(struct str text, size_t at)
{
    size_t end = at;
    while (end < text.len && !is_space(text.at[end]) && !memchr(",]}", text.at[end], 3))
        end++;
    struct str word = {text.at + at, end - at};
    if (end == text.len || str_equal(word, STR("null")) || str_equal(word, STR("true")) ||
        str_equal(word, STR("false")))
        return true;
    size_t i = word.len && *word.at == '-', digits = i;
    while (i < word.len && memchr("0123456789.eE+", word.at[i], 14))
        i++;
    char next = byte_at(text, skip_space(text, end));
    return i > digits && i == word.len && (next == ',' || next == ']' || next == '\0');
}

static void note_key(struct outline *outline, struct str text, size_t at, size_t end)
{
    if (outline->key_count < KEYS && byte_at(text, skip_space(text, end)) == ':')
        outline->keys[outline->key_count++] = (struct str){text.at + at + 1, end - at - 2};
}

// Collects the members at the depth given up to the end of the root.
static void walk_root(struct outline *outline, struct str text, size_t at)
{
    size_t depth = 0, of_keys = outline->root == '{' ? 1 : 2;
    while (at < text.len) {
        char c = text.at[at];
        size_t next = c == '"' ? skip_text(text, at) : at + 1;
        if (c == '"' && depth == of_keys)
            note_key(outline, text, at, next);
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        at = next;
        if (c == '}' && depth + 1 == of_keys)
            of_keys = 0; // the first object alone
        if (depth == 0 && (c == '}' || c == ']')) {
            outline->ended = true;
            outline->after = byte_at(text, skip_space(text, at));
            return;
        }
    }
}

static struct outline outline_of(struct str head)
{
    size_t at = skip_space(head, str_starts_with(head, STR("\xEF\xBB\xBF")) ? 3 : 0);
    struct outline outline = {.root = byte_at(head, at)};
    size_t first = skip_space(head, at + 1);
    outline.item = byte_at(head, first);
    if (outline.root == '{')
        outline.json = outline.item == '"' || outline.item == '}' || outline.item == '\0';
    else
        outline.json =
            outline.item == '\0' || memchr("{[\"]", outline.item, 4) || is_scalar(head, first);
    if (outline.json)
        walk_root(&outline, head, at);
    return outline;
}

bool stranger_is_json(struct str head)
{
    return head.len == 0 || outline_of(head).json;
}

struct known_member {
    const char *key;
    struct stranger stranger;
};

// Members that tell what writes them.
static const struct known_member known_members[] = {
    {"pg_config", {"a Flight Recorder dump", NULL}},
    {"pg_status", {"a Flight Recorder dump", NULL}},
    {"device_traces", {"a memory snapshot", NULL}},
    {"workload_graph", {"a Chakra execution trace", "it has no times; upload the profiler's"}},
    {"nodes", {"an execution trace", "it has no times; upload the profiler's"}},
    {"rocprofiler-sdk-tool", {"a result of rocprofv3", "record with torch.profiler"}},
    {"profiles", {"a speedscope profile", "record with torch.profiler"}},
    {"coll_perf", {"a log of NCCL Inspector", NULL}},
    {"communicators_count", {"a status of NCCL RAS", NULL}},
    {"resourceSpans", {"OpenTelemetry spans", NULL}},
    {"nbformat", {"a Jupyter notebook", NULL}},
    {"weight_map", {"an index of weights", NULL}},
    {"log_history", {"the state of a trainer", NULL}},
    {"model_type", {"settings of a model", NULL}},
    {"architectures", {"settings of a model", NULL}},
    {"schemaVersion", {"the head of a trace without its events", "upload the whole file"}},
    {"baseTimeNanoseconds", {"the head of a trace without its events", "upload the whole file"}},
};

static const struct stranger *by_members(const struct outline *outline)
{
    for (size_t i = 0; i < sizeof known_members / sizeof *known_members; i++)
        for (unsigned k = 0; k < outline->key_count; k++)
            if (str_equal(outline->keys[k], str_of(known_members[i].key)))
                return &known_members[i].stranger;
    return NULL;
}

// Only names that look like ones are repeated.
static bool is_name(struct str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!((key.at[i] | 0x20) >= 'a' && (key.at[i] | 0x20) <= 'z') &&
            !memchr("0123456789_-. /", key.at[i], 15))
            return false;
    return key.len > 0 && key.len <= MAX_KEY;
}

// `what` with the first members: "a JSON object with the members step, loss".
static void name_members(const struct outline *outline, const char *what, char *out, size_t cap)
{
    char raw[WHAT_BYTES];
    unsigned shown = 0;
    size_t len = (size_t)snprintf(raw, sizeof raw, "%s", what);
    for (unsigned k = 0; k < outline->key_count && shown < SHOWN; k++) {
        if (!is_name(outline->keys[k]))
            continue;
        len += (size_t)snprintf(raw + len, sizeof raw - len, "%s%.*s",
                                shown++ ? ", " : " with the members ", (int)outline->keys[k].len,
                                outline->keys[k].at);
    }
    out[secrets_redact_into((struct str){raw, len}, out, cap - 1)] = '\0';
}

static const char *kind_of_list(const struct outline *outline)
{
    switch (outline->item) {
    case ']': return "an empty list";
    case '{': return "a list of objects that are not events, perhaps metrics,";
    case '[': return "a list of lists";
    case '"': return "a list of texts";
    default: return "a list of numbers";
    }
}

static const char *kind_of(const struct outline *outline)
{
    if (!outline->json || (outline->ended && outline->after && outline->after != '{'))
        return "text that is not JSON, perhaps a log";
    if (outline->root == '[')
        return kind_of_list(outline);
    if (outline->ended && outline->after)
        return "lines of JSON objects, perhaps a log,";
    return outline->key_count ? "a JSON object" : "an empty JSON object";
}

bool stranger_refuse_json(struct str head, struct err *err)
{
    char what[WHAT_BYTES];
    struct outline outline = outline_of(head);
    const struct stranger *known = by_members(&outline);
    if (known)
        return stranger_refuse(known, err);
    name_members(&outline, kind_of(&outline), what, sizeof what);
    struct stranger found = {what, "upload what prof.export_chrome_trace() writes"};
    return stranger_refuse(&found, err);
}
