// SPDX-License-Identifier: Apache-2.0
#include "server/uploads/upload_join.h"

#include "ingest/file_sets.h"
#include "ingest/source/format.h"
#include "server/uploads/sniff.h"

#include <stdlib.h>

#define BLOCK_BYTES ((size_t)256 << 10)

// The bytes of some files one after another.
static struct source *open_parts(const struct upload_form *form, const size_t *in_set, size_t count,
                                 struct err *err)
{
    struct source *parts[UPLOAD_MAX_FILES];
    size_t opened = 0;
    while (opened < count &&
           (parts[opened] = blob_spool_read(form->parts[in_set[opened]].spool, err)))
        opened++;
    if (opened == count)
        return file_set_open(parts, count, err);
    while (opened > 0)
        source_close(parts[--opened]);
    return NULL;
}

static bool copy(struct spool *spool, struct source *source, struct err *err)
{
    char *block = malloc(BLOCK_BYTES);
    bool ok = block || err_set(err, ERR_MEMORY, "out of memory");
    for (size_t got = 1; ok && got;)
        ok = source_read(source, block, BLOCK_BYTES, &got, err) &&
             (!got || blob_spool_write(spool, block, got, err));
    free(block);
    return ok && blob_spool_seal(spool, err);
}

static struct spool *join_bytes(struct request *request, const struct upload_form *form,
                                const size_t *in_set, size_t count, struct err *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += blob_spool_bytes(form->parts[in_set[i]].spool) + 1;
    struct source *source = open_parts(form, in_set, count, err);
    struct spool *spool =
        source ? blob_spool_open(request->services->intake->blobs, bytes, err) : NULL;
    bool ok = spool && copy(spool, source, err);
    source_close(source);
    if (ok)
        return spool;
    blob_spool_close(spool);
    return NULL;
}

// The first takes over all bytes; the others give up their spools.
static bool join_set(struct request *request, struct upload_form *form, size_t first,
                     const size_t *in_set, size_t count, struct err *err)
{
    struct file_set_key key;
    struct intake_part *part = &form->parts[first];
    struct str coding = STR("");
    for (size_t i = count; i-- > 0;) {
        (void)file_set_key(form->parts[in_set[i]].filename, &key);
        coding = key.coding.len ? key.coding : coding;
    }
    const char *name = arena_printf(request->arena, err, "%.*s%s%s", (int)key.stem.len, key.stem.at,
                                    key.ending, coding.at);
    struct spool *joined = name ? join_bytes(request, form, in_set, count, err) : NULL;
    if (!joined)
        return false;
    for (size_t i = 0; i < count; i++) {
        struct intake_part *own = &form->parts[in_set[i]];
        blob_spool_close(own->spool);
        own->spool = NULL;
    }
    *part = (struct intake_part){.spool = joined,
                                 .filename = str_of(name),
                                 .rank = part->rank,
                                 .role = part->role,
                                 .archive = STR("")};
    return true;
}

// Whether a file says something about the run. Files of names or devices do not: they are read only
// before what they belong to.
static bool says_something(struct str head, struct str filename, struct err *why)
{
    const struct format *format = format_find(head, filename);
    return !format || !format->read ||
           err_set(why, ERR_FORMAT, "found %s without its events: send its files in one request",
                   format->what);
}

// Whether a file that was accepted by its name alone can be taken by itself.
static bool is_taken_alone(const struct intake_part *part, struct err *why)
{
    char head[SNIFF_BYTES];
    struct file_set_key key;
    struct str archive;
    size_t got = 0;
    if (!file_set_key(part->filename, &key))
        return true;
    if (key.names && key.coding.len) // by its name, as nothing is decompressed here
        return err_set(why, ERR_FORMAT,
                       "found the names of a trace without its events: send its files in one "
                       "request");
    if (part->archive.len)
        return true;
    struct source *source = blob_spool_read(part->spool, why);
    bool ok = source && source_fill(source, head, sizeof head, &got, why) &&
              sniff_upload((struct str){head, got}, part->filename, &archive, why) &&
              (key.events || says_something((struct str){head, got}, part->filename, why));
    source_close(source);
    return ok;
}

static void refuse(struct upload_form *form, struct intake_part *part, const struct err *why)
{
    struct api_refused_part *entry = &form->refused[form->refused_count++];
    entry->filename = part->filename;
    memcpy(entry->reason, why->msg, sizeof entry->reason);
    blob_spool_close(part->spool);
}

// Keeps what is left.
static bool settle(struct upload_form *form, const bool *joined, struct err *err)
{
    size_t kept = 0;
    struct err why = {.pos = ERR_NO_POS};
    for (size_t i = 0; i < form->part_count; i++) {
        struct intake_part *part = &form->parts[i];
        if (!part->spool)
            continue;
        if (joined[i] || is_taken_alone(part, &why))
            form->parts[kept++] = *part;
        else
            refuse(form, part, &why);
    }
    form->part_count = kept;
    if (kept == 0)
        *err = why;
    return kept > 0;
}

// Their events would count twice.
static void refuse_copies(struct upload_form *form, const struct str *names)
{
    for (size_t i = 0; i < form->part_count; i++) {
        struct err why = {.pos = ERR_NO_POS};
        size_t original = file_set_original(names, form->part_count, i);
        if (original == SIZE_MAX)
            continue;
        file_set_tell_copy(names[original], &why);
        refuse(form, &form->parts[i], &why);
        form->parts[i].spool = NULL;
    }
}

bool upload_join(struct request *request, struct upload_form *form, struct err *err)
{
    struct str names[UPLOAD_MAX_FILES];
    size_t in_set[UPLOAD_MAX_FILES];
    bool joined[UPLOAD_MAX_FILES] = {false}, ok = true;
    for (size_t i = 0; i < form->part_count; i++)
        names[i] = form->parts[i].filename;
    refuse_copies(form, names);
    for (size_t i = 0; ok && i < form->part_count; i++) {
        size_t count = form->parts[i].spool ? file_set_find(names, form->part_count, i, in_set) : 0;
        joined[i] = count > 0;
        ok = !count || join_set(request, form, i, in_set, count, err);
    }
    return ok && settle(form, joined, err);
}
