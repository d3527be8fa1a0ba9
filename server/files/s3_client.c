// SPDX-License-Identifier: Apache-2.0
// Requests to a bucket of S3, by libcurl.
#include "server/files/s3_client.h"

#include "server/base/curl_calls.h"
#include "server/files/s3_list.h"
#include "server/files/sigv4.h"

#include "ingest/base/clock.h"
#include "ingest/base/fd_io.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { IDLE_MOST = 16, TRIES = 4, FIRST_WAIT_MS = 200, CONNECT_SECONDS = 5, STALLED_SECONDS = 30 };
enum { JOINING_MS = 600000 };
#define TEXT_MOST ((size_t)16 << 20)

struct s3_client {
    struct curl_calls calls;
    struct sigv4_keys keys;
    struct buf base;   // http://host:port
    struct buf host;   // as in the header
    struct buf bucket; // "/bucket"
    struct buf prefix; // "" or "some/where/"
    struct buf region;
    uint64_t part_bytes;
    pthread_mutex_t lock; // guards the handles that nobody uses, with their connections
    CURL *idle[IDLE_MOST];
    int idle_count;
};

// --- the place ----------------------------------------------------------------------------------

// Reads a parameter of the place; a missing one leaves the value as it is.
static void read_parameter(struct str query, struct str name, struct buf *value)
{
    while (query.len) {
        const char *end = memchr(query.at, '&', query.len);
        struct str one = {query.at, end ? (size_t)(end - query.at) : query.len};
        if (str_starts_with(one, name) && one.len > name.len && one.at[name.len] == '=') {
            buf_clear(value);
            buf_add(value, one.at + name.len + 1, one.len - name.len - 1);
        }
        size_t used = end ? one.len + 1 : one.len;
        query = (struct str){query.at + used, query.len - used};
    }
}

static bool is_name(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i], letter = (char)(c | 0x20);
        if (!((letter >= 'a' && letter <= 'z') || str_is_digit(c) || strchr("._-/", c)))
            return false;
    }
    return true;
}

static bool read_names(struct s3_client *client, struct str names, struct err *err)
{
    const char *slash = memchr(names.at, '/', names.len);
    size_t len = slash ? (size_t)(slash - names.at) : names.len;
    struct str prefix = {names.at + len + (slash != NULL), names.len - len - (slash != NULL)};
    while (prefix.len && prefix.at[prefix.len - 1] == '/')
        prefix.len--;
    buf_printf(&client->bucket, "/%.*s", (int)len, names.at);
    buf_printf(&client->prefix, prefix.len ? "%.*s/" : "%.*s", (int)prefix.len, prefix.at);
    return (len >= 3 && is_name(names)) ||
           err_set(err, ERR_USAGE, "expected s3://BUCKET[/PREFIX] with names of A-Z a-z 0-9 . _ -");
}

// S3 takes parts of at least 5 MiB.
static bool read_part_bytes(struct s3_client *client, struct str query, struct err *err)
{
    static const int64_t usual_bytes = (int64_t)64 << 20, most_bytes = (int64_t)4 << 30;
    struct buf text = {0};
    int64_t bytes = usual_bytes;
    read_parameter(query, STR("part_bytes"), &text);
    bool ok = text.len == 0 || (str_to_i64((struct str){text.at, text.len}, &bytes) &&
                                bytes >= 1 << 16 && bytes <= most_bytes);
    buf_free(&text);
    client->part_bytes = (uint64_t)bytes;
    return ok || err_set(err, ERR_USAGE, "expected part_bytes of 65536 to 4294967296");
}

// As libcurl sends it, which is what S3 checks: without the port that the scheme has anyway.
static struct str host_of(const char *base)
{
    const char *at = strstr(base, "://");
    struct str host = at ? str_of(at + strlen("://")) : STR("");
    struct str port = str_starts_with(str_of(base), STR("https:")) ? STR(":443") : STR(":80");
    if (str_ends_with(host, port))
        host.len -= port.len;
    return host;
}

static bool read_place(struct s3_client *client, const char *place, struct err *err)
{
    struct str rest = str_of(place + strlen("s3://"));
    const char *mark = memchr(rest.at, '?', rest.len);
    struct str names = {rest.at, mark ? (size_t)(mark - rest.at) : rest.len};
    struct str query = mark ? str_of(mark + 1) : STR("");
    buf_puts(&client->region, "us-east-1");
    read_parameter(query, STR("region"), &client->region);
    buf_printf(&client->base, "https://s3.%s.amazonaws.com", client->region.at);
    read_parameter(query, STR("endpoint"), &client->base);
    struct str host = host_of(client->base.at ? client->base.at : "");
    buf_add_str(&client->host, host);
    if (host.len == 0 || memchr(host.at, '/', host.len))
        return err_set(err, ERR_USAGE, "expected endpoint=http[s]://HOST[:PORT]");
    return read_part_bytes(client, query, err) && read_names(client, names, err) &&
           buf_ok(&client->host, err) && buf_ok(&client->bucket, err) &&
           buf_ok(&client->prefix, err);
}

static bool read_keys(struct s3_client *client, struct err *err)
{
    const char *token = getenv("AWS_SESSION_TOKEN");
    client->keys = (struct sigv4_keys){getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"),
                                       token && token[0] ? token : NULL, client->region.at};
    return (client->keys.id && client->keys.secret) ||
           err_set(err, ERR_USAGE, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for s3://");
}

struct s3_client *s3_client_open(const char *place, struct err *err)
{
    struct s3_client *client = calloc(1, sizeof *client);
    if (!client) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&client->lock, NULL);
    if (read_place(client, place, err) && read_keys(client, err) &&
        curl_calls_load(&client->calls, "s3://", err) &&
        (client->calls.global_init(CURL_GLOBAL_DEFAULT) == 0 ||
         err_set(err, ERR_MEMORY, "cannot start the HTTP client")))
        return client;
    s3_client_close(client);
    return NULL;
}

void s3_client_close(struct s3_client *client)
{
    if (!client)
        return;
    for (int i = 0; i < client->idle_count; i++)
        client->calls.easy_cleanup(client->idle[i]);
    buf_free(&client->base);
    buf_free(&client->host);
    buf_free(&client->bucket);
    buf_free(&client->prefix);
    buf_free(&client->region);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

uint64_t s3_client_part_bytes(const struct s3_client *client)
{
    return client->part_bytes;
}

const char *s3_client_prefix(const struct s3_client *client)
{
    return client->prefix.at ? client->prefix.at : "";
}

// --- handles ------------------------------------------------------------------------------------

static CURL *take_handle(struct s3_client *client)
{
    pthread_mutex_lock(&client->lock);
    CURL *curl = client->idle_count ? client->idle[--client->idle_count] : NULL;
    pthread_mutex_unlock(&client->lock);
    return curl ? curl : client->calls.easy_init();
}

static void give_handle(struct s3_client *client, CURL *curl)
{
    client->calls.easy_reset(curl); // keeps the connection
    pthread_mutex_lock(&client->lock);
    bool has_room = client->idle_count < IDLE_MOST;
    if (has_room)
        client->idle[client->idle_count++] = curl;
    pthread_mutex_unlock(&client->lock);
    if (!has_room)
        client->calls.easy_cleanup(curl);
}

// --- bodies -------------------------------------------------------------------------------------

bool s3_hash(int fd, uint64_t from, uint64_t bytes, char hash[S3_HASH_SIZE], struct err *err)
{
    enum { CHUNK = 1 << 13 }; // the stacks of requests are small
    unsigned char chunk[CHUNK], digest[32];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool ok = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    while (ok && bytes) {
        ssize_t got = fd_read_at(fd, chunk, bytes < CHUNK ? (size_t)bytes : CHUNK, from);
        ok = got > 0 && EVP_DigestUpdate(context, chunk, (size_t)got) == 1;
        from += ok ? (uint64_t)got : 0;
        bytes -= ok ? (uint64_t)got : 0;
    }
    ok = ok && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    if (ok)
        str_hex(hash, digest, sizeof digest);
    return ok || err_set(err, ERR_IO, "a file for S3 cannot be read");
}

static bool hash_text(struct str text, char hash[S3_HASH_SIZE], struct err *err)
{
    unsigned char digest[32];
    if (EVP_Digest(text.at, text.len, digest, NULL, EVP_sha256(), NULL) != 1)
        return err_set(err, ERR_INTERNAL, "a request to S3 cannot be hashed");
    str_hex(hash, digest, sizeof digest);
    return true;
}

// A request, as it is tried.
struct exchange {
    const struct s3_request *request;
    struct s3_answer *answer;
    const char *hash;   // of its body
    uint64_t from, got; // the answer's body: where this try begins, and what is in its file by now
    uint64_t sent;
    long status;
    bool failed_here; // writing what arrives
};

static size_t give_body(char *at, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    const struct s3_request *request = exchange->request;
    uint64_t left = (request->fd >= 0 ? request->bytes : request->text.len) - exchange->sent;
    size_t len = left < size * count ? (size_t)left : size * count;
    if (len == 0)
        return 0;
    if (request->fd < 0) {
        memcpy(at, request->text.at + exchange->sent, len);
    } else {
        ssize_t got = fd_read_at(request->fd, at, len, request->from + exchange->sent);
        if (got <= 0)
            return CURL_READFUNC_ABORT;
        len = (size_t)got;
    }
    exchange->sent += len;
    return len;
}

// Discards what was written of an answer before it broke off.
static bool empty_file(struct exchange *exchange)
{
    int fd = exchange->request->into_fd;
    exchange->from = exchange->got = 0;
    return fd < 0 || (ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
}

// Answers kept as text are bounded: only those written to a file may be long.
static size_t take_body(char *at, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    struct s3_answer *answer = exchange->answer;
    size_t len = size * count;
    bool is_file = exchange->request->into_fd >= 0 && exchange->status / 100 == 2;
    if (is_file) {
        exchange->failed_here =
            exchange->failed_here || !fd_write(exchange->request->into_fd, at, len);
        exchange->got += len;
        return exchange->failed_here ? 0 : len;
    }
    if (answer->text.len + len > TEXT_MOST)
        return 0;
    buf_add(&answer->text, at, len);
    return answer->text.failed ? 0 : len;
}

static bool header_value(struct str line, struct str name, struct str *value)
{
    if (line.len <= name.len || !str_equal_nocase((struct str){line.at, name.len}, name) ||
        line.at[name.len] != ':')
        return false;
    *value = (struct str){line.at + name.len + 1, line.len - name.len - 1};
    while (value->len && strchr(" \r\n", value->at[value->len - 1]))
        value->len--;
    while (value->len && value->at[0] == ' ')
        *value = (struct str){value->at + 1, value->len - 1};
    return true;
}

// What answers a request for the rest may be the whole object.
static void take_status(struct exchange *exchange, struct str line)
{
    const char *space = memchr(line.at, ' ', line.len);
    exchange->status = space && space + 4 <= line.at + line.len ? strtol(space, NULL, 10) : 0;
    if (exchange->status == 200 && exchange->from)
        exchange->failed_here = !empty_file(exchange);
}

static bool starts_at(struct str range, uint64_t from)
{
    char expected[40];
    snprintf(expected, sizeof expected, "bytes %llu-", (unsigned long long)from);
    return str_starts_with(range, str_of(expected));
}

static size_t take_header(char *at, size_t size, size_t count, void *data)
{
    struct exchange *exchange = data;
    struct s3_answer *answer = exchange->answer;
    struct str line = {at, size * count}, value;
    int64_t number;
    if (str_starts_with(line, STR("HTTP/"))) {
        take_status(exchange, line);
    } else if (header_value(line, STR("etag"), &value)) {
        snprintf(answer->etag, sizeof answer->etag, "%.*s", (int)value.len, value.at);
    } else if (header_value(line, STR("x-amz-meta-sha256"), &value) && value.len == 64) {
        memcpy(answer->meta_hash, value.at, 64);
    } else if (header_value(line, STR("content-length"), &value) && str_to_i64(value, &number)) {
        answer->bytes = number > 0 ? (uint64_t)number + exchange->from : 0;
    } else if (header_value(line, STR("content-range"), &value) && exchange->status == 206 &&
               !starts_at(value, exchange->from)) {
        exchange->got = 0; // all of it is asked for again
        return 0;
    }
    return line.len;
}

// Whether the rest of a body can be asked for: the object must be the same by its ETag.
static bool goes_on(const struct exchange *exchange)
{
    enum { CHANGED = 412, TOO_FAR = 416 };
    return exchange->got && exchange->answer->etag[0] == '"' && exchange->status != CHANGED &&
           exchange->status != TOO_FAR;
}

static bool begin_try(struct exchange *exchange, struct err *err)
{
    if (!goes_on(exchange) && !empty_file(exchange))
        return err_set_errno(err, "a file of the cache");
    exchange->from = exchange->got;
    exchange->sent = 0;
    exchange->status = 0;
    buf_clear(&exchange->answer->text);
    return true;
}

// --- one try ------------------------------------------------------------------------------------

static bool has_body(const struct s3_request *request)
{
    return request->fd >= 0 || strcmp(request->method, "PUT") == 0 ||
           strcmp(request->method, "POST") == 0;
}

static bool add_header(const struct s3_client *client, const char *line, struct curl_slist **list)
{
    struct curl_slist *longer = line[0] ? client->calls.append(*list, line) : *list;
    if (!longer && line[0])
        return false;
    *list = longer;
    return true;
}

static bool add_headers(const struct s3_client *client, const struct sigv4_headers *headers,
                        const struct exchange *exchange, struct curl_slist **list)
{
    char range[48], same[S3_ETAG_SIZE + 16];
    for (int i = 0; i < SIGV4_HEADERS; i++)
        if (!add_header(client, headers->lines[i], list))
            return false;
    snprintf(range, sizeof range, "Range: bytes=%llu-", (unsigned long long)exchange->from);
    snprintf(same, sizeof same, "If-Match: %s", exchange->answer->etag);
    return exchange->from == 0 ||
           (add_header(client, range, list) && add_header(client, same, list));
}

static void set_body(const struct s3_client *client, CURL *curl, struct exchange *exchange)
{
    const struct s3_request *request = exchange->request;
    if (strcmp(request->method, "HEAD") == 0)
        client->calls.set(curl, CURLOPT_NOBODY, 1L);
    if (!has_body(request))
        return;
    uint64_t bytes = request->fd >= 0 ? request->bytes : request->text.len;
    client->calls.set(curl, CURLOPT_UPLOAD, 1L);
    client->calls.set(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)bytes);
    client->calls.set(curl, CURLOPT_READFUNCTION, give_body);
    client->calls.set(curl, CURLOPT_READDATA, exchange);
    client->calls.set(curl, CURLOPT_SEEKFUNCTION, curl_calls_seek);
    client->calls.set(curl, CURLOPT_SEEKDATA, &exchange->sent);
}

static bool is_joining(const struct s3_request *request)
{
    return strcmp(request->method, "POST") == 0 &&
           str_starts_with(str_of(request->query), STR("uploadId="));
}

static void set_options(const struct s3_client *client, CURL *curl, const char *url,
                        struct exchange *exchange)
{
    const struct curl_calls *calls = &client->calls;
    // While S3 puts parts together it sends a space now and then, for minutes.
    bool joins = is_joining(exchange->request);
    long most_ms = joins ? (long)JOINING_MS : (long)exchange->request->once_ms;
    calls->set(curl, CURLOPT_URL, url);
    calls->set(curl, CURLOPT_PATH_AS_IS, 1L);
    calls->set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    calls->set(curl, CURLOPT_NOSIGNAL, 1L);
    calls->set(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    calls->set(curl, CURLOPT_LOW_SPEED_LIMIT, 1000L); // bytes per second
    calls->set(curl, CURLOPT_LOW_SPEED_TIME, joins ? 0L : (long)STALLED_SECONDS);
    calls->set(curl, CURLOPT_TIMEOUT_MS, most_ms);
    calls->set(curl, CURLOPT_USERAGENT, "stepscope/" STEPSCOPE_VERSION);
    set_body(client, curl, exchange);
    calls->set(curl, CURLOPT_CUSTOMREQUEST, exchange->request->method);
    calls->set(curl, CURLOPT_HEADERFUNCTION, take_header);
    calls->set(curl, CURLOPT_HEADERDATA, exchange);
    calls->set(curl, CURLOPT_WRITEFUNCTION, take_body);
    calls->set(curl, CURLOPT_WRITEDATA, exchange);
}

static bool sign(const struct s3_client *client, const struct s3_request *request, const char *path,
                 const char *hash, struct sigv4_headers *headers, struct err *err)
{
    struct sigv4_request signed_request = {.method = request->method,
                                           .host = client->host.at,
                                           .path = path,
                                           .query = request->query,
                                           .payload_hash = hash,
                                           .meta_hash = request->meta_hash,
                                           .at_s = request->asked_s ? request->asked_s
                                                                    : (int64_t)time(NULL)};
    return sigv4_sign(&client->keys, &signed_request, headers, err);
}

static CURLcode perform(struct s3_client *client, const char *url,
                        const struct sigv4_headers *headers, struct exchange *exchange)
{
    struct curl_slist *list = NULL;
    CURL *curl = take_handle(client);
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (curl && add_headers(client, headers, exchange, &list)) {
        set_options(client, curl, url, exchange);
        client->calls.set(curl, CURLOPT_HTTPHEADER, list);
        code = client->calls.perform(curl);
    }
    client->calls.free_list(list);
    if (curl)
        give_handle(client, curl);
    return code;
}

// A refusal is final for this request only: later ones may succeed, as after keys are renewed or
// the clock is set. It says nothing about an object: keys that ran out are 400, without a word when
// HEAD asks, a bucket that is elsewhere is 301 or 307, and 404 without a word of what is missing
// does not come from S3. 409 is said while another request changes the same object.
static enum err_code code_of(const struct exchange *exchange, struct str word)
{
    const char *method = exchange->request->method;
    bool is_write = strcmp(method, "PUT") == 0 || strcmp(method, "POST") == 0;
    long status = exchange->status;
    if (status == 507)
        return ERR_SPACE;
    if (exchange->from && (status == 412 || status == 416)) // all of it is asked for again
        return ERR_BUSY;
    if (status == 408 || status == 409 || status == 429 || status >= 500 ||
        str_equal(word, STR("RequestTimeout")))
        return ERR_BUSY;
    if (status == 404 && word.len == 0 && strcmp(method, "HEAD") != 0)
        return ERR_BUSY;
    if (str_equal(word, STR("NoSuchBucket")) || status <= 401 || status == 403)
        return is_write ? ERR_IO : ERR_BUSY;
    return status == 404 ? ERR_NOT_FOUND : ERR_IO;
}

static bool explain(const struct exchange *exchange, struct err *err)
{
    const struct buf *text = &exchange->answer->text;
    struct str word = s3_list_text((struct str){text->at ? text->at : "", text->len}, STR("Code"));
    word.len = word.len < 60 ? word.len : 60;
    return err_set(err, code_of(exchange, word), "S3 answers %ld %.*s to %s %.100s",
                   exchange->status, (int)word.len, word.at, exchange->request->method,
                   exchange->request->key);
}

static bool try_once(struct s3_client *client, struct exchange *exchange, struct err *err)
{
    const struct s3_request *request = exchange->request;
    struct sigv4_headers *headers = malloc(sizeof *headers); // the stacks of requests are small
    struct buf url = {0};
    buf_printf(&url, "%s%s%s", client->base.at, client->bucket.at, request->key[0] ? "/" : "");
    if (request->key[0])
        buf_printf(&url, "%s%s", s3_client_prefix(client), request->key);
    bool ok = buf_ok(&url, err);
    char *path = ok ? strdup(url.at + client->base.len) : NULL;
    if (request->query[0])
        buf_printf(&url, "?%s", request->query);
    ok = ok && (headers && path ? buf_ok(&url, err) : err_set(err, ERR_MEMORY, "out of memory")) &&
         sign(client, request, path, exchange->hash, headers, err);
    free(path);
    CURLcode code = ok ? perform(client, url.at, headers, exchange) : CURLE_OK;
    buf_free(&url);
    free(headers);
    if (!ok)
        return false;
    if (exchange->failed_here)
        return err_set(err, ERR_SPACE, "what S3 sends cannot be written to the cache");
    if (code != CURLE_OK)
        return err_set(err, ERR_BUSY, "S3 cannot be reached: %.120s", client->calls.explain(code));
    return exchange->status / 100 == 2 || explain(exchange, err);
}

// --- all tries ----------------------------------------------------------------------------------

// Waits between half and all of the time, so that requests that failed together do not come back
// together.
static void wait_before(int again)
{
    long most_ms = (long)FIRST_WAIT_MS << (2 * again);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = most_ms / 2 + now.tv_nsec / 1000 % (most_ms / 2);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static bool try_all(struct s3_client *client, struct exchange *exchange, struct err *err)
{
    const struct s3_request *request = exchange->request;
    int64_t end_ns = clock_mono_ns() + (int64_t)JOINING_MS * 1000000;
    int tries = request->once_ms ? 1 : TRIES;
    for (int i = 0; i < tries; i++) {
        if (!begin_try(exchange, err))
            return false;
        if (try_once(client, exchange, err))
            return true;
        if (err->code != ERR_BUSY || i + 1 == tries ||
            (is_joining(request) && clock_mono_ns() > end_ns))
            return false;
        wait_before(i);
    }
    return false;
}

bool s3_send(struct s3_client *client, const struct s3_request *request, struct s3_answer *answer,
             struct err *err)
{
    char own[S3_HASH_SIZE];
    const char *hash = request->hash;
    *answer = (struct s3_answer){0};
    if (!hash) {
        if (!(request->fd >= 0 ? s3_hash(request->fd, request->from, request->bytes, own, err)
                               : hash_text(request->text, own, err)))
            return false;
        hash = own;
    }
    struct exchange exchange = {.request = request, .answer = answer, .hash = hash};
    return try_all(client, &exchange, err);
}
