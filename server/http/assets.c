// SPDX-License-Identifier: Apache-2.0
// The dashboard's pages and files: built in, or from a folder during development.
#include "server/http/assets.h"

#include "server/base/services.h"
#include "server/http/assets_data.h"
#include "server/http/early.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX_BYTES ((off_t)16 << 20) // of a file in --web-dir or --standalone-dir

// --- built in -----------------------------------------------------------------------------------

static int compare_path(const void *key, const void *element)
{
    const struct str *path = key;
    return str_compare(*path, str_of(((const struct asset *)element)->path));
}

static const struct asset *find_asset(struct str path)
{
    return bsearch(&path, assets_table, assets_count, sizeof(*assets_table), compare_path);
}

static void fill_asset(const struct request *request, struct response *response,
                       const struct asset *asset)
{
    bool gzip = request_accepts(request, "Accept-Encoding", "gzip") && asset->gz_size < asset->size;
    response->type = asset->type;
    response->gzipped = gzip;
    response->borrowed = gzip ? (struct str){(const char *)asset->gz, asset->gz_size}
                              : (struct str){(const char *)asset->data, asset->size};
}

// --- from a folder ------------------------------------------------------------------------------

// No segment may be empty or start with a dot, so that no path leaves the folder.
static bool is_plain_path(struct str path)
{
    bool begins = true;
    for (size_t i = 0; i < path.len; i++) {
        if (begins && (path.at[i] == '.' || path.at[i] == '/'))
            return false;
        begins = path.at[i] == '/';
    }
    return !begins;
}

static const char *type_of(struct str path)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {
        {".html", "text/html; charset=utf-8"},
        {".mjs", "text/javascript; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".md", "text/markdown; charset=utf-8"},
        {".txt", "text/plain; charset=utf-8"},
        {".py", "text/x-python; charset=utf-8"},
        {".ipynb", "application/x-ipynb+json"},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        struct str suffix = str_of(types[i].suffix);
        if (path.len > suffix.len &&
            str_equal((struct str){path.at + path.len - suffix.len, suffix.len}, suffix))
            return types[i].type;
    }
    return NULL;
}

// Opens a file in the folder; false if it is not a regular file.
static bool open_in(const char *folder, struct request *request, struct str path, int *fd,
                    struct stat *info)
{
    char *full = is_plain_path(path)
                     ? arena_printf(request->arena, NULL, "%s/%.*s", folder, (int)path.len, path.at)
                     : NULL;
    *fd = full ? open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (*fd >= 0 && fstat(*fd, info) == 0 && S_ISREG(info->st_mode) &&
        info->st_size <= FILE_MAX_BYTES)
        return true;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return false;
}

static bool open_file(struct request *request, struct str path, int *fd, size_t *size)
{
    struct stat info = {0};
    bool ok = open_in(request->services->web_dir, request, path, fd, &info);
    *size = ok ? (size_t)info.st_size : 0;
    return ok;
}

static bool read_file(struct request *request, struct str path, struct str *content)
{
    int fd = -1;
    size_t size = 0, len = 0;
    if (!open_file(request, path, &fd, &size))
        return false;
    char *at = arena_alloc(request->arena, size + 1, NULL);
    ssize_t got = at ? 1 : 0;
    while (got > 0 && len < size) {
        got = read(fd, at + len, size - len);
        len += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    *content = (struct str){at, len};
    return at != NULL;
}

// --- handlers -----------------------------------------------------------------------------------

static bool answer_file(struct request *request, struct response *response, struct str path,
                        struct err *err)
{
    if (request->services->web_dir) {
        size_t size = 0;
        response->type = type_of(path);
        response->cache = CACHE_NEVER;
        if (response->type && open_file(request, path, &response->fd, &size)) {
            response->file_bytes = size;
            return true;
        }
        return err_set(err, ERR_NOT_FOUND, "no such file in the dashboard's folder");
    }
    const struct asset *asset = find_asset(path);
    if (!asset)
        return err_set(err, ERR_NOT_FOUND, "found no such file in the dashboard");
    struct str own = {asset->etag + 1, strlen(asset->etag) - 2}; // without quotes
    if (!response_unchanged(request, response, "%.*s", (int)own.len, own.at))
        fill_asset(request, response, asset);
    return true;
}

bool assets_get_static(struct request *request, struct response *response, struct err *err)
{
    struct str tree = request->captures[0];
    if (!answer_file(request, response, request->captures[1], err))
        return false;
    // A page from an older build may still request its files; they must not be cached as that
    // build's.
    if (!request->services->web_dir && str_equal(tree, str_of(assets_tree_hash)))
        response->cache = CACHE_IMMUTABLE;
    return true;
}

bool assets_get_client(struct request *request, struct response *response, struct err *err)
{
    struct str name = request->captures[0];
    char *path = arena_printf(request->arena, err, "client/%.*s", (int)name.len, name.at);
    return path && answer_file(request, response, str_of(path), err);
}

static bool has_standalone(const struct request *request, struct err *err)
{
    return request->services->standalone_dir ||
           err_set(err, ERR_NOT_FOUND, "this service has no page that analyzes in the browser");
}

// The page's files are next to each other, so it works from any folder.
bool assets_get_standalone_home(struct request *request, struct response *response, struct err *err)
{
    if (!has_standalone(request, err))
        return false;
    response->status = 303;
    response_header(response, request->arena, "Location", "/standalone/index.html");
    return true;
}

bool assets_get_standalone(struct request *request, struct response *response, struct err *err)
{
    const char *folder = request->services->standalone_dir;
    struct str path = request->captures[0];
    struct stat info = {0};
    if (path.len == 0)
        return assets_get_standalone_home(request, response, err);
    if (!has_standalone(request, err))
        return false;
    if (!open_in(folder, request, path, &response->fd, &info))
        return err_set(err, ERR_NOT_FOUND, "found no such file of the page");
    if (response_unchanged(request, response, "%llx-%llx", (unsigned long long)info.st_size,
                           (unsigned long long)info.st_mtim.tv_sec * 1000000000 +
                               (unsigned long long)info.st_mtim.tv_nsec))
        return true;
    const char *type = type_of(path);
    response->type = type ? type : "application/octet-stream";
    response->file_bytes = (uint64_t)info.st_size;
    response->runs_module = true;
    return true;
}

bool assets_get_llms(struct request *request, struct response *response, struct err *err)
{
    return answer_file(request, response, STR("client/llms.txt"), err);
}

// A text with every {{tree}} replaced, so that files' addresses change with their content.
static void add_text(struct response *response, struct str text, const char *tree)
{
    const struct str mark = STR("{{tree}}");
    size_t at = 0;
    while ((at = str_find(text, mark)) != SIZE_MAX) {
        buf_add(&response->body, text.at, at);
        buf_puts(&response->body, tree);
        text = (struct str){text.at + at + mark.len, text.len - at - mark.len};
    }
    buf_add_str(&response->body, text);
}

// Whoever may not read would be refused what the page requests first.
static bool links_early(struct request *request)
{
    const struct services *services = request->services;
    return request->route && request->who.scopes & SCOPE_READ &&
           !(services->lacks_data && services->lacks_data(request));
}

static bool fill_page(struct request *request, struct response *response, struct str page,
                      struct str table, struct err *err)
{
    const struct str mark = STR("{{early}}\n");
    const char *tree = request->services->web_dir ? "dev" : assets_tree_hash;
    size_t at = str_find(page, mark);
    struct buf links = {0};
    if (at == SIZE_MAX)
        return err_set(err, ERR_INTERNAL, "the page lacks its mark for links");
    if (links_early(request))
        early_links(request, table, &links);
    add_text(response, (struct str){page.at, at}, tree);
    add_text(response, (struct str){links.at, links.len}, tree);
    add_text(response, (struct str){page.at + at + mark.len, page.len - at - mark.len}, tree);
    bool ok = buf_ok(&links, err) && buf_ok(&response->body, err);
    buf_free(&links);
    return ok;
}

static struct str text_of(const struct asset *asset)
{
    return asset ? (struct str){(const char *)asset->data, asset->size} : (struct str){NULL, 0};
}

static bool fill_from_folder(struct request *request, struct response *response, struct err *err)
{
    struct str page = {NULL, 0}, table = {NULL, 0};
    response->cache = CACHE_NEVER;
    if (!read_file(request, STR("index.html"), &page) ||
        !read_file(request, STR("early.txt"), &table))
        return err_set(err, ERR_NOT_FOUND,
                       "found no index.html or no early.txt in the dashboard's folder");
    return fill_page(request, response, page, table, err);
}

bool assets_get_page(struct request *request, struct response *response, struct err *err)
{
    struct str page = text_of(find_asset(STR("index.html")));
    response->type = "text/html; charset=utf-8";
    if (request->services->web_dir)
        return fill_from_folder(request, response, err);
    if (!page.at)
        return err_set(err, ERR_NOT_FOUND, "this build has no dashboard");
    // Without a route this is an error page, which nobody should cache.
    if (request->route && response_unchanged(request, response, "page-%s%s", assets_tree_hash,
                                             links_early(request) ? "-early" : ""))
        return true;
    return fill_page(request, response, page, text_of(find_asset(STR("early.txt"))), err);
}
