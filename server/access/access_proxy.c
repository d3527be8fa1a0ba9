// SPDX-License-Identifier: Apache-2.0
// What a trusted proxy says about a request: whose it is, and where it came from.
#include "server/access/access_parts.h"

#include "ingest/base/log.h"

#define USER_MAX_BYTES 64

// "203.0.113.9:51234" or "[2001:db8::7]:443" without the port and the brackets.
static struct str without_port(struct str hop)
{
    if (hop.len == 0)
        return hop;
    bool is_bracketed = hop.at[0] == '[';
    struct str rest = {hop.at + is_bracketed, hop.len - is_bracketed};
    size_t end = str_find(rest, is_bracketed ? STR("]") : STR(":"));
    if (end == SIZE_MAX)
        return hop;
    bool is_v6 = !is_bracketed && str_find((struct str){rest.at + end + 1, rest.len - end - 1},
                                           STR(":")) != SIZE_MAX;
    return is_v6 ? hop : (struct str){rest.at, end};
}

// The last entry is what the proxy itself has seen; everything before it is hearsay. Some proxies
// add another line.
static struct str last_hop(const struct request *request)
{
    struct str hops = {NULL, 0};
    for (size_t i = 0; i < request->header_count; i++)
        if (str_equal_nocase(request->headers[i].name, STR("X-Forwarded-For")))
            hops = request->headers[i].value;
    for (size_t i = hops.len; i-- > 0;)
        if (hops.at[i] == ',')
            return without_port(str_trim((struct str){hops.at + i + 1, hops.len - i - 1}, " \t"));
    return without_port(str_trim(hops, " \t"));
}

static bool is_passed_on(const struct request *request)
{
    static const char *const names[] = {"X-Forwarded-For", "X-Forwarded-Host", "Forwarded"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (request_header(request, names[i]).at)
            return true;
    return false;
}

// With a proxy on this machine, the whole network looks like a local user.
static void warn_of_proxy(struct access *access, const struct request *request)
{
    if (access->required || access->proxies.count || !is_passed_on(request) ||
        atomic_exchange(&access->warned_of_proxy, true))
        return;
    log_warn("a proxy forwards requests from elsewhere without authentication: anyone who reaches "
             "the proxy can change and delete everything; start with --auth required and tokens, "
             "or set the proxy as --trusted-proxy");
}

void access_find_peer(struct request *request)
{
    struct access *access = request->services ? request->services->access : NULL;
    if (access)
        warn_of_proxy(access, request);
    if (!access || !peers_hold(&access->proxies, request->peer))
        return;
    struct str hop = last_hop(request);
    request->by_proxy = true;
    if (peers_is_address(hop))
        request->peer = hop;
}

bool access_is_user(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] <= ' ' || name.at[i] >= 0x7f || strchr(",;\"'<>\\", name.at[i]))
            return false;
    return name.len > 0 && name.len <= USER_MAX_BYTES;
}

static bool is_meant(struct str listed, struct str name)
{
    bool domain = listed.len && listed.at[0] == '@' && name.len > listed.len;
    struct str end = {name.at + (domain ? name.len - listed.len : 0), listed.len};
    return str_equal(listed, name) || (domain && str_equal_nocase(listed, end));
}

bool access_is_listed(struct str names, struct str name)
{
    while (names.len) {
        size_t comma = str_find(names, STR(","));
        struct str one = {names.at, comma == SIZE_MAX ? names.len : comma};
        if (is_meant(str_trim(one, " \t"), name))
            return true;
        size_t used = one.len + (comma != SIZE_MAX);
        names = (struct str){names.at + used, names.len - used};
    }
    return false;
}

bool access_know_user(struct request *request, struct str user, struct str admins, struct err *err)
{
    bool admin = access_is_listed(admins, user);
    char *name = arena_printf(request->arena, err, "user %.*s", (int)user.len, user.at);
    request->who = (struct principal){
        .kind = WHO_USER,
        .name = str_of(name),
        .key = str_of(name),
        .scopes = admin ? SCOPE_ALL : (unsigned)(SCOPE_READ | SCOPE_UPLOAD | SCOPE_WRITE),
        .limits = {-1, -1, -1},
    };
    return name != NULL;
}

bool access_read_proxy(struct request *request, struct response *response, struct err *err)
{
    const struct access *access = request->services->access;
    size_t count = access->proxies.count ? request_header_count(request, access->user_header) : 0;
    if (count == 0)
        return true;
    if (!request->by_proxy)
        return response_refuse(response, err, (struct refusal){403, "untrusted-proxy"},
                               "found the header %s from %.*s, which is not a --trusted-proxy",
                               access->user_header, (int)request->peer.len, request->peer.at);
    struct str user = str_trim(request_header(request, access->user_header), " \t");
    if (count > 1 || !access_is_user(user))
        return response_refuse(
            response, err, (struct refusal){400, "proxy-user"},
            "found %zu %s headers, or one without a plain name, expected one that names the user",
            count, access->user_header);
    return access_know_user(request, user, access->admins, err);
}
