// SPDX-License-Identifier: Apache-2.0
// Any bytes as a message of the Model Context Protocol, to an empty store: one line of JSON or none
// comes back, never a crash, and never an error of ours.
#include "server/mcp/mcp.h"
#include "server/base/services.h"
#include "server/care/intake.h"
#include "server/mcp/mcp_rpc.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct store *store;

static char folder[] = "/tmp/stepscope-fuzz-XXXXXX";

static void remove_folder(void)
{
    const char *const names[] = {"a.db-wal", "a.db-shm", "a.db"};
    char path[64];
    store_close(store);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void open_store(void)
{
    char path[64];
    struct err err = {0};
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/a.db", folder);
    store = store_open(path, &err);
    if (!store)
        abort();
    atexit(remove_folder);
}

static void check_answer(const struct buf *out)
{
    json_t *answer = json_loadb(out->at, out->len, JSON_REJECT_DUPLICATES, NULL);
    json_t *error = json_object_get(answer, "error");
    if (!answer || memchr(out->at, '\n', out->len) != out->at + out->len - 1 ||
        json_integer_value(json_object_get(error, "code")) == MCP_INTERNAL_ERROR)
        abort();
    json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!store)
        open_store();
    struct intake intake = {.store = store};
    sem_t comparing;
    sem_init(&comparing, 0, 1);
    struct services services = {.intake = &intake, .comparing = &comparing};
    struct arena arena;
    struct buf out = {0};
    arena_init(&arena, NULL);
    struct request request = {.services = &services, .arena = &arena};
    mcp_answer_line(&request, (struct str){(const char *)data, size}, &out);
    if (out.len)
        check_answer(&out);
    buf_free(&out);
    arena_free(&arena);
    sem_destroy(&comparing);
    return 0;
}
