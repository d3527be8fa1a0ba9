// SPDX-License-Identifier: Apache-2.0
// Reads archives with libarchive, using only its format readers: decompression is ours.
#include "ingest/unpack.h"
#include "ingest/base/fuzzed.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define MAX_NAME         ((size_t)1024)
#define RATIO_FREE_BYTES ((uint64_t)64 << 20) // small archives may have any ratio
#define BLOCK_BYTES      FUZZED_SIZE((size_t)64 << 10, (size_t)1 << 10)

const struct unpack_limits unpack_limits = {
    .max_members = 65536,
    .max_bytes = (uint64_t)1 << 40,
    .max_ratio = 200,
};

struct unpack {
    struct source *source;
    const struct format *format;
    struct unpack_limits limits;
    struct archive *archive;
    struct err error; // of the source, while libarchive asked for bytes
    bool seeks;       // the source is read at `at`
    uint64_t size, at, taken;
    uint64_t members, bytes; // so far
    struct unpack_member member;
    char name[MAX_NAME * 3 + 1]; // a byte may become a U+FFFD
    char block[BLOCK_BYTES];
};

// --- bytes for libarchive -----------------------------------------------------------------------

static la_ssize_t give(struct archive *archive, void *context, const void **bytes)
{
    struct unpack *unpack = context;
    size_t got = 0;
    struct source_place place = {unpack->at, unpack->block, sizeof unpack->block};
    bool ok = unpack->seeks ? source_read_at(unpack->source, &place, &got, &unpack->error)
                            : source_read(unpack->source, unpack->block, sizeof unpack->block, &got,
                                          &unpack->error);
    *bytes = unpack->block;
    unpack->at += got;
    unpack->taken += got;
    if (ok)
        return (la_ssize_t)got;
    archive_set_error(archive, EIO, "%s", "cannot be read");
    return -1;
}

static la_int64_t move(struct archive *archive, void *context, la_int64_t offset, int whence)
{
    struct unpack *unpack = context;
    int64_t from = whence == SEEK_SET   ? 0
                   : whence == SEEK_CUR ? (int64_t)unpack->at
                                        : (int64_t)unpack->size;
    int64_t to;
    if (__builtin_add_overflow(from, offset, &to) || to < 0 || to > (int64_t)unpack->size) {
        archive_set_error(archive, EINVAL, "%s", "it ends early");
        return ARCHIVE_FATAL;
    }
    unpack->at = (uint64_t)to;
    return to;
}

static la_int64_t skip(struct archive *archive, void *context, la_int64_t bytes)
{
    (void)archive;
    struct unpack *unpack = context;
    uint64_t left = unpack->size - unpack->at;
    uint64_t skipped = bytes < 0 ? 0 : (uint64_t)bytes < left ? (uint64_t)bytes : left;
    unpack->at += skipped;
    return (la_int64_t)skipped;
}

// --- errors -------------------------------------------------------------------------------------

// libarchive's message, which may contain bytes of the file.
static void words_of(struct archive *archive, char *out, size_t cap)
{
    const char *text = archive_error_string(archive);
    size_t len = 0;
    for (text = text ? text : "unknown error"; *text && len + 1 < cap; text++)
        if (*text >= ' ' && *text <= '~')
            out[len++] = *text;
    out[len] = '\0';
}

static bool fail(struct unpack *unpack, struct err *err)
{
    char words[120];
    if (unpack->error.code != ERR_NONE) {
        if (err)
            *err = unpack->error;
        return false;
    }
    if (archive_errno(unpack->archive) == ENOMEM)
        return err_set(err, ERR_MEMORY, "out of memory");
    words_of(unpack->archive, words, sizeof words);
    return err_set(err, ERR_FORMAT, "%s that is damaged or cut: %s", unpack->format->what, words);
}

// --- opening ------------------------------------------------------------------------------------

static bool start(struct unpack *unpack, struct err *err)
{
    struct archive *archive = unpack->archive = archive_read_new();
    if (!archive)
        return err_set(err, ERR_MEMORY, "out of memory");
    archive_read_set_read_callback(archive, give);
    archive_read_set_callback_data(archive, unpack);
    if (unpack->seeks) {
        archive_read_set_seek_callback(archive, move);
        archive_read_set_skip_callback(archive, skip);
    }
    return (unpack->format->unpack(archive) == ARCHIVE_OK &&
            archive_read_open1(archive) == ARCHIVE_OK) ||
           fail(unpack, err);
}

static struct source *limit(struct source *source, const struct unpack_limits *limits,
                            struct err *err)
{
    return source_limit_open(source, (struct source_limits){limits->max_bytes, limits->max_ratio},
                             err);
}

static struct unpack *make(struct source *source, const struct format *format,
                           const struct unpack_limits *limits, struct err *err)
{
    struct unpack *unpack = calloc(1, sizeof *unpack);
    if (!unpack) {
        source_close(source);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    unpack->format = format;
    unpack->limits = *limits;
    unpack->seeks = source_size(source, &unpack->size);
    // Skipped bytes count, too, if they have to be decompressed.
    unpack->source = unpack->seeks ? source : limit(source, limits, err);
    if (unpack->source && start(unpack, err))
        return unpack;
    unpack_close(unpack);
    return NULL;
}

struct unpack *unpack_open(struct source *source, const struct format *format,
                           const struct unpack_limits *limits, struct err *err)
{
    uint64_t size;
    if (format->access == FORMAT_SEEK && !source_size(source, &size)) {
        source_close(source);
        err_set(err, ERR_UNSUPPORTED,
                "found %s in a pipe or in compression, expected it as a separate file",
                format->what);
        return NULL;
    }
    return make(source, format, limits, err);
}

uint64_t unpack_taken(const struct unpack *unpack)
{
    if (!unpack->seeks)
        return source_consumed(unpack->source);
    return unpack->taken < unpack->size ? unpack->taken : unpack->size;
}

void unpack_close(struct unpack *unpack)
{
    if (!unpack)
        return;
    archive_read_free(unpack->archive);
    source_close(unpack->source);
    free(unpack);
}

// --- members ------------------------------------------------------------------------------------

// Makes a name safe to show: invalid UTF-8 and control characters become U+FFFD. False if it was
// cut.
static bool clean_name(struct unpack *unpack, const char *from)
{
    size_t len = 0;
    struct str text = str_of(from);
    bool whole = text.len <= MAX_NAME;
    text.len = whole ? text.len : MAX_NAME;
    while (text.len) {
        size_t bad = 1, step = str_utf8_next(text, &bad);
        bool control = step == 1 && ((unsigned char)*text.at < ' ' || *text.at == 0x7F);
        bool upper_control = step == 2 && text.at[0] == '\xC2' && (unsigned char)text.at[1] < 0xA0;
        bool keeps = step && !control && !upper_control;
        step = step ? step : bad;
        memcpy(unpack->name + len, keeps ? text.at : "\xEF\xBF\xBD", keeps ? step : 3);
        len += keeps ? step : 3;
        text = (struct str){text.at + step, text.len - step};
    }
    unpack->name[len] = '\0';
    return whole;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool is_absolute(const char *name)
{
    return is_slash(name[0]) || (name[0] && name[1] == ':' && is_slash(name[2]));
}

static bool leads_out(const char *name)
{
    for (const char *at = name; *at; at++)
        if ((at == name || is_slash(at[-1])) && at[0] == '.' && at[1] == '.' &&
            (!at[2] || is_slash(at[2])))
            return true;
    return false;
}

bool unpack_is_left_behind(const char *name)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    return strncmp(name, "__MACOSX/", 9) == 0 || strncmp(base, "._", 2) == 0 ||
           strcmp(base, ".DS_Store") == 0 || strcmp(base, ".stepscope-sent") == 0;
}

static const char *why_name_is_unread(const char *name)
{
    return !*name              ? "it has no name"
           : is_absolute(name) ? "its name is absolute"
           : leads_out(name)   ? "its name leads out of the archive"
                               : NULL;
}

static const char *why_kind_is_unread(struct archive_entry *entry)
{
    if (archive_entry_hardlink(entry))
        return "a link to another member";
    if (archive_entry_is_data_encrypted(entry))
        return "it is encrypted";
    switch (archive_entry_filetype(entry)) {
    case AE_IFREG: return NULL;
    case AE_IFLNK: return "a symbolic link";
    case AE_IFCHR:
    case AE_IFBLK: return "a device";
    default: return "no regular file";
    }
}

// Members that nobody added on purpose: folders, and files that macOS adds.
static bool is_aside(struct archive_entry *entry, const char *name)
{
    return archive_entry_filetype(entry) == AE_IFDIR || unpack_is_left_behind(name);
}

// False for a member to skip.
static bool describe(struct unpack *unpack, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    name = name ? name : archive_entry_pathname_utf8(entry); // the locale cannot represent it
    name = name ? name : "";
    if (is_aside(entry, name))
        return false;
    bool whole = clean_name(unpack, strncmp(name, "./", 2) == 0 && name[2] ? name + 2 : name);
    la_int64_t size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : 0;
    const char *kind = why_kind_is_unread(entry);
    unpack->member = (struct unpack_member){.name = unpack->name,
                                            .size = size > 0 ? (uint64_t)size : 0,
                                            .unread = kind    ? kind
                                                      : whole ? why_name_is_unread(name)
                                                              : "its name is too long"};
    return true;
}

bool unpack_next(struct unpack *unpack, const struct unpack_member **member, struct err *err)
{
    struct archive_entry *entry;
    *member = NULL;
    do {
        int code = archive_read_next_header(unpack->archive, &entry);
        if (code == ARCHIVE_EOF)
            return true;
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN)
            return fail(unpack, err);
        if (++unpack->members > unpack->limits.max_members)
            return err_set(err, ERR_LIMIT, "found more than %" PRIu64 " members",
                           unpack->limits.max_members);
        if (unpack->members == 1 && unpack->format->access == FORMAT_SEEK)
            unpack->taken = 0; // until here only the central directory was read
    } while (!describe(unpack, entry));
    *member = &unpack->member;
    return true;
}

// --- bytes of a member --------------------------------------------------------------------------

struct member_source {
    struct source source;
    struct unpack *unpack;
    uint64_t taken_before; // of the archive
    struct err error;      // of the last read; every later one fails the same way
};

static bool within_limits(const struct unpack *unpack, struct err *err)
{
    const struct unpack_limits *limits = &unpack->limits;
    if (unpack->bytes > limits->max_bytes)
        return err_set(err, ERR_LIMIT, "unpacks to more than %" PRIu64 " GiB",
                       limits->max_bytes >> 30);
    if (unpack->bytes > RATIO_FREE_BYTES &&
        unpack->bytes / limits->max_ratio > unpack_taken(unpack))
        return err_set(err, ERR_LIMIT,
                       "unpacks to more than %" PRIu64 " times its size, which no trace does",
                       limits->max_ratio);
    return true;
}

static bool member_read(struct source *source, void *bytes, size_t cap, size_t *got,
                        struct err *err)
{
    struct member_source *member = (struct member_source *)source;
    struct unpack *unpack = member->unpack;
    *got = 0;
    if (member->error.code == ERR_NONE) {
        la_ssize_t count = archive_read_data(unpack->archive, bytes, cap);
        *got = count > 0 ? (size_t)count : 0;
        unpack->bytes += *got;
        if ((count >= 0 || fail(unpack, &member->error)) && within_limits(unpack, &member->error))
            return true;
    }
    if (err)
        *err = member->error;
    return false;
}

static void member_close(struct source *source)
{
    free(source);
}

static uint64_t member_consumed(const struct source *source)
{
    const struct member_source *member = (const struct member_source *)source;
    return unpack_taken(member->unpack) - member->taken_before;
}

static const struct source_ops member_ops = {
    .read = member_read, .close = member_close, .consumed = member_consumed};

// --- a member's decompressed bytes ---------------------------------------------------------------

struct decoded_source {
    struct source source, *below;
    struct unpack *unpack;
};

static bool decoded_read(struct source *source, void *bytes, size_t cap, size_t *got,
                         struct err *err)
{
    struct decoded_source *decoded = (struct decoded_source *)source;
    if (!source_read(decoded->below, bytes, cap, got, err))
        return false;
    decoded->unpack->bytes += *got;
    return within_limits(decoded->unpack, err);
}

static void decoded_close(struct source *source)
{
    source_close(((struct decoded_source *)source)->below);
    free(source);
}

static uint64_t decoded_consumed(const struct source *source)
{
    return source_consumed(((const struct decoded_source *)source)->below);
}

static const struct source_ops decoded_ops = {
    .read = decoded_read, .close = decoded_close, .consumed = decoded_consumed};

struct source *unpack_decoded(struct unpack *unpack, struct source *below, struct err *err)
{
    struct decoded_source *decoded = calloc(1, sizeof *decoded);
    if (!decoded) {
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *decoded =
        (struct decoded_source){.source.ops = &decoded_ops, .below = below, .unpack = unpack};
    return &decoded->source;
}

// --- opening a member ---------------------------------------------------------------------------

struct source *unpack_source(struct unpack *unpack, struct err *err)
{
    struct member_source *member = calloc(1, sizeof *member);
    if (!member) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    member->source.ops = &member_ops;
    member->unpack = unpack;
    member->taken_before = unpack_taken(unpack);
    return &member->source;
}
