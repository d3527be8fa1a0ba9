// SPDX-License-Identifier: Apache-2.0
// Reads lists that S3 sends. Their elements have no attributes and are not nested in elements of
// the same name, so that looking for tags is enough; anything else is an empty text.
#include "server/files/s3_list.h"

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
