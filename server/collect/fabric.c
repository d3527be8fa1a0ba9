// SPDX-License-Identifier: Apache-2.0
// Protocol-compatible with kineto 114171df; the offsets are those of 64-bit processes.
#include "server/collect/fabric.h"

#include <stddef.h>
#include <stdio.h>

#define CLIENT "dynoconfigclient"
enum { TYPE_BYTES = 32, UUID_CHARS = 36, MOST_FOLDER = 54, MOST_PATH = 200 };

static bool is_type(const char *type, const char *word)
{
    char expected[TYPE_BYTES] = {0};
    memcpy(expected, word, strlen(word));
    return memcmp(type, expected, TYPE_BYTES) == 0;
}

static bool parse_request(struct str body, struct fabric_message *message)
{
    int32_t count;
    if (body.len < 20)
        return false;
    memcpy(&message->type, body.at, 4);
    memcpy(&count, body.at + 4, 4);
    memcpy(&message->job, body.at + 8, 8);
    if (count < 1 || count > FABRIC_MOST_PIDS || body.len != 16 + 4 * (size_t)count)
        return false;
    memcpy(message->pids, body.at + 16, 4 * (size_t)count);
    message->pid_count = (size_t)count;
    return message->type >= 0 && message->type <= 3;
}

static bool parse_context(struct str body, struct fabric_message *message)
{
    if (body.len != 16)
        return false;
    memcpy(&message->pids[0], body.at + 4, 4);
    memcpy(&message->job, body.at + 8, 8);
    message->pid_count = 1;
    return true;
}

enum fabric_kind fabric_parse(struct str datagram, struct fabric_message *message)
{
    uint64_t size;
    *message = (struct fabric_message){0};
    if (datagram.len < FABRIC_HEADER_BYTES || datagram.len > FABRIC_MOST_BYTES)
        return FABRIC_BAD;
    memcpy(&size, datagram.at, 8);
    if (size != datagram.len - FABRIC_HEADER_BYTES)
        return FABRIC_BAD;
    struct str body = {datagram.at + FABRIC_HEADER_BYTES, (size_t)size};
    if (is_type(datagram.at + 8, "req"))
        return parse_request(body, message) ? FABRIC_REQUEST : FABRIC_BAD;
    if (is_type(datagram.at + 8, "ctxt"))
        return parse_context(body, message) ? FABRIC_CONTEXT : FABRIC_BAD;
    return FABRIC_BAD;
}

static void put_frame(const char *word, struct str body, struct buf *out)
{
    char header[FABRIC_HEADER_BYTES] = {0};
    uint64_t size = body.len;
    memcpy(header, &size, 8);
    memcpy(header + 8, word, strlen(word));
    buf_add(out, header, sizeof header);
    buf_add_str(out, body);
}

void fabric_answer(struct str text, struct buf *out)
{
    put_frame("req", text, out);
}

void fabric_count(int32_t count, struct buf *out)
{
    put_frame("ctxt", (struct str){(const char *)&count, sizeof count}, out);
}

// --- settings -----------------------------------------------------------------------------------

static bool is_word(const char *text, const char *more)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    for (; *text; text++)
        if (!strchr(plain, *text) && !strchr(more, *text))
            return false;
    return true;
}

bool fabric_check(const struct fabric_capture *capture, struct err *err)
{
    if (!capture->id[0] || !is_word(capture->id, ""))
        return err_set(err, ERR_USAGE, "found an invalid id of a capture");
    if (!capture->run[0])
        return err_set(err, ERR_USAGE, "found a capture without the name of a run");
    if (!is_word(capture->job, ""))
        return err_set(err, ERR_USAGE, "found an invalid job of a capture");
    return (capture->steps >= 1 && capture->steps <= 100 && capture->warmup >= 0 &&
            capture->warmup <= 100 && capture->roundup >= 1 && capture->roundup <= 1000000) ||
           err_set(err, ERR_USAGE,
                   "found a capture that is not of 1 to 100 steps, after up to 100 to warm up, "
                   "from a multiple of 1 to 1000000");
}

// With a duration of 0, a process that counts no steps refuses instead of recording half a second.
// Keys that are known to hurt, such as those of memory snapshots, are never sent.
bool fabric_settings(const struct fabric_capture *capture, const char *path, struct buf *out,
                     struct err *err)
{
    if (path[0] != '/' || strlen(path) > MOST_PATH || !is_word(path, "/.") || strstr(path, ".."))
        return err_set(err, ERR_USAGE, "%.120s: expected a folder of plain letters for traces",
                       path);
    buf_printf(out,
               "ACTIVITIES_LOG_FILE=%s\nACTIVITIES_DURATION_MSECS=0\n"
               "PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP=%lld\n"
               "ACTIVITIES_WARMUP_ITERATIONS=%lld\nACTIVITIES_ITERATIONS=%lld\n"
               "PROFILE_REPORT_INPUT_SHAPES=true\nREQUEST_TRACE_ID=%s\n",
               path, (long long)capture->roundup, (long long)capture->warmup,
               (long long)capture->steps, capture->id);
    return buf_ok(out, err);
}

// --- addresses ----------------------------------------------------------------------------------

bool fabric_address(const char *folder, struct sockaddr_un *address, socklen_t *len,
                    struct err *err)
{
    static const char name[] = "dynolog";
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (folder && strlen(folder) > MOST_FOLDER)
        return err_set(err, ERR_USAGE,
                       "found a socket folder of %zu bytes; processes cannot use one of more than "
                       "%d",
                       strlen(folder), MOST_FOLDER);
    if (folder)
        snprintf(address->sun_path, sizeof address->sun_path, "%s/%s", folder, name);
    else
        memcpy(address->sun_path + 1, name, sizeof name);
    // In an abstract name the NUL at the end counts.
    *len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
                       (folder ? strlen(address->sun_path) + 1 : 1 + sizeof name));
    return true;
}

bool fabric_is_client(const struct sockaddr_un *address, socklen_t len, const char *folder)
{
    size_t start = offsetof(struct sockaddr_un, sun_path);
    size_t name_len = sizeof CLIENT - 1 + UUID_CHARS;
    if (len <= start || len > sizeof *address || address->sun_family != AF_UNIX)
        return false;
    const char *path = address->sun_path;
    size_t bytes = len - start, prefix = folder ? strlen(folder) + 1 : 1;
    // With its NUL at the end, which path names may lack.
    if (bytes != prefix + name_len + 1 && !(folder && bytes == prefix + name_len))
        return false;
    bool in_place =
        folder ? memcmp(path, folder, prefix - 1) == 0 && path[prefix - 1] == '/' : path[0] == '\0';
    return in_place && memcmp(path + prefix, CLIENT, sizeof CLIENT - 1) == 0 &&
           !memchr(path + prefix, '/', name_len) && !memchr(path + prefix, '\0', name_len) &&
           (bytes == prefix + name_len || path[prefix + name_len] == '\0');
}
