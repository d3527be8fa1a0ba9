// SPDX-License-Identifier: Apache-2.0
#include "server/collect/folder_send.h"

#include "ingest/base/buf.h"
#include "ingest/base/clock.h"
#include "ingest/base/visible.h"
#include "server/collect/stop_signal.h"

#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL
enum { UNSURE_FACTOR = 24, RESCAN_SECONDS = 60 };

// --- one file -----------------------------------------------------------------------------------

static void tell(const char *what, const char *name, const char *why)
{
    struct buf line = {0};
    buf_printf(&line, "%s ", what);
    buf_add_visible(&line, str_of(name));
    buf_puts(&line, why);
    fprintf(stderr, "%s\n", line.at && !line.failed ? line.at : what);
    buf_free(&line);
}

static void tell_sent(const char *name, const struct listed_file *file, int64_t took_ns,
                      const struct send_result *result)
{
    char how[64];
    snprintf(how, sizeof how, " (%.1f MB, %.1f s)", (double)file->bytes / 1e6,
             (double)took_ns / 1e9);
    tell(result->was_there ? "known" : "sent ", name, how);
}

static void tell_failure(const char *what, const char *name, const struct err *why)
{
    char text[sizeof why->msg + 2];
    snprintf(text, sizeof text, ": %s", why->msg);
    tell(what, name, text);
}

static void record(struct folder_send *send, struct listed_file *file, enum file_status status,
                   const char *note)
{
    struct err why = {.pos = ERR_NO_POS};
    file->status = status;
    if (!file_list_record(send->list, file, note, &why))
        fprintf(stderr, "warning: %s; after a restart files are offered again\n", why.msg);
}

// Whether to go on with other files after this failure.
static bool settle_failure(struct folder_send *send, struct listed_file *file,
                           const struct err *why)
{
    if (why->code == ERR_BUSY && send->target->hub->patience_s) // which is over
        return false;
    switch (why->code) {
    case ERR_FORMAT:
    case ERR_UNSUPPORTED: // files of a set that cannot be joined
        tell_failure("refused", file->name, why);
        record(send, file, FILE_REFUSED, why->msg);
        send->refused++;
        return true;
    case ERR_USAGE: // settings may be why: the next process asks again
        tell_failure("refused", file->name, why);
        file->status = FILE_REFUSED;
        send->refused++;
        return true;
    case ERR_BUSY: // look again later
    case ERR_CONFLICT:
    case ERR_NOT_FOUND:
    case ERR_SPACE: // on the disk where a set is joined
    case ERR_IO:
        tell_failure("failed", file->name, why);
        file->since_ns = clock_mono_ns();
        send->failed++;
        send->waiting++;
        return true;
    default: return false;
    }
}

static bool is_settled(const struct folder_send *send, const struct listed_file *file,
                       const char *path)
{
    if (!send->settle_ns)
        return true;
    int64_t age_ns = clock_mono_ns() - file->since_ns;
    if (age_ns < send->settle_ns)
        return false;
    int is_open = found_files_is_open(path);
    return is_open == 0 || (is_open < 0 && age_ns >= UNSURE_FACTOR * send->settle_ns);
}

// What is stored and does not change makes room. A log grows, and what changes is looked at again.
static void remove_sent(struct folder_send *send, const struct listed_file *file, const char *path)
{
    struct stat info;
    struct err why = {.pos = ERR_NO_POS};
    if (!send->removes || found_files_grows(file->name) || !is_settled(send, file, path) ||
        lstat(path, &info) != 0)
        return;
    const struct listed_file now = file_list_entry(file->name, &info);
    if (now.bytes != file->bytes || now.modified_ns != file->modified_ns || unlink(path) == 0 ||
        send->said_kept)
        return;
    (void)err_set_errno(&why, "cannot be removed");
    tell_failure("kept", file->name, &why);
    send->said_kept = true;
}

static bool send_listed(struct folder_send *send, struct listed_file *file, const char *path,
                        struct err *err)
{
    struct send_result result;
    struct err why = {.pos = ERR_NO_POS};
    int64_t begin = clock_mono_ns();
    if (!send_file(send->target, path, file->name, &result, &why)) {
        bool go_on = settle_failure(send, file, &why);
        if (!go_on)
            *err = why;
        return go_on;
    }
    tell_sent(file->name, file, clock_mono_ns() - begin, &result);
    snprintf(send->run_id, sizeof send->run_id, "%s", result.run_id);
    send->sent += !result.was_there;
    send->known += result.was_there;
    record(send, file, FILE_SENT, result.upload);
    remove_sent(send, file, path);
    return true;
}

// A trace that was rewritten would become one more rank; a log grows.
static bool is_rewritten(const struct folder_send *send, const struct listed_file *file)
{
    return file->was_sent && !send->target->replace && !found_files_grows(file->name);
}

static bool consider(struct folder_send *send, const char *path, const struct listed_file *now,
                     struct err *err)
{
    struct listed_file *file = file_list_see(send->list, now, err);
    if (!file)
        return false;
    if (file->status == FILE_SENT) {
        send->known += send->retry;
        remove_sent(send, file, path);
        return true;
    }
    if (file->status == FILE_REFUSED && !send->retry)
        return true;
    if (!is_settled(send, file, path)) {
        send->waiting++;
        return true;
    }
    if (is_rewritten(send, file)) {
        const struct err why = {
            .code = ERR_FORMAT,
            .msg = "it was sent before and has changed; --replace puts it in place of the first"};
        return settle_failure(send, file, &why);
    }
    return send_listed(send, file, path, err);
}

bool folder_send_one(struct folder_send *send, const char *path, const char *name, struct err *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return err_set(err, ERR_NOT_FOUND, "%.180s: found no such file", path);
    const struct listed_file now = file_list_entry(name, &info);
    return consider(send, path, &now, err);
}

// --- files that are read as one -----------------------------------------------------------------

// What is left to do with the members of a set.
struct set_state {
    struct listed_file *entries[SET_SEND_MOST];
    bool all_sent, some_sent, all_judged, settled; // judged: sent or refused
};

static bool look_at_set(struct folder_send *send, const struct set_file *const *members,
                        size_t count, struct set_state *state, struct err *err)
{
    *state = (struct set_state){.all_sent = true, .all_judged = true, .settled = true};
    for (size_t i = 0; i < count; i++) {
        char path[4200];
        struct listed_file *entry = file_list_see(send->list, &members[i]->file, err);
        if (!entry)
            return false;
        snprintf(path, sizeof path, "%s/%s", send->folder, entry->name);
        state->entries[i] = entry;
        state->all_sent &= entry->status == FILE_SENT;
        state->some_sent |= entry->status == FILE_SENT || entry->was_sent;
        state->all_judged &= entry->status == FILE_SENT || entry->status == FILE_REFUSED;
        state->settled &= entry->status == FILE_SENT || is_settled(send, entry, path);
    }
    return true;
}

static void note_set(struct folder_send *send, struct set_state *state, size_t count,
                     int64_t took_ns, const struct send_result *result)
{
    snprintf(send->run_id, sizeof send->run_id, "%s", result->run_id);
    for (size_t i = 0; i < count; i++) {
        tell_sent(state->entries[i]->name, state->entries[i], took_ns, result);
        send->sent += !result->was_there;
        send->known += result->was_there;
        record(send, state->entries[i], FILE_SENT, result->upload);
    }
}

static bool send_set(struct folder_send *send, const struct set_file *const *members, size_t count,
                     struct set_state *state, struct err *err)
{
    struct send_result result = {0};
    struct err why = {.pos = ERR_NO_POS};
    int64_t begin = clock_mono_ns();
    bool late = state->some_sent && !send->target->replace;
    if (late)
        (void)err_set(&why, ERR_FORMAT,
                      "others of its set were sent before it; --replace puts all of them in place "
                      "of those");
    else if (set_send_one(members, count, send->target, send->folder, &result, &why))
        note_set(send, state, count, clock_mono_ns() - begin, &result);
    for (size_t i = 0; i < count; i++)
        if (state->entries[i]->status != FILE_SENT &&
            !settle_failure(send, state->entries[i], &why)) {
            *err = why;
            return false;
        }
    return true;
}

static bool consider_set(struct folder_send *send, const struct set_file *const *members,
                         size_t count, struct err *err)
{
    struct set_state state;
    if (!look_at_set(send, members, count, &state, err))
        return false;
    if (state.all_sent && send->retry)
        send->known += count;
    if (state.all_sent || (state.all_judged && !send->retry))
        return true;
    if (state.settled)
        return send_set(send, members, count, &state, err);
    send->waiting += count;
    return true;
}

// A file that found no others of a set: as any other, unless it only names what others hold.
static bool consider_alone(struct folder_send *send, const struct set_file *member, struct err *err)
{
    char path[4200];
    if (!member->key.events && strcmp(member->key.ending, ".prv") == 0)
        return true;
    snprintf(path, sizeof path, "%s/%s", send->folder, member->file.name);
    return consider(send, path, &member->file, err);
}

static bool is_judged(const struct listed_file *file)
{
    return file->status == FILE_SENT || file->status == FILE_REFUSED;
}

// A compressed copy of a file is not sent; one may be about to take the file's place.
static bool refuse_copy(struct folder_send *send, const struct set_file *copy,
                        const struct set_file *original, struct err *err)
{
    struct err why = {.pos = ERR_NO_POS};
    struct listed_file *entry = file_list_see(send->list, &copy->file, err);
    const struct listed_file *first =
        entry ? file_list_see(send->list, &original->file, err) : NULL;
    if (!first || is_judged(entry))
        return first;
    if (!is_judged(first)) {
        send->waiting++;
        return true;
    }
    file_set_tell_copy(str_of(original->file.name), &why);
    return settle_failure(send, entry, &why);
}

static bool consider_like(struct folder_send *send, size_t from, size_t count, struct err *err)
{
    const struct set_file *members[SET_SEND_MOST], *original;
    size_t found = set_send_members(&send->sets, from, count, members);
    bool ok = !found || consider_set(send, members, found, err);
    const struct set_file *files = &send->sets.files[from];
    for (size_t i = 0; ok && !found && i < count; i++)
        if (!set_send_original(&send->sets, from, count, &files[i]))
            ok = consider_alone(send, &files[i], err);
    for (size_t i = 0; ok && i < count; i++)
        if ((original = set_send_original(&send->sets, from, count, &files[i])))
            ok = refuse_copy(send, &files[i], original, err);
    return ok;
}

static bool consider_sets(struct folder_send *send, struct err *err)
{
    struct stop_signal *stop = send->target->hub->stop;
    bool ok = true;
    set_send_sort(&send->sets);
    for (size_t from = 0, count; ok && from < send->sets.count; from += count) {
        count = set_send_like(&send->sets, from);
        if (stop && stop_signal_now(stop))
            return err_set(err, ERR_CANCELLED, "stopped");
        ok = consider_like(send, from, count, err);
    }
    return ok;
}

// --- a folder -----------------------------------------------------------------------------------

static bool found(void *context, const char *name, const struct stat *info, struct err *err)
{
    struct folder_send *send = context;
    char path[4200];
    struct remote_hub *hub = send->target->hub;
    if (hub->stop && stop_signal_now(hub->stop))
        return err_set(err, ERR_CANCELLED, "stopped");
    snprintf(path, sizeof path, "%s/%s", send->folder, name);
    const struct listed_file now = file_list_entry(name, info);
    bool kept;
    return set_send_keep(&send->sets, &now, &kept, err) &&
           (kept || consider(send, path, &now, err));
}

// A file without a usual ending is opened in one pass of many, unless it changes.
static bool is_read(void *context, const char *name, const struct stat *info, const char *path)
{
    struct folder_send *send = context;
    struct err ignored = {.pos = ERR_NO_POS};
    const struct listed_file now = file_list_entry(name, info);
    struct listed_file *file = file_list_see(send->list, &now, &ignored);
    if (file && file->status != FILE_SEEN)
        return file->status != FILE_UNREAD;
    bool is = found_files_is_read(path);
    if (file && !is)
        file->status = FILE_UNREAD;
    return is;
}

// Asked again for a folder that is watched, this changes nothing.
static void entered(void *context, const char *path)
{
    const struct folder_send *send = context;
    (void)inotify_add_watch(send->notify, path,
                            IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
}

bool folder_send_pass(struct folder_send *send, struct err *err)
{
    send->waiting = 0;
    if (!send->retry)
        send->left = (struct files_left){0};
    file_list_pass(send->list);
    const struct found_files walk = {.folder = send->folder,
                                     .only = send->only,
                                     .file = found,
                                     .is_read = send->retry ? NULL : is_read,
                                     .subfolder = send->notify >= 0 ? entered : NULL,
                                     .context = send,
                                     .left = &send->left};
    set_send_init(&send->sets);
    bool ok = found_files_walk(&walk, err) && consider_sets(send, err);
    set_send_free(&send->sets);
    return ok;
}

// --- watching -----------------------------------------------------------------------------------

// What has happened does not matter: the next pass looks at the folder itself.
static void drain(int notify)
{
    char events[4096];
    while (read(notify, events, sizeof events) > 0)
        ;
}

static bool last_pass(struct folder_send *send, struct err *err)
{
    send->settle_ns = send->settle_ns ? 1 : 0; // from now on it is enough that a file is closed
    return folder_send_pass(send, err) || err->code == ERR_CANCELLED;
}

bool folder_send_watch(struct folder_send *send, struct stop_signal *stop, struct err *err)
{
    bool ok = true;
    send->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    while (ok && !stop_signal_seen(stop)) {
        ok = folder_send_pass(send, err);
        int64_t wait_ns = send->waiting ? send->settle_ns : RESCAN_SECONDS * SECOND_NS;
        wait_ns = wait_ns < SECOND_NS ? SECOND_NS : wait_ns; // a pass reads the whole folder
        if (ok && stop_signal_wait(stop, send->notify, wait_ns)) {
            stop_signal_wait(stop, -1, SECOND_NS / 5); // more may follow at once
            drain(send->notify);
        }
    }
    ok = (ok || (err->code == ERR_CANCELLED && stop_signal_seen(stop))) && last_pass(send, err);
    if (send->notify >= 0)
        close(send->notify);
    return ok;
}
