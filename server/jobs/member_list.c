// SPDX-License-Identifier: Apache-2.0
// A list is records of fixed size, each followed by its texts; the last one says how the archive
// ended. Both sides are the same program, so there are no versions.
#include "server/jobs/members.h"

#include "ingest/base/fd_io.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECORD_END = MEMBER_SKIPPED + 1, MOST_NAME = 3072, MOST_WORD = 32, MOST_REASON = 239 };

struct record {
    uint64_t at, bytes;
    int64_t secrets, process;
    uint64_t repeats; // 1: it has the bytes of the previous member
    uint64_t kind;    // enum member_kind, or RECORD_END
    uint64_t code;    // error code of the end; for a member, whether it failed
    uint64_t name, format, reason;
};

// --- writing ------------------------------------------------------------------------------------

static struct str cut(struct str text, size_t most)
{
    if (text.len <= most)
        return text;
    return (struct str){text.at, str_valid_utf8((struct str){text.at, most})};
}

static bool put(int fd, struct record record, const struct member *member, struct err *err)
{
    struct buf bytes = {0};
    struct str reason = cut(member->reason, MOST_REASON);
    record.name = member->name.len;
    record.format = member->format.len;
    record.reason = reason.len;
    buf_add(&bytes, &record, sizeof record);
    buf_add_str(&bytes, member->name);
    buf_add_str(&bytes, member->format);
    buf_add_str(&bytes, reason);
    bool ok = buf_ok(&bytes, err) && (fd_write(fd, bytes.at, bytes.len) ||
                                      err_set_errno(err, "writing the list of members"));
    buf_free(&bytes);
    return ok;
}

bool member_list_add(int fd, const struct member *member, struct err *err)
{
    struct record record = {.at = member->at,
                            .bytes = member->bytes,
                            .secrets = member->secrets,
                            .process = member->process,
                            .repeats = member->is_repeat,
                            .kind = (uint64_t)member->kind,
                            .code = member->failed};
    return put(fd, record, member, err);
}

bool member_list_finish(int fd, const struct err *end, struct err *err)
{
    struct member last = {.reason = str_of(end->msg)};
    struct record record = {.kind = RECORD_END, .code = (uint64_t)end->code};
    if (end->code == ERR_NONE)
        last.reason = STR("");
    return put(fd, record, &last, err);
}

// --- reading ------------------------------------------------------------------------------------

struct reading {
    struct str left;
    uint64_t bytes;      // of the file of bytes
    uint64_t at;         // where the last member ends in it
    uint64_t last_bytes; // of that member
    bool failed;
};

static struct str take(struct reading *in, uint64_t len, uint64_t most)
{
    if (in->failed || len > in->left.len || len > most) {
        in->failed = true;
        return (struct str){"", 0};
    }
    struct str taken = {in->left.at, len};
    in->left = (struct str){in->left.at + len, in->left.len - len};
    return taken;
}

// One line of valid UTF-8.
static struct str take_line(struct reading *in, uint64_t len, uint64_t most)
{
    struct str text = take(in, len, most);
    for (size_t i = 0; i < text.len; i++)
        in->failed |= (unsigned char)text.at[i] < ' ' || text.at[i] == 0x7f;
    in->failed |= str_valid_utf8(text) != text.len;
    return text;
}

static struct str take_word(struct reading *in, uint64_t len)
{
    struct str word = take(in, len, MOST_WORD);
    for (size_t i = 0; i < word.len; i++)
        in->failed |= !strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.", word.at[i]);
    return word;
}

static void check_place(struct reading *in, const struct record *record)
{
    if (record->bytes == 0)
        return;
    if (record->repeats) {
        in->failed |= record->bytes != in->last_bytes || record->at + record->bytes != in->at;
        return;
    }
    in->last_bytes = record->bytes;
    if (record->at < in->at || record->at > in->bytes || record->bytes > in->bytes - record->at)
        in->failed = true;
    in->at = record->at + record->bytes;
}

static struct member take_member(struct reading *in, const struct record *record)
{
    struct member member = {.name = take_line(in, record->name, MOST_NAME),
                            .kind = (enum member_kind)record->kind,
                            .format = take_word(in, record->format),
                            .at = record->at,
                            .bytes = record->bytes,
                            .secrets = record->secrets,
                            .process = record->process,
                            .is_repeat = record->repeats != 0,
                            .failed = record->code != 0,
                            .reason = take_line(in, record->reason, MOST_REASON)};
    check_place(in, record);
    in->failed |= record->code > 1 || record->secrets < -1;
    in->failed |= member.kind == MEMBER_SKIPPED && (member.bytes || !member.reason.len);
    in->failed |= member.kind == MEMBER_ATTACHMENT && (!member.bytes || member.secrets < 0);
    in->failed |= record->repeats > 1 || (record->repeats && !record->process);
    in->failed |= member.kind != MEMBER_TRACE && (record->repeats || record->process);
    // The bytes of a file that is not an archive were not copied. It has no name, or is several
    // processes with names.
    bool is_file =
        member.kind == MEMBER_TRACE && !member.name.len == !member.process && !member.bytes;
    bool is_attached = member.kind == MEMBER_ATTACHMENT && !member.name.len;
    in->failed |= !is_file && !is_attached && !member.name.len;
    in->failed |= !is_file && member.kind == MEMBER_TRACE && !member.bytes;
    return member;
}

static void take_end(struct reading *in, const struct record *record, struct err *end)
{
    struct str reason = take_line(in, record->reason, sizeof end->msg - 1);
    *end = (struct err){.code = (enum err_code)record->code, .pos = ERR_NO_POS};
    in->failed |= record->code > ERR_INTERNAL || record->name || record->format || in->left.len;
    // Only the service may decide to retry without limit, or to stop.
    in->failed |= end->code == ERR_BUSY || end->code == ERR_CANCELLED;
    if (!in->failed)
        memcpy(end->msg, reason.at, reason.len);
}

// Reads all records, into members unless it is NULL. Returns their number.
static size_t take_all(struct reading in, struct member *members, struct err *end, bool *ok)
{
    size_t count = 0;
    bool ended = false, alone = false; // alone: the file itself, which nothing follows
    while (!in.failed && !ended) {
        struct record record = {0};
        struct str bytes = take(&in, sizeof record, sizeof record);
        memcpy(&record, bytes.at, bytes.len);
        ended = record.kind == RECORD_END;
        in.failed |= record.kind > RECORD_END;
        if (in.failed)
            break;
        if (ended) {
            take_end(&in, &record, end);
            break;
        }
        struct member member = take_member(&in, &record);
        if (members)
            members[count] = member;
        in.failed |= alone || (count > 0 && !member.name.len);
        alone = !member.name.len;
        count++;
    }
    *ok = !in.failed && ended;
    return count;
}

static bool read_bytes(int fd, struct arena *arena, struct str *bytes, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_set_errno(err, "reading the list of members");
    if ((uint64_t)info.st_size > MEMBER_LIST_MAX_BYTES)
        return err_set(err, ERR_FORMAT, "the list of members is too long");
    size_t size = (size_t)info.st_size;
    char *text = arena_room(arena, size + 1, 1, err);
    if (!text)
        return false;
    *bytes = (struct str){text, size};
    return pread(fd, text, size, 0) == (ssize_t)size ||
           err_set_errno(err, "reading the list of members");
}

bool member_list_read(int fd, uint64_t bytes, struct arena *arena, struct member_list *list,
                      struct err *err)
{
    struct reading in = {.bytes = bytes};
    bool ok;
    *list = (struct member_list){0};
    if (!read_bytes(fd, arena, &in.left, err))
        return false;
    list->count = take_all(in, NULL, &list->end, &ok);
    if (!ok)
        return err_set(err, ERR_FORMAT, "the list of members is cut or damaged");
    list->at = arena_array(arena, list->count + 1, sizeof *list->at, err);
    return list->at && take_all(in, list->at, &list->end, &ok) == list->count && ok;
}
