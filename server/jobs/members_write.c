// SPDX-License-Identifier: Apache-2.0
// Unpacks an archive, in the child process of a job, which has nothing but its descriptors.
#include "server/jobs/members.h"

#include "ingest/base/fd_io.h"
#include "ingest/base/redactor.h"
#include "ingest/evidence/evidence.h"
#include "ingest/file_sets.h"
#include "ingest/ingest.h"
#include "ingest/unpack.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)256 << 10)

// A member that may belong to a set of files, some of which come later.
struct waiting {
    struct str name;
    uint64_t at, bytes;
};

struct writer {
    const struct members_work *work;
    struct arena arena; // of those that wait
    struct waiting *waiting;
    size_t waiting_count;
    struct unpack *unpack;
    uint64_t at;     // the end of the file of bytes
    uint64_t freed;  // of it: parts of sets that were read and take no disk space any more
    struct err note; // holds the reason of the current member
    struct format_parts *processes; // of the current member
    char *block;
};

// --- the file of bytes --------------------------------------------------------------------------

static bool write_bytes(struct writer *writer, const char *bytes, size_t size, struct err *err)
{
    if (writer->at - writer->freed + size > writer->work->max_bytes)
        return err_set(err, ERR_SPACE,
                       "unpacks to more than %" PRIu64
                       " bytes, which is what the disk or a quota has room for",
                       writer->work->max_bytes);
    if (!fd_write_at(writer->work->bytes, bytes, size, writer->at))
        return err_set_errno(err, "writing a member");
    writer->at += size;
    return true;
}

// Discards the bytes from there on.
static bool drop_bytes(struct writer *writer, uint64_t from, struct err *err)
{
    writer->at = from;
    return ftruncate(writer->work->bytes, (off_t)from) == 0 ||
           err_set_errno(err, "dropping a member");
}

// Copies what can be read; *why is the error that ended it, if any.
static bool copy(struct writer *writer, struct source *source, struct err *why, struct err *err)
{
    size_t got = 0;
    do {
        got = 0;
        if (!source_read(source, writer->block, BLOCK_BYTES, &got, why))
            return true;
        if (got && !write_bytes(writer, writer->block, got, err))
            return false;
    } while (got);
    return true;
}

// The member's bytes, decompressed.
static struct source *open_bytes(struct writer *writer, const struct member *member,
                                 struct format_found *found, struct err *err)
{
    if (lseek(writer->work->bytes, (off_t)member->at, SEEK_SET) < 0) {
        err_set_errno(err, "reading a member again");
        return NULL;
    }
    struct source *source = source_fd_open(writer->work->bytes, err);
    // The member is the last in the file, so what comes after it is free.
    struct format_hint hint = {member->name, {writer->work->bytes, writer->at}};
    source = source ? format_open(source, &hint, found, err) : NULL;
    uint64_t size;
    bool streams = source && found->layer_count && !source_size(source, &size);
    return streams ? unpack_decoded(writer->unpack, source, err) : source;
}

// --- attachments --------------------------------------------------------------------------------

static void explain(struct member *member, const char *reason)
{
    member->reason = str_of(reason);
}

static void skip(struct member *member, const char *reason, bool failed)
{
    member->kind = MEMBER_SKIPPED;
    member->bytes = 0;
    member->secrets = 0;
    member->failed = failed;
    explain(member, reason);
}

// UTF-8 without control characters that text never has.
static bool is_text(struct str head)
{
    size_t valid = str_valid_utf8(head);
    if (valid + 3 < head.len || (valid < head.len && head.len < FORMAT_HEAD_BYTES))
        return false;
    for (size_t i = 0; i < valid; i++)
        if ((unsigned char)head.at[i] < ' ' && !strchr("\t\n\r\f\b\x1b", head.at[i]))
            return false;
    return true;
}

static bool write_clean(struct writer *writer, struct buf *clean, struct err *err)
{
    bool ok =
        buf_ok(clean, err) && (!clean->len || write_bytes(writer, clean->at, clean->len, err));
    buf_clear(clean);
    return ok;
}

static bool redact(struct writer *writer, struct source *source, struct err *why, struct err *err)
{
    struct redactor redactor = {0};
    struct buf clean = {0};
    bool ok = true;
    for (size_t got = 1; ok && got;) {
        got = 0;
        if (!source_read(source, writer->block, BLOCK_BYTES, &got, why))
            break;
        redactor_add(&redactor, (struct str){writer->block, got}, &clean);
        ok = write_clean(writer, &clean, err);
    }
    ok = ok && redactor_end(&redactor, &clean, err) && write_clean(writer, &clean, err);
    redactor_free(&redactor);
    buf_free(&clean);
    return ok;
}

// "train.log.gz" is kept as "train.log".
static void drop_endings(struct member *member, const struct format_found *found)
{
    for (unsigned i = 0; i < found->layer_count; i++) {
        const char *ending = found->layers[i]->ending;
        struct str end = str_of(ending ? ending : "");
        struct str *name = &member->name;
        if (name->len > end.len && memcmp(name->at + name->len - end.len, end.at, end.len) == 0)
            name->len -= end.len;
    }
}

// Replaces the bytes by a copy that is decompressed and redacted.
static bool keep_text(struct writer *writer, struct member *member, struct source *source,
                      struct err *why, struct err *err)
{
    member->at = writer->at;
    member->secrets = 0;
    if (!redact(writer, source, why, err))
        return false;
    member->bytes = writer->at - member->at;
    if (!member->bytes)
        skip(member, "an empty file", false);
    return true;
}

static bool count_secrets(struct writer *writer, struct member *member, struct source *source,
                          struct err *why)
{
    struct secret_tally tally = {0};
    for (size_t got = 1; got;) {
        got = 0;
        if (!source_read(source, writer->block, BLOCK_BYTES, &got, why))
            break;
        secret_tally_add(&tally, (struct str){writer->block, got});
    }
    secret_tally_end(&tally);
    member->secrets = 0;
    for (int kind = 0; kind < SECRET_KINDS; kind++)
        member->secrets += (int64_t)tally.found[kind].count;
    return true;
}

static bool keep_attachment(struct writer *writer, struct member *member, struct err *why,
                            struct err *err)
{
    struct format_found found;
    member->kind = MEMBER_ATTACHMENT;
    member->secrets = 0;
    struct source *source = open_bytes(writer, member, &found, why);
    if (!source)
        return true;
    bool text = is_text(found.head);
    if (text)
        drop_endings(member, &found);
    bool ok = text ? keep_text(writer, member, source, why, err)
                   : count_secrets(writer, member, source, why);
    source_close(source);
    return ok;
}

// --- what a member is ---------------------------------------------------------------------------

static bool is_archive(const struct format *format)
{
    return format && format->kind == FORMAT_ARCHIVE;
}

// For JSON whose start does not identify it: whether it has events.
static bool has_events(struct writer *writer, const struct member *member)
{
    struct format_found found;
    struct err why = {.pos = ERR_NO_POS};
    struct budget budget = {.limit = writer->work->memory_bytes};
    struct source *source = open_bytes(writer, member, &found, &why);
    struct trace *trace = source ? ingest_opened(source, &found, &budget, NULL, &why) : NULL;
    trace_free(trace);
    return trace || why.code != ERR_FORMAT;
}

// For text whose start does not tell: whether it says anything about a run.
static bool says_something(struct writer *writer, const struct member *member, struct err *why)
{
    struct budget budget = {.limit = writer->work->memory_bytes};
    struct evidence evidence;
    struct ingest_from from = {.fd = writer->work->bytes,
                               .scratch = {writer->work->bytes, writer->at},
                               .filename = member->name};
    if (lseek(from.fd, (off_t)member->at, SEEK_SET) < 0)
        return !err_set_errno(why, "reading a member again");
    evidence_init(&evidence, &budget);
    bool ok = ingest_evidence(&from, &evidence, NULL, why);
    evidence_free(&evidence);
    return ok || why->code != ERR_FORMAT;
}

// Describes a file whose contents are only counted. Returns false if it is not of that format.
static bool describe(struct writer *writer, struct member *member, const struct format *format)
{
    struct format_found found;
    struct err why = {.pos = ERR_NO_POS};
    struct budget budget = {.limit = writer->work->memory_bytes};
    struct arena arena;
    arena_init(&arena, &budget);
    struct figures figures = {.arena = &arena};
    struct source *source = open_bytes(writer, member, &found, &why);
    source = source ? source_limit_open(source, source_trace_limits, &why) : NULL;
    struct format_input input = {
        .source = source, .budget = &budget, .filename = member->name, .figures = &figures};
    bool ok = source && format->count(&input, &why);
    if (ok)
        figures_words(&figures, writer->note.msg, sizeof writer->note.msg);
    if (ok && writer->note.msg[0])
        explain(member, writer->note.msg);
    source_close(source);
    arena_free(&arena);
    return ok || why.code != ERR_FORMAT;
}

static bool is_counted(const struct format *format)
{
    return format && format_is_kept(format) && !format->gather;
}

// A database is known by its tables, JSON perhaps by its start.
static bool is_sure(const struct member *member, const struct format_found *found)
{
    return found->format && (found->format->tables ||
                             format_like(found->format, found->head, member->name) == FORMAT_SURE);
}

static bool is_trace(struct writer *writer, const struct member *member,
                     const struct format_found *found, bool sure)
{
    return found->format && found->format->read && (sure || has_events(writer, member));
}

// The processes in a file; damage shows when it is read.
static bool list_processes(struct writer *writer, struct source *source,
                           const struct format *format, struct err *err)
{
    struct err why;
    writer->processes->count = 0;
    if (!format || !format->parts || format->parts(source, writer->processes, &why))
        return true;
    writer->processes->count = 0;
    if (why.code != ERR_MEMORY && why.code != ERR_CANCELLED)
        return true;
    *err = why;
    return false;
}

// Explains why an attachment is not a trace. other: the best match among formats that are not read.
static void judge(struct writer *writer, struct member *member, const struct format *format,
                  const struct format *other)
{
    bool named = format_has_ending(1u << FORMAT_TRACE, member->name);
    if (format && format->read)
        member->format = other ? str_of(other->name) : named ? STR("json") : STR("");
    if (is_archive(format))
        explain(member, "an archive within an archive: unpack it and upload its files");
    else if (named && !(format && (format->read || format->gather))) {
        member->failed = !(format ? format_refuse(format, &writer->note)
                                  : format_refuse_what("content that is not JSON", &writer->note));
        explain(member, writer->note.msg);
    } else if (other && other->kind == FORMAT_TRACE && other->advice)
        explain(member, other->advice);
}

static bool classify(struct writer *writer, struct member *member, struct err *why, struct err *err)
{
    struct format_found found;
    struct source *source = open_bytes(writer, member, &found, why);
    if (!source) {
        member->failed = true;
        return keep_attachment(writer, member, why, err);
    }
    const struct format *other = found.format && found.format->read
                                     ? format_find_unread(found.head, member->name)
                                     : found.format;
    bool sure = is_sure(member, &found);
    bool listed = list_processes(writer, source, found.format, err);
    source_close(source);
    if (!listed)
        return false;
    member->format = found.format ? str_of(found.format->name) : STR("");
    if (is_trace(writer, member, &found, sure)) {
        member->kind = MEMBER_TRACE;
        member->secrets = -1;
        return true;
    }
    struct err nothing = {.pos = ERR_NO_POS};
    if (is_counted(found.format) && describe(writer, member, found.format))
        return keep_attachment(writer, member, why, err);
    if (found.format && found.format->gather && !sure && !says_something(writer, member, &nothing))
        member->format = STR("text");
    judge(writer, member, found.format, other);
    return keep_attachment(writer, member, why, err);
}

// Limits apply to the whole archive, which ends here.
static bool ends(const struct err *why)
{
    return why->code == ERR_LIMIT || why->code == ERR_MEMORY;
}

// Copies the member and closes the source.
static bool copy_member(struct writer *writer, struct source *source, struct member *member,
                        struct err *why, struct err *err)
{
    bool ok = source && copy(writer, source, why, err);
    source_close(source);
    member->bytes = writer->at - member->at;
    return ok;
}

// Decides what the bytes of a member are, which were copied.
static bool take_bytes(struct writer *writer, struct member *member, struct err *why,
                       struct err *err)
{
    if (ends(why))
        return true;
    if (member->bytes)
        return classify(writer, member, why, err);
    skip(member, why->code ? why->msg : "an empty file",
         why->code || format_has_ending(1u << FORMAT_TRACE, member->name));
    return true;
}

// Each process of a file becomes its own member, with the file's bytes.
static bool add_processes(struct writer *writer, const struct member *file, struct err *err)
{
    struct buf name = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < writer->processes->count; i++) {
        struct member member = *file;
        buf_clear(&name);
        buf_add_str(&name, file->name);
        buf_printf(&name, "%sprocess%u", file->name.len ? "/" : "", i);
        member.name = (struct str){name.at, name.len};
        member.process = writer->processes->at[i];
        member.is_repeat = i > 0;
        ok = buf_ok(&name, err) && member_list_add(writer->work->list, &member, err);
    }
    buf_free(&name);
    return ok;
}

// Lists a member. *end: the archive cannot be read further.
static bool add_member(struct writer *writer, struct member *member, const struct err *why,
                       struct err *end, struct err *err)
{
    if (ends(why)) {
        *end = *why;
        return drop_bytes(writer, member->at, err);
    }
    if (why->code && !member->reason.len)
        explain(member, why->msg);
    if (member->kind == MEMBER_TRACE && writer->processes->count > 1)
        return add_processes(writer, member, err);
    return (member->kind != MEMBER_SKIPPED || drop_bytes(writer, member->at, err)) &&
           member_list_add(writer->work->list, member, err);
}

// --- files that are read as one -----------------------------------------------------------------

// A part of a set in the file of bytes. Reading frees it, which makes room for the set.
struct piece {
    struct source source;
    struct writer *writer;
    uint64_t at, end, freed_to;
};

// Filesystems that cannot punch holes need the room twice.
static void free_read(struct piece *piece)
{
    struct writer *writer = piece->writer;
    uint64_t bytes = piece->at - piece->freed_to;
    if ((bytes < BLOCK_BYTES && piece->at < piece->end) || !bytes ||
        fallocate(writer->work->bytes, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)piece->freed_to, (off_t)bytes) != 0)
        return;
    writer->freed += bytes;
    piece->freed_to = piece->at;
}

static bool piece_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct piece *piece = (struct piece *)source;
    uint64_t left = piece->end - piece->at;
    ssize_t read =
        fd_read_at(piece->writer->work->bytes, bytes, left < cap ? (size_t)left : cap, piece->at);
    *got = 0;
    if (read < 0)
        return err_set_errno(err, "reading a member again");
    *got = (size_t)read;
    piece->at += *got;
    free_read(piece);
    return true;
}

static void piece_close(struct source *source)
{
    free(source);
}

static uint64_t piece_consumed(const struct source *source)
{
    return ((const struct piece *)source)->at;
}

static const struct source_ops piece_ops = {
    .read = piece_read, .close = piece_close, .consumed = piece_consumed};

static struct source *open_waiting(struct writer *writer, const struct waiting *waiting,
                                   struct err *err)
{
    struct piece *piece = malloc(sizeof *piece);
    if (!piece) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *piece = (struct piece){
        {&piece_ops}, writer, waiting->at, waiting->at + waiting->bytes, waiting->at};
    return &piece->source;
}

static bool keep_waiting(struct writer *writer, const struct member *member, struct err *err)
{
    writer->waiting = arena_more(&writer->arena, writer->waiting, writer->waiting_count,
                                 sizeof *writer->waiting, err);
    const char *name = writer->waiting ? arena_strdup(&writer->arena, member->name, err) : NULL;
    if (!name)
        return false;
    writer->waiting[writer->waiting_count++] =
        (struct waiting){str_of(name), member->at, member->bytes};
    return true;
}

// A file of a set is handled with the set's last file. Every two names are compared, so beyond a
// few seconds' worth files are handled alone.
static bool may_wait(const struct writer *writer, const struct member *member,
                     const struct err *why)
{
    enum { MOST_WAITING = 4096 };
    struct file_set_key key;
    return !why->code && member->bytes && writer->waiting_count < MOST_WAITING &&
           file_set_key(member->name, &key);
}

// The set's files as one source; a single file as itself.
static struct source *open_set(struct writer *writer, const size_t *in_set, size_t count,
                               struct err *err)
{
    struct source **parts = arena_array(&writer->arena, count, sizeof *parts, err);
    for (size_t i = 0; parts && i < count; i++)
        if (!(parts[i] = open_waiting(writer, &writer->waiting[in_set[i]], err))) {
            while (i > 0)
                source_close(parts[--i]);
            return NULL;
        }
    return !parts ? NULL : count == 1 ? parts[0] : file_set_open(parts, count, err);
}

static const char *name_set(struct writer *writer, const size_t *in_set, size_t count,
                            struct err *err)
{
    struct file_set_key key;
    struct str coding = STR(""), name = writer->waiting[in_set[0]].name;
    if (count == 1)
        return name.at;
    for (size_t i = count; i-- > 0;)
        if (file_set_key(writer->waiting[in_set[i]].name, &key) && key.coding.len)
            coding = key.coding;
    (void)file_set_key(name, &key);
    return arena_printf(&writer->arena, err, "%.*s%s%s", (int)key.stem.len, key.stem.at, key.ending,
                        coding.at);
}

static bool take_set(struct writer *writer, const size_t *in_set, size_t count, struct err *end,
                     struct err *err)
{
    struct err why = {.pos = ERR_NO_POS};
    const char *name = name_set(writer, in_set, count, err);
    struct member member = {.name = str_of(name ? name : ""), .at = writer->at, .format = STR("")};
    struct source *source = name ? open_set(writer, in_set, count, &why) : NULL;
    if (!name)
        return false;
    if (!source) {
        skip(&member, why.msg, true);
        return add_member(writer, &member, &why, end, err);
    }
    return copy_member(writer, source, &member, &why, err) &&
           take_bytes(writer, &member, &why, err) && add_member(writer, &member, &why, end, err);
}

// Lists a file as skipped that is also there uncompressed.
static bool skip_copy(struct writer *writer, struct str name, struct str original, struct err *end,
                      struct err *err)
{
    struct err why = {.pos = ERR_NO_POS};
    struct member member = {.name = name, .at = writer->at, .format = STR("")};
    file_set_tell_copy(original, &why);
    skip(&member, why.msg, false);
    return add_member(writer, &member, &why, end, err);
}

static bool take_waiting(struct writer *writer, struct err *end, struct err *err)
{
    size_t count = writer->waiting_count;
    struct str *names = arena_array(&writer->arena, count + 1, sizeof *names, err);
    size_t *in_set = names ? arena_array(&writer->arena, count + 1, sizeof *in_set, err) : NULL;
    bool *taken = in_set ? arena_array(&writer->arena, count + 1, sizeof *taken, err) : NULL;
    bool ok = taken;
    for (size_t i = 0; ok && i < count; i++)
        names[i] = writer->waiting[i].name;
    for (size_t i = 0; ok && i < count && !end->code; i++) {
        size_t found = taken[i] ? 0 : file_set_find(names, count, i, in_set);
        if (taken[i])
            continue;
        size_t original = file_set_original(names, count, i);
        if (original != SIZE_MAX) {
            ok = skip_copy(writer, names[i], names[original], end, err);
            continue;
        }
        if (!found)
            in_set[found++] = i;
        for (size_t k = 0; k < found; k++)
            taken[in_set[k]] = true;
        ok = take_set(writer, in_set, found, end, err);
    }
    return ok;
}

// --- the archive --------------------------------------------------------------------------------

static bool take_member(struct writer *writer, const struct unpack_member *from, struct err *end,
                        struct err *err)
{
    struct err why = {.pos = ERR_NO_POS};
    struct member member = {.name = str_of(from->name[0] ? from->name : "unnamed"),
                            .at = writer->at,
                            .format = STR("")};
    if (from->unread) {
        skip(&member, from->unread, false);
        return add_member(writer, &member, &why, end, err);
    }
    if (!copy_member(writer, unpack_source(writer->unpack, err), &member, &why, err))
        return false;
    if (may_wait(writer, &member, &why))
        return keep_waiting(writer, &member, err);
    return take_bytes(writer, &member, &why, err) && add_member(writer, &member, &why, end, err);
}

// The disk or a quota is full: complete members are kept.
static bool stop_at_limit(struct err *end, struct err *err)
{
    if (err->code != ERR_SPACE)
        return false;
    *end = *err;
    return true;
}

static bool each_member(struct writer *writer, struct err *end, struct err *err)
{
    const struct unpack_member *from = NULL;
    for (;;) {
        if (!unpack_next(writer->unpack, &from, end) || !from)
            return true;
        uint64_t at = writer->at;
        if (!take_member(writer, from, end, err))
            // A file that did not fit makes room for those that wait.
            return stop_at_limit(end, err) && drop_bytes(writer, at, err);
        if (end->code)
            return true;
        if (writer->work->progress)
            writer->work->progress->done_bytes = unpack_taken(writer->unpack);
    }
}

static bool take_members(struct writer *writer, struct err *end, struct err *err)
{
    struct err late = {.pos = ERR_NO_POS}; // after an archive that was cut
    return each_member(writer, end, err) &&
           (ends(end) || take_waiting(writer, end->code ? &late : end, err));
}

// A file that says something about the run is kept as a member would be.
static bool add_evidence(struct writer *writer, struct source *source, const struct format *format,
                         struct err *end, struct err *err)
{
    struct member file = {.name = STR(""), .format = str_of(format->name)};
    struct err why = {.pos = ERR_NO_POS};
    source = source_limit_open(source, source_trace_limits, err);
    if (!copy_member(writer, source, &file, &why, err))
        return false;
    if (ends(&why)) {
        *end = why;
        return drop_bytes(writer, 0, err);
    }
    if (is_counted(format))
        (void)describe(writer, &file, format);
    if (!keep_attachment(writer, &file, &why, err))
        return false;
    if (file.kind == MEMBER_SKIPPED)
        return format_refuse_what(file.reason.at, end) || true;
    if (why.code)
        explain(&file, why.msg);
    return member_list_add(writer->work->list, &file, err);
}

// If the decompressed file is not an archive, it is a trace, or several.
static bool add_file(struct writer *writer, struct source *source, const struct format *format,
                     struct err *err)
{
    struct member file = {.name = STR(""), .kind = MEMBER_TRACE, .format = STR(""), .secrets = -1};
    bool listed = list_processes(writer, source, format, err);
    source_close(source);
    if (!listed || writer->processes->count < 2)
        return listed && member_list_add(writer->work->list, &file, err);
    file.format = str_of(format->name);
    return add_processes(writer, &file, err);
}

static bool write_members(struct writer *writer, struct err *end, struct err *err)
{
    struct format_found found;
    struct source *source = source_fd_open(writer->work->input, err);
    if (!source)
        return false;
    struct format_hint hint = {writer->work->filename, {writer->work->bytes, 0}};
    source = format_open(source, &hint, &found, end);
    if (!source)
        return true;
    if (found.format && format_is_kept(found.format))
        return add_evidence(writer, source, found.format, end, err);
    if (!is_archive(found.format) || !found.format->unpack)
        return add_file(writer, source, found.format, err);
    writer->unpack = unpack_open(source, found.format, &unpack_limits, end);
    return !writer->unpack || take_members(writer, end, err) || stop_at_limit(end, err);
}

bool members_write(const struct members_work *work, struct err *err)
{
    struct writer writer = {
        .work = work, .block = malloc(BLOCK_BYTES), .processes = malloc(sizeof *writer.processes)};
    struct err end = {.pos = ERR_NO_POS};
    arena_init(&writer.arena, NULL);
    bool ok = (writer.block && writer.processes) || err_set(err, ERR_MEMORY, "out of memory");
    ok = ok && write_members(&writer, &end, err) && member_list_finish(work->list, &end, err);
    unpack_close(writer.unpack);
    arena_free(&writer.arena);
    free(writer.block);
    free(writer.processes);
    return ok;
}
