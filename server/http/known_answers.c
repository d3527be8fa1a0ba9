// SPDX-License-Identifier: Apache-2.0
#include "server/http/known_answers.h"

#include "ingest/base/clock.h"
#include "ingest/base/hash.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ENTRIES = 4096, MOST_ETAG = 128, MOST_PLACE = 128 };
#define MOST_BYTES    ((size_t)32 << 20) // of all contents
#define MOST_OF_ENTRY ((size_t)1 << 20)

// 128 bits under secret keys, so that comparing the requests themselves is unnecessary.
struct name {
    uint64_t a, b;
};

// Shared by its entry and by those who are copying it.
struct content {
    atomic_uint holders;
    size_t len;
    char bytes[];
};

struct entry {
    struct name name;
    uint64_t version;        // 0: all that is known is that such answers last
    bool used;               // else empty
    int64_t from_ns;         // wall clock: it holds from then
    int64_t until_ns;        // and until then
    const char *type;        // of the content
    bool gzipped;            // the content
    struct content *content; // NULL: only the ETag is known
    char etag[MOST_ETAG];
    char place[MOST_PLACE]; // Content-Location; "" none
};

struct known_answers {
    struct hash_key keys[2];
    pthread_mutex_t lock; // guards all below
    struct entry entries[ENTRIES];
    size_t bytes;  // of contents
    unsigned hand; // whose content goes next if there are too many
};

struct known_answers *known_answers_new(void)
{
    struct known_answers *known = calloc(1, sizeof *known);
    if (!known)
        return NULL;
    for (int i = 0; i < 2; i++)
        known->keys[i] = hash_key_random();
    pthread_mutex_init(&known->lock, NULL);
    return known;
}

static void let_go(struct content *content)
{
    if (content && atomic_fetch_sub(&content->holders, 1) == 1)
        free(content);
}

void known_answers_free(struct known_answers *known)
{
    if (!known)
        return;
    for (size_t i = 0; i < ENTRIES; i++)
        let_go(known->entries[i].content);
    pthread_mutex_destroy(&known->lock);
    free(known);
}

// --- names --------------------------------------------------------------------------------------

// The hash of a text after others.
static uint64_t chain(struct hash_key key, uint64_t before, struct str text)
{
    return hash_mix(before ^ key.a, hash_keyed(key, text.at, text.len) ^ key.b);
}

// Everything in a request that an answer may depend on. Of its sender only the scopes count:
// answers that last are the same for everyone who gets them.
static struct name name_of(const struct known_answers *known, const struct request *request)
{
    const char rights[] = {request_accepts(request, "Accept-Encoding", "gzip") ? 'z' : '-',
                           (char)('0' + (request->who.scopes & SCOPE_ALL))};
    const struct str texts[] = {request->path, request->query_text,
                                request_header(request, "Accept"), request_header(request, "Host"),
                                (struct str){rights, sizeof rights}};
    struct name name = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        name.a = chain(known->keys[0], name.a, texts[i]);
        name.b = chain(known->keys[1], name.b, texts[i]);
    }
    return name;
}

static struct entry *place_of(struct known_answers *known, struct name name)
{
    return &known->entries[name.a % ENTRIES];
}

static bool has_name(const struct entry *entry, struct name name)
{
    return entry->used && entry->name.a == name.a && entry->name.b == name.b;
}

// --- giving -------------------------------------------------------------------------------------

// A copy whose content is held.
static bool load(struct known_answers *known, struct name name, struct entry *entry)
{
    pthread_mutex_lock(&known->lock);
    *entry = *place_of(known, name);
    bool found = has_name(entry, name);
    if (found && entry->content)
        atomic_fetch_add(&entry->content->holders, 1);
    pthread_mutex_unlock(&known->lock);
    return found;
}

bool known_answers_expect(struct known_answers *known, const struct request *request)
{
    if (!known)
        return false;
    struct name name = name_of(known, request);
    pthread_mutex_lock(&known->lock);
    bool found = has_name(place_of(known, name), name);
    pthread_mutex_unlock(&known->lock);
    return found;
}

static bool holds_now(const struct entry *entry)
{
    bool always = entry->until_ns == INT64_MAX;
    int64_t now_ns = always ? 0 : clock_wall_ns();
    return always || (now_ns >= entry->from_ns && now_ns < entry->until_ns);
}

// True if no content is needed, or all of it is there; otherwise the response stays as it was.
static bool fill(const struct entry *entry, const struct request *request,
                 struct response *response)
{
    bool is_theirs =
        response_tag_matches(request_header(request, "If-None-Match"), str_of(entry->etag));
    char *etag = arena_strdup(request->arena, str_of(entry->etag), NULL);
    if (!etag || (!is_theirs && !entry->content))
        return false;
    if (!is_theirs) {
        buf_add(&response->body, entry->content->bytes, entry->content->len);
        if (response->body.failed) {
            buf_free(&response->body);
            return false;
        }
        response->type = entry->type;
        response->gzipped = entry->gzipped;
    }
    response->status = is_theirs ? 304 : 200;
    response->etag = str_of(etag);
    if (entry->place[0])
        response_header(response, request->arena, "Content-Location", "%s", entry->place);
    return true;
}

bool known_answers_give(struct known_answers *known, struct request *request,
                        struct response *response, uint64_t version)
{
    struct entry entry;
    if (!known || !version || !load(known, name_of(known, request), &entry))
        return false;
    bool given = entry.version == version && holds_now(&entry) && fill(&entry, request, response);
    let_go(entry.content);
    return given;
}

// --- keeping ------------------------------------------------------------------------------------

// Headers other than Content-Location may say what holds only now.
static bool is_plain(const struct response *response)
{
    return response->header_count == 0 ||
           (response->header_count == 1 &&
            str_equal(response->headers[0].name, STR("Content-Location")));
}

static struct content *content_of(const struct response *response)
{
    bool is_there = (response->status == 0 || response->status == 200) && !response->borrowed.at &&
                    !response->stream.next && response->fd < 0 && !response->body.failed &&
                    response->body.len <= MOST_OF_ENTRY && response->type;
    struct content *content = is_there ? malloc(sizeof *content + response->body.len) : NULL;
    if (!content)
        return NULL;
    atomic_init(&content->holders, 1);
    content->len = response->body.len;
    memcpy(content->bytes, response->body.at ? response->body.at : "", content->len);
    return content;
}

static void drop_content(struct known_answers *known, struct entry *entry)
{
    known->bytes -= entry->content ? entry->content->len : 0;
    let_go(entry->content);
    entry->content = NULL;
}

// Entries are dropped in turn, which is as good as any order: what is still asked for comes back.
static void put(struct known_answers *known, const struct entry *entry)
{
    size_t len = entry->content ? entry->content->len : 0;
    pthread_mutex_lock(&known->lock);
    struct entry *at = place_of(known, entry->name);
    drop_content(known, at);
    while (known->bytes + len > MOST_BYTES)
        drop_content(known, &known->entries[known->hand++ % ENTRIES]);
    known->bytes += len;
    *at = *entry;
    pthread_mutex_unlock(&known->lock);
}

void known_answers_keep(struct known_answers *known, const struct request *request,
                        struct response *response, uint64_t version)
{
    struct str place = response->header_count ? response->headers[0].value : STR("");
    if (!known || !response->lasts || !is_plain(response) || response->etag.len == 0 ||
        response->etag.len >= MOST_ETAG || place.len >= MOST_PLACE)
        return;
    struct entry entry = {.name = name_of(known, request), .used = true, .version = version};
    if (version) {
        response_compress(request, response);
        entry.content = content_of(response);
    }
    entry.type = response->type;
    entry.gzipped = response->gzipped;
    entry.until_ns = response->until_ns ? response->until_ns : INT64_MAX;
    entry.from_ns = response->until_ns ? response->from_ns : 0;
    memcpy(entry.etag, response->etag.at, response->etag.len);
    memcpy(entry.place, place.at, place.len);
    put(known, &entry);
}
