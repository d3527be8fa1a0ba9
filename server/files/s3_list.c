// SPDX-License-Identifier: Apache-2.0
// Lists of S3. Their elements have no attributes and are not nested in elements of
// the same name, so that looking for tags is enough; anything else is an empty text.
#include "server/files/s3_list.h"

#include "server/files/sigv4.h"

enum { TAG_MOST = 40 };

// Where a tag "<name>" or "</name>" starts; text.len if it is not there.
static size_t find_tag(struct str text, const char *before, struct str name)
{
    char tag[TAG_MOST];
    size_t len = strlen(before);
    if (len + name.len + 1 > sizeof tag)
        return text.len;
    memcpy(tag, before, len);
    memcpy(tag + len, name.at, name.len);
    tag[len + name.len] = '>';
    return str_find(text, (struct str){tag, len + name.len + 1});
}

// Between the tags; *rest is what follows. False if one of them is missing.
static bool take_element(struct str *rest, struct str name, struct str *inside)
{
    size_t at = find_tag(*rest, "<", name), skip = name.len + 2;
    if (at >= rest->len)
        return false;
    struct str from = {rest->at + at + skip, rest->len - at - skip};
    size_t end = find_tag(from, "</", name);
    if (end >= from.len)
        return false;
    *inside = (struct str){from.at, end};
    *rest = (struct str){from.at + end + skip + 1, from.len - end - skip - 1};
    return true;
}

struct str s3_list_text(struct str xml, struct str tag)
{
    struct str inside;
    return take_element(&xml, tag, &inside) ? inside : STR("");
}

bool s3_list_next(struct str *rest, struct str tag, struct s3_entry *entry)
{
    struct str inside;
    int64_t bytes = 0;
    if (!take_element(rest, tag, &inside))
        return false;
    *entry = (struct s3_entry){.key = s3_list_text(inside, STR("Key")),
                               .upload_id = s3_list_text(inside, STR("UploadId")),
                               .time = s3_list_text(inside, STR("LastModified"))};
    if (entry->time.len == 0)
        entry->time = s3_list_text(inside, STR("Initiated"));
    if (str_to_i64(s3_list_text(inside, STR("Size")), &bytes) && bytes > 0)
        entry->bytes = (uint64_t)bytes;
    return true;
}

bool s3_list_is_before(struct str time, const char *limit)
{
    size_t len = strlen(limit);
    return time.len >= len && memcmp(time.at, limit, len) < 0;
}

// --- pages --------------------------------------------------------------------------------------

void s3_list_put_prefix(const struct s3_client *client, const char *folder, struct buf *query)
{
    buf_puts(query, "prefix=");
    sigv4_encode(str_of(s3_client_prefix(client)), false, query);
    buf_puts(query, folder);
}

// Leaves the token of the next page, empty after the last one.
static bool visit_page(struct s3_client *client, const char *query,
                       const struct s3_page_visitor *visitor, struct buf *token, struct err *err)
{
    struct s3_answer answer = {0};
    struct s3_request request = {
        .method = "GET", .key = "", .query = query, .fd = -1, .into_fd = -1};
    bool ok = s3_send(client, &request, &answer, err);
    struct str xml = {answer.text.at ? answer.text.at : "", answer.text.len};
    ok = ok && visitor->visit(visitor->ctx, xml, err);
    buf_clear(token);
    if (str_equal(s3_list_text(xml, STR("IsTruncated")), STR("true")))
        sigv4_encode(s3_list_text(xml, STR("NextContinuationToken")), false, token);
    buf_free(&answer.text);
    return ok;
}

bool s3_list_pages(struct s3_client *client, const char *folder,
                   const struct s3_page_visitor *visitor, struct err *err)
{
    struct buf token = {0}, query = {0};
    bool ok;
    do {
        buf_clear(&query);
        if (token.len)
            buf_printf(&query, "continuation-token=%s&", token.at);
        buf_puts(&query, "list-type=2&");
        s3_list_put_prefix(client, folder, &query);
        ok = buf_ok(&query, err) && visit_page(client, query.at, visitor, &token, err);
    } while (ok && token.len);
    buf_free(&token);
    buf_free(&query);
    return ok;
}
