// SPDX-License-Identifier: Apache-2.0
// CivetWeb behind a narrow interface: every request goes through one callback, which reads headers,
// checks them, lets handlers answer, and sends the answer. None of the library's own features
// (files, scripts, forms, TLS) are used.
#include "server/http/http.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "ingest/base/secrets.h"
#include "server/base/cond.h"
#include "server/base/metrics.h"
#include "server/http/connections.h"
#include "server/http/http_head.h"
#include "server/http/http_send.h"
#include "server/http/known_answers.h"
#include "server/http/listener.h"
#include "server/http/pace.h"
#include "server/http/precheck.h"
#include "server/http/problem.h"
#include "server/http/reply_room.h"
#include "server/http/request_log.h"

#include <civetweb.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_THREADS   1100
#define SLOW_WINDOW_MS    20000
#define SILENT_NS         INT64_C(5000000000)
#define SLOW_WINDOW_BYTES ((uint64_t)200 * 1000) // 10 KB/s
#define START_ERROR_BYTES 160
#define REPLY_ROOM_BYTES  ((uint64_t)1 << 30)
#define REPLY_TURNS       4     // the largest possible answer takes a gigabyte for seconds
#define COMPARISONS       2     // concurrent: each of 64 large runs takes a gigabyte for a second
#define HEADER_BYTES      16384 // at most; each thread of the library holds a buffer of this size
#define TEXT(number)      TEXT_OF(number)
#define TEXT_OF(number)   #number

// The library's threads while they start. One that gets no memory for its buffer ends, but is given
// connections anyway, which then nobody answers: so each first tries, and waits for the
// others.
struct crew {
    pthread_mutex_t lock; // guards all
    pthread_cond_t changed;
    unsigned arrived;
    bool lacks_memory;
    bool lacks_threads;            // some could not be created
    char error[START_ERROR_BYTES]; // the library's message while starting, about threads if any is
    bool complete;                 // complete as far as it ever will be
};

struct http {
    void (*answer)(struct request *request, struct response *response);
    struct services services;
    struct precheck precheck;
    struct pace *pace;
    struct connections *connections;
    struct mg_context *context;
    struct crew crew;
    atomic_bool started;
    atomic_bool deaf; // its socket is shut, which the library logs as an error
    atomic_uint uploads;
    atomic_bool draining;
    atomic_bool gives_way; // to other services, while draining
    int64_t notice_end_ns; // until then balancers learn of that
    int never;             // in place of the socket once that is shut; -1 before
    sem_t comparing;
    struct reply_room room;
    pthread_mutex_t lock; // guards active
    pthread_cond_t idle;
    unsigned active; // requests being answered
};

// --- the body -----------------------------------------------------------------------------------

// One request on its connection.
struct exchange {
    struct http *http;
    struct mg_connection *connection;
    int fd;       // of the connection, -1 unknown
    int slot;     // in the watch on its pace
    bool chunked; // the body's length is unknown
};

// The library returns -1 if the peer went away, and 0 both for "too slow" and for the end of
// chunks. body.c asks for no byte beyond an announced length, so 0 is the end only of a chunked
// body.
static bool pull(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct exchange *exchange = ctx;
    int count = mg_read(exchange->connection, bytes, cap);
    *got = count > 0 ? (size_t)count : 0;
    if (pace_was_cut(exchange->http->pace, exchange->slot))
        return err_set(err, ERR_CANCELLED, "the client sent less than %d bytes in %d s, too slow",
                       (int)SLOW_WINDOW_BYTES, SLOW_WINDOW_MS / 1000);
    if (count < 0 && exchange->chunked)
        return err_set(err, ERR_USAGE,
                       "the client stopped sending, or sent invalid chunks or chunk extensions");
    return count >= 0 || err_set(err, ERR_CANCELLED, "the client stopped sending");
}

static bool proceed(void *ctx, struct err *err)
{
    struct exchange *exchange = ctx;
    static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (mg_write(exchange->connection, line, sizeof(line) - 1) == sizeof(line) - 1)
        return true;
    return err_set(err, ERR_CANCELLED, "the client went away");
}

static void begin_body(struct exchange *exchange, struct request *request)
{
    const struct mg_request_info *info = mg_get_request_info(exchange->connection);
    bool expects = request_header(request, "Expect").at && // not defined before 1.1
                   strcmp(info->http_version, "1.1") == 0;
    *request->body = (struct body){.pull = pull,
                                   .proceed = expects ? proceed : NULL,
                                   .ctx = exchange,
                                   .length = precheck_length(request),
                                   .limit = UINT64_MAX};
    exchange->chunked = request->body->length == BODY_UNKNOWN;
    request->body->ended = request->body->length == 0;
    int fd = request->body->ended ? -1 : exchange->fd;
    exchange->slot = pace_enter(exchange->http->pace, fd, PACE_BODY);
}

// --- the request --------------------------------------------------------------------------------

static bool is_plain_id(struct str id)
{
    struct secret secret;
    for (size_t i = 0; i < id.len; i++) {
        char c = id.at[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (!letter && !(str_is_digit(c)) && c != '-' && c != '_')
            return false;
    }
    return id.len > 0 && id.len < REQUEST_ID_SIZE && !secrets_find(id, 0, &secret);
}

// The client's own id if it is harmless, otherwise a random one: it appears in logs and answers.
static void name_request(struct request *request)
{
    struct str given = request_header(request, "X-Request-Id");
    if (given.at && is_plain_id(given)) {
        memcpy(request->id, given.at, given.len);
        return;
    }
    unsigned char random[8] = {0};
    if (getrandom(random, sizeof(random), 0) < 0)
        memcpy(random, &(int64_t){clock_mono_ns()}, sizeof(random));
    str_hex(request->id, random, sizeof(random));
}

// As the library decides it, so that the Connection header is truthful: of several lines it reads
// only the first. And "close" is obeyed whatever else is given.
static bool stays_open(const struct request *request, const struct mg_request_info *info)
{
    if (request_header_count(request, "Connection") > 1 ||
        request_accepts(request, "Connection", "close"))
        return false;
    if (request_header(request, "Connection").at)
        return request_accepts(request, "Connection", "keep-alive");
    return info->http_version && strcmp(info->http_version, "1.1") == 0;
}

static bool is_old(const struct mg_request_info *info)
{
    return !info->http_version || strcmp(info->http_version, "1.1") != 0;
}

static bool check(struct http *http, const struct mg_request_info *info, struct request *request,
                  struct response *response, struct err *err)
{
    if (!atomic_load(&http->draining) || atomic_load(&http->gives_way))
        return http_head_check(info, request, response, err) &&
               precheck_request(&http->precheck, request, response, err);
    return response_stopping(response, request, "", err);
}

// False if the request was malformed: what follows it on the connection may be anything.
static bool answer(struct http *http, const struct mg_request_info *info, struct request *request,
                   struct response *response)
{
    struct err err = {0};
    bool ok = check(http, info, request, response, &err);
    if (ok)
        http->answer(request, response);
    else
        problem_write(request, response, &err);
    return ok;
}

static void note_answer(struct http *http, const struct request *request,
                        const struct response *response, struct request_cost cost)
{
    metrics_answer(http->services.metrics, response->status, response->word);
    metrics_time(http->services.metrics, METRIC_TIME_REQUEST, cost.ns);
    request_log(request, response, cost);
}

static void send_watched(struct exchange *exchange, struct http_send *send,
                         const struct request *request, struct response *response)
{
    bool is_large = response->stream.next || http_send_bytes(response) >= REPLY_ROOM_SMALL_BYTES;
    int fd = exchange->slot >= 0 || is_large ? exchange->fd : -1;
    int slot = pace_enter(exchange->http->pace, fd, PACE_ANSWER);
    http_send(send, request, response);
    pace_leave(exchange->http->pace, slot);
}

// Sends the answer if there is room for it until the client has taken it. Changes are always
// answered.
static void send_in_room(struct exchange *exchange, struct http_send *send, struct request *request,
                         struct response *response)
{
    struct reply_room *room = &exchange->http->room;
    uint64_t bytes = arena_bytes(request->arena) + response->body.cap + response->stream.held_bytes;
    struct err err = {.pos = ERR_NO_POS};
    bool counts = str_equal(request->method, STR("GET"));
    bool fits = !counts || reply_room_enter(room, bytes);
    if (!fits) {
        response_free(response);
        response_init(response);
        response_retry_later(response, request);
        response_refuse(response, &err, (struct refusal){503, "too-many-answers"}, "%s",
                        "too many large answers are being sent; try again soon");
        problem_write(request, response, &err);
    }
    send_watched(exchange, send, request, response);
    if (counts && fits)
        reply_room_leave(room, bytes);
}

static struct connection *connection_of(struct http *http, const struct mg_connection *connection)
{
    const struct mg_request_info *info = mg_get_request_info(connection);
    return info ? connections_find(http->connections, info->remote_addr, info->remote_port) : NULL;
}

static int handle(struct http *http, struct mg_connection *connection)
{
    int64_t begin_ns = clock_mono_ns();
    const struct mg_request_info *info = mg_get_request_info(connection);
    struct request_header headers[MG_MAX_HEADERS];
    struct arena arena;
    struct body body = {0};
    struct request request = {.services = &http->services, .arena = &arena, .body = &body};
    request.connection = connection_of(http, connection);
    struct exchange exchange = {.http = http,
                                .connection = connection,
                                .fd = connections_socket(http->connections, request.connection),
                                .slot = -1};
    struct response response;
    arena_init(&arena, NULL);
    response_init(&response);
    connections_begin(http->connections, request.connection);
    http_head_read(info, headers, &request);
    name_request(&request);
    begin_body(&exchange, &request);
    bool fit = answer(http, info, &request, &response);
    struct http_send send = {.connection = connection, .fd = exchange.fd, .old = is_old(info)};
    // Chunks may be followed by trailers, after which the library loses the next request.
    send.closes = !fit || !body.ended || exchange.chunked || !stays_open(&request, info) ||
                  atomic_load(&http->draining);
    send.discards = !body.ended;
    pace_leave(http->pace, exchange.slot);
    send_in_room(&exchange, &send, &request, &response);
    struct request_cost cost = {clock_mono_ns() - begin_ns, send.sent_bytes};
    note_answer(http, &request, &response, cost);
    int status = response.status;
    response_free(&response);
    arena_free(&arena);
    connections_end(http->connections, request.connection);
    return status;
}

// --- callbacks ----------------------------------------------------------------------------------

static struct http *http_of(const struct mg_connection *connection)
{
    return mg_get_user_data(mg_get_context(connection));
}

// Lets close_connection know that the connection's first request was answered.
static void mark_answered(const struct mg_connection *connection)
{
    mg_set_user_connection_data(connection, http_of(connection));
}

static void count_active(struct http *http, int change)
{
    pthread_mutex_lock(&http->lock);
    http->active += (unsigned)change;
    if (http->active == 0)
        pthread_cond_broadcast(&http->idle);
    pthread_mutex_unlock(&http->lock);
}

static int arrive(const struct mg_connection *connection, void **data)
{
    (void)data;
    connections_arrive(http_of(connection)->connections);
    return 0;
}

static int begin_request(struct mg_connection *connection)
{
    struct http *http = http_of(connection);
    mark_answered(connection);
    count_active(http, 1);
    int status = handle(http, connection);
    count_active(http, -1);
    return status;
}

// The head is malformed, or Content-Length is not a number.
static int error_status(int status)
{
    return status == 413 ? 431 : status == 411 ? 400 : status;
}

// The library could not read a request; it closes the connection afterwards.
static int http_error(struct mg_connection *connection, int status, const char *message)
{
    struct http *http = http_of(connection);
    struct request request = {0};
    struct response response;
    struct err err = {0};
    const struct mg_request_info *info = mg_get_request_info(connection);
    mark_answered(connection);
    response_init(&response);
    name_request(&request);
    request.peer = str_of(info->remote_addr);
    response_refuse(&response, &err, (struct refusal){error_status(status), "request"},
                    "the request cannot be read: %s", message);
    problem_write(&request, &response, &err);
    struct http_send send = {.connection = connection, .closes = true, .discards = true};
    send.fd = connections_socket(http->connections, connection_of(http, connection));
    http_send(&send, &request, &response);
    note_answer(http, &request, &response, (struct request_cost){0, send.sent_bytes});
    response_free(&response);
    return 0;
}

// For "OPTIONS *" and absolute addresses with other hosts the library makes no callback and just
// hangs up.
static void close_connection(const struct mg_connection *closing)
{
    const struct mg_request_info *info = mg_get_request_info(closing);
    struct mg_connection *connection; // the callbacks' signature
    memcpy(&connection, &closing, sizeof(connection));
    if (!mg_get_user_connection_data(closing) && info && info->request_uri && !info->local_uri)
        http_error(connection, 400, "its host is not one of this service");
    struct http *http = http_of(closing);
    connections_leave(http->connections, connection_of(http, closing));
}

static void note_start_error(struct crew *crew, const char *message)
{
    pthread_mutex_lock(&crew->lock);
    if (!crew->lacks_threads)
        snprintf(crew->error, sizeof(crew->error), "%s", message);
    crew->lacks_threads |= strstr(message, "thread") != NULL;
    pthread_mutex_unlock(&crew->lock);
}

static int log_message(const struct mg_connection *connection, const char *message)
{
    const struct mg_context *context = mg_get_context(connection);
    struct http *http = context ? mg_get_user_data(context) : NULL;
    if (http && !atomic_load(&http->started))
        note_start_error(&http->crew, message);
    else if (!http || !atomic_load(&http->deaf))
        log_warn("http: %s", message);
    return 1;
}

// --- start and stop -----------------------------------------------------------------------------

static void *join_crew(const struct mg_context *context, int thread_type)
{
    enum { WORKER = 1 };
    struct crew *crew = &((struct http *)mg_get_user_data(context))->crew;
    if (thread_type != WORKER)
        return NULL;
    void *buffer = malloc(HEADER_BYTES);
    pthread_mutex_lock(&crew->lock);
    crew->arrived++;
    crew->lacks_memory |= !buffer;
    pthread_cond_broadcast(&crew->changed);
    while (!crew->complete)
        pthread_cond_wait(&crew->changed, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    free(buffer);
    return NULL;
}

// Waits for all threads, if all were created; returns whether they are there and have memory.
static bool crew_complete(struct crew *crew, unsigned threads)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->lacks_threads && crew->arrived < threads)
        pthread_cond_wait(&crew->changed, &crew->lock);
    crew->complete = true;
    bool able = !crew->lacks_threads && !crew->lacks_memory;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    return able;
}

// Only "host:port": the library would give suffixes and commas a meaning, and take a bare port for
// all interfaces.
static bool check_listen(const char *listen, struct err *err)
{
    const char *colon = strrchr(listen, ':');
    const char *port = colon && colon > listen ? colon + 1 : "";
    size_t digits = strspn(port, "0123456789");
    if (digits > 0 && digits <= 5 && port[digits] == '\0' && strtol(port, NULL, 10) <= 65535 &&
        !strpbrk(listen, ", \t"))
        return true;
    return err_set(err, ERR_USAGE, "found '%s' to listen on, expected ADDRESS:PORT", listen);
}

static unsigned thread_count(const struct http_config *config)
{
    return config->threads ? config->threads : DEFAULT_THREADS;
}

static bool start_library(struct http *http, const struct http_config *config, struct err *err)
{
    char threads[12], idle_ms[12];
    snprintf(threads, sizeof(threads), "%u", thread_count(config));
    snprintf(idle_ms, sizeof(idle_ms), "%d", HTTP_IDLE_S * 1000);
    // Addresses stay encoded: we decode them ourselves and see what decoding would hide.
    const char *options[][2] = {
        // one row after the other, as the library reads them
        {"listening_ports", config->listen},
        {"num_threads", threads},
        {"connection_queue", "256"},
        {"request_timeout_ms", "10000"},
        {"enable_keep_alive", "yes"},
        {"keep_alive_timeout_ms", idle_ms},
        {"listen_backlog", "4096"},
        {"max_request_size", TEXT(HEADER_BYTES)},
        {"tcp_nodelay", "1"},
        {"decode_url", "no"},
        {"enable_auth_domain_check", "no"},
        {"enable_directory_listing", "no"},
        {"cgi_pattern", ""},
        {"access_control_allow_origin", ""},
        {"access_control_allow_methods", ""},
        {"access_control_allow_headers", ""},
        {NULL, NULL},
    };
    struct mg_callbacks callbacks = {.init_thread = join_crew,
                                     .init_connection = arrive,
                                     .begin_request = begin_request,
                                     .http_error = http_error,
                                     .connection_close = close_connection,
                                     .log_message = log_message};
    http->context = mg_start(&callbacks, http, *options);
    atomic_store(&http->started, true);
    if (!http->context)
        return err_set(err, ERR_BUSY, "cannot listen on %s: %s", config->listen, http->crew.error);
    // If it cannot create some threads it starts anyway, and still gives them connections.
    if (crew_complete(&http->crew, thread_count(config)))
        return true;
    return err_set(err, ERR_LIMIT,
                   "cannot start %s threads (%s): choose fewer --connections, or raise the limit "
                   "of processes (ulimit -u, TasksMax, pids.max) or of memory",
                   threads,
                   http->crew.lacks_threads ? http->crew.error : "no memory for their buffers");
}

static void init(struct http *http, const struct http_config *config)
{
    http->never = -1;
    sem_init(&http->comparing, 0, COMPARISONS);
    reply_room_init(&http->room, REPLY_ROOM_BYTES, REPLY_TURNS);
    pthread_mutex_init(&http->crew.lock, NULL);
    pthread_cond_init(&http->crew.changed, NULL);
    pthread_mutex_init(&http->lock, NULL);
    cond_init(&http->idle);
    http->answer = config->answer;
    http->services = config->services;
    http->services.uploads = &http->uploads;
    http->services.draining = &http->draining;
    http->services.room = &http->room;
    http->services.comparing = &http->comparing;
    http->services.known_answers = known_answers_new();
    const char *public_url = config->services.public_url;
    http->precheck = (struct precheck){str_of(config->listen), str_of(public_url ? public_url : ""),
                                       str_of(config->allow_hosts ? config->allow_hosts : "")};
}

// Every connection and every file of an upload needs a descriptor; the usual soft limit of 1,024 is
// less than our threads need.
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static bool start_watches(struct http *http, const struct http_config *config, struct err *err)
{
    unsigned threads = thread_count(config);
    struct pace_config pace = {
        .slots = threads, .window_ms = SLOW_WINDOW_MS, .window_bytes = SLOW_WINDOW_BYTES};
    struct connections_config connections = {
        .threads = threads,
        .per_client = config->per_client && config->per_client < threads / 2 ? config->per_client
                                                                             : threads / 2,
        .patience_ns = SILENT_NS,
        .key = hash_key_random()};
    http->pace = pace_start(&pace, err);
    http->connections = http->pace ? connections_new(&connections, err) : NULL;
    http->services.connections = http->connections;
    return http->connections != NULL;
}

struct http *http_start(const struct http_config *config, struct err *err)
{
    raise_file_limit();
    if (!check_listen(config->listen, err))
        return NULL;
    struct http *http = calloc(1, sizeof(*http));
    if (!http) {
        err_set(err, ERR_MEMORY, "out of memory for the HTTP server");
        return NULL;
    }
    init(http, config);
    if (start_watches(http, config, err) && start_library(http, config, err)) {
        connections_listen(http->connections, http_port(http));
        return http;
    }
    http_stop(http, 0);
    return NULL;
}

unsigned http_port(const struct http *http)
{
    struct mg_server_port port = {0};
    return mg_get_server_ports(http->context, 1, &port) == 1 ? (unsigned)port.port : 0;
}

void http_drain(struct http *http)
{
    atomic_store(&http->draining, true);
}

static void wait_idle(struct http *http, int64_t until)
{
    pthread_mutex_lock(&http->lock);
    while (http->active && cond_wait_until(&http->idle, &http->lock, until))
        ;
    pthread_mutex_unlock(&http->lock);
}

static void shut_socket(struct http *http, int in_its_place)
{
    atomic_store(&http->deaf, true);
    listener_shut(http_port(http), in_its_place);
}

// A shut socket is always ready, so the library waits for something that never comes instead.
static void shut_door(struct http *http)
{
    if (http->never >= 0)
        return;
    http->never = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    listener_empty(http_port(http));
    shut_socket(http, http->never);
}

void http_give_way(struct http *http, uint64_t notice_ms)
{
    http->notice_end_ns = clock_mono_ns() + (int64_t)notice_ms * 1000000;
    atomic_store(&http->gives_way, true);
    http_drain(http);
    if (notice_ms == 0)
        shut_door(http);
}

static void end_notice(struct http *http)
{
    int64_t left_ns = http->notice_end_ns - clock_mono_ns();
    if (left_ns > 0)
        nanosleep(&(struct timespec){left_ns / 1000000000, left_ns % 1000000000}, NULL);
    shut_door(http);
}

// Closes connections whose clients want nothing, after whatever is on its way was answered.
static void end_connections(struct http *http, int64_t until)
{
    enum { NEW_NS = 1000000000, PAUSE_NS = 2000000 };
    wait_idle(http, until);
    while (connections_close_silent(http->connections, NEW_NS) && clock_mono_ns() < until) {
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        wait_idle(http, until);
    }
    (void)connections_close_silent(http->connections, 0);
}

void http_stop(struct http *http, uint64_t grace_ms)
{
    if (!http)
        return;
    http_drain(http);
    if (atomic_load(&http->gives_way))
        end_notice(http);
    int64_t until = clock_mono_ns() + (int64_t)grace_ms * 1000000;
    wait_idle(http, until);
    listener_empty(http_port(http));
    if (http->connections)
        end_connections(http, until);
    // The library notices that it should stop within two seconds, or at once if what it waits for
    // becomes ready. Where it fell asleep while its socket was replaced only the former is certain.
    shut_socket(http, -1);
    if (http->never >= 0)
        (void)eventfd_write(http->never, 1);
    mg_stop(http->context);
    if (http->never >= 0)
        close(http->never);
    pace_stop(http->pace);
    connections_free(http->connections);
    pthread_cond_destroy(&http->crew.changed);
    pthread_mutex_destroy(&http->crew.lock);
    pthread_cond_destroy(&http->idle);
    pthread_mutex_destroy(&http->lock);
    sem_destroy(&http->comparing);
    reply_room_destroy(&http->room);
    known_answers_free(http->services.known_answers);
    free(http);
}
