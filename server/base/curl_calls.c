// SPDX-License-Identifier: Apache-2.0
// Loads libcurl.
#include "server/base/curl_calls.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

bool curl_calls_load(struct curl_calls *calls, const char *what_for, struct err *err)
{
    static const struct {
        const char *name;
        size_t at;
    } known[] = {
        {"curl_global_init", offsetof(struct curl_calls, global_init)},
        {"curl_global_cleanup", offsetof(struct curl_calls, global_cleanup)},
        {"curl_easy_init", offsetof(struct curl_calls, easy_init)},
        {"curl_easy_reset", offsetof(struct curl_calls, easy_reset)},
        {"curl_easy_setopt", offsetof(struct curl_calls, set)},
        {"curl_easy_perform", offsetof(struct curl_calls, perform)},
        {"curl_easy_getinfo", offsetof(struct curl_calls, get)},
        {"curl_easy_strerror", offsetof(struct curl_calls, explain)},
        {"curl_easy_cleanup", offsetof(struct curl_calls, easy_cleanup)},
        {"curl_slist_append", offsetof(struct curl_calls, append)},
        {"curl_slist_free_all", offsetof(struct curl_calls, free_list)},
    };
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    bool ok = library;
    for (size_t i = 0; ok && i < sizeof known / sizeof *known; i++) {
        void *found = dlsym(library, known[i].name);
        memcpy((char *)calls + known[i].at, &found, sizeof found);
        ok = found;
    }
    return ok || err_set(err, ERR_UNSUPPORTED, "install libcurl4 for %s", what_for);
}

int curl_calls_seek(void *sent, curl_off_t offset, int origin)
{
    if (origin != SEEK_SET || offset < 0)
        return CURL_SEEKFUNC_FAIL;
    *(uint64_t *)sent = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}
