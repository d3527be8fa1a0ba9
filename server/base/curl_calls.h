// SPDX-License-Identifier: Apache-2.0
// The functions of libcurl that are used. It is loaded only when a request is sent: it brings many
// libraries.
#ifndef SERVER_BASE_CURL_CALLS_H
#define SERVER_BASE_CURL_CALLS_H

#include "ingest/base/err.h"

#include <curl/curl.h>

struct curl_calls {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_global_cleanup) *global_cleanup;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_reset) *easy_reset;
    __typeof__(curl_easy_setopt) *set;
    __typeof__(curl_easy_perform) *perform;
    __typeof__(curl_easy_getinfo) *get;
    __typeof__(curl_easy_strerror) *explain;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_slist_append) *append;
    __typeof__(curl_slist_free_all) *free_list;
};

// what_for: "--url". ERR_UNSUPPORTED without the library. It stays loaded until the process ends.
MUST_CHECK bool curl_calls_load(struct curl_calls *calls, const char *what_for, struct err *err);

// For CURLOPT_SEEKFUNCTION; its data is a uint64_t, how much of a body was sent. Where a connection
// that was kept turns out to be closed, libcurl sends the body again on a new one.
int curl_calls_seek(void *sent, curl_off_t offset, int origin);

#endif
