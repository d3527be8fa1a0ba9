// SPDX-License-Identifier: Apache-2.0
#include "server/http/known_etags.h"

#include "ingest/base/hash.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 4096, MOST_ETAG = 128, MOST_PLACE = 128 };

// 128 bits under keys that nobody knows: requests that share them are not worth comparing.
struct name {
    uint64_t a, b;
};

struct entry {
    struct name name;
    uint64_t version; // 0: empty
    char etag[MOST_ETAG];
    char place[MOST_PLACE]; // Content-Location; "" none
};

struct known_etags {
    struct hash_key keys[2];
    pthread_mutex_t lock; // guards the entries
    struct entry entries[ENTRIES];
};

struct known_etags *known_etags_new(void)
{
    struct known_etags *known = calloc(1, sizeof *known);
    if (!known)
        return NULL;
    for (int i = 0; i < 2; i++)
        known->keys[i] = hash_key_random();
    pthread_mutex_init(&known->lock, NULL);
    return known;
}

void known_etags_free(struct known_etags *known)
{
    if (known)
        pthread_mutex_destroy(&known->lock);
    free(known);
}

// The hash of a text after others.
static uint64_t chain(struct hash_key key, uint64_t before, struct str text)
{
    return hash_mix(before ^ key.a, hash_keyed(key, text.at, text.len) ^ key.b);
}

// All of a request that an answer may depend on, but for who sends it: answers that last are the
// same for everyone who gets them.
static struct name name_of(const struct known_etags *known, const struct request *request)
{
    const struct str texts[] = {request->path, request->query_text,
                                request_header(request, "Accept"), request_header(request, "Host")};
    struct name name = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        name.a = chain(known->keys[0], name.a, texts[i]);
        name.b = chain(known->keys[1], name.b, texts[i]);
    }
    return name;
}

static bool load(struct known_etags *known, struct name name, struct entry *entry)
{
    pthread_mutex_lock(&known->lock);
    *entry = known->entries[name.a % ENTRIES];
    pthread_mutex_unlock(&known->lock);
    return entry->version && entry->name.a == name.a && entry->name.b == name.b;
}

bool known_etags_answer(struct known_etags *known, struct request *request,
                        struct response *response, uint64_t version)
{
    struct entry entry;
    struct str list = request_header(request, "If-None-Match");
    if (!known || !version || !list.at || !load(known, name_of(known, request), &entry) ||
        entry.version != version || !response_tag_matches(list, str_of(entry.etag)))
        return false;
    char *etag = arena_strdup(request->arena, str_of(entry.etag), NULL);
    if (!etag)
        return false;
    response->etag = str_of(etag);
    response->status = 304;
    if (entry.place[0])
        response_header(response, request->arena, "Content-Location", "%s", entry.place);
    return true;
}

// Other headers than the place may say what holds only now.
static bool is_plain(const struct response *response)
{
    return response->header_count == 0 ||
           (response->header_count == 1 &&
            str_equal(response->headers[0].name, STR("Content-Location")));
}

void known_etags_keep(struct known_etags *known, const struct request *request,
                      const struct response *response, uint64_t version)
{
    struct str place = response->header_count ? response->headers[0].value : STR("");
    if (!known || !version || !response->lasts || !is_plain(response) || response->etag.len == 0 ||
        response->etag.len >= MOST_ETAG || place.len >= MOST_PLACE)
        return;
    struct entry entry = {.name = name_of(known, request), .version = version};
    memcpy(entry.etag, response->etag.at, response->etag.len);
    memcpy(entry.place, place.at, place.len);
    pthread_mutex_lock(&known->lock);
    known->entries[entry.name.a % ENTRIES] = entry;
    pthread_mutex_unlock(&known->lock);
}
