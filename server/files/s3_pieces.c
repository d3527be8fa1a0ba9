// SPDX-License-Identifier: Apache-2.0
#include "server/files/s3_pieces.h"

#include "server/files/s3_list.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "pieces/"
enum { KEY_SIZE = 128, FROM_DIGITS = 20 };

static void key_of(const struct blob_piece *piece, char key[KEY_SIZE])
{
    snprintf(key, KEY_SIZE, FOLDER "%s/%0*llu-%llu.%s", piece->id, FROM_DIGITS,
             (unsigned long long)piece->from, (unsigned long long)piece->bytes, piece->node);
}

// --- names --------------------------------------------------------------------------------------

static bool take_word(struct str *rest, char end, char word[BLOB_PIECE_NAME])
{
    static const char known[] = "0123456789abcdefghijklmnopqrstuvwxyz_";
    const char *at = end && rest->len ? memchr(rest->at, end, rest->len) : NULL;
    size_t len = end ? (at ? (size_t)(at - rest->at) : 0) : rest->len;
    if (len == 0 || len >= BLOB_PIECE_NAME)
        return false;
    snprintf(word, BLOB_PIECE_NAME, "%.*s", (int)len, rest->at);
    size_t used = len + (end != '\0');
    *rest = (struct str){rest->at + used, rest->len - used};
    return strspn(word, known) == len;
}

static bool take_count(struct str *rest, char end, uint64_t *count)
{
    char word[BLOB_PIECE_NAME];
    int64_t value = -1;
    bool ok = take_word(rest, end, word) && str_to_i64(str_of(word), &value) && value >= 0;
    *count = ok ? (uint64_t)value : 0;
    return ok;
}

bool s3_piece_parse(struct str key, struct blob_piece *piece)
{
    char again[KEY_SIZE];
    if (!str_starts_with(key, STR(FOLDER)))
        return false;
    struct str rest = {key.at + strlen(FOLDER), key.len - strlen(FOLDER)};
    if (!take_word(&rest, '/', piece->id) || !take_count(&rest, '-', &piece->from) ||
        !take_count(&rest, '.', &piece->bytes) || !take_word(&rest, '\0', piece->node) ||
        piece->bytes == 0)
        return false;
    key_of(piece, again);
    return str_equal(key, str_of(again));
}

// --- objects ------------------------------------------------------------------------------------

static bool send_for(struct blob_store *store, const struct s3_request *request,
                     struct s3_answer *answer, struct err *err)
{
    bool ok = s3_send(blob_s3_client(store), request, answer, err);
    buf_free(&answer->text);
    return ok;
}

static bool put_piece(struct blob_store *store, const struct blob_piece *piece, int fd,
                      struct err *err)
{
    char key[KEY_SIZE], hash[S3_HASH_SIZE];
    struct s3_answer answer;
    key_of(piece, key);
    if (!s3_hash(fd, piece->from, piece->bytes, hash, err))
        return false;
    struct s3_request request = {.method = "PUT",
                                 .key = key,
                                 .query = "",
                                 .fd = fd,
                                 .from = piece->from,
                                 .bytes = piece->bytes,
                                 .hash = hash,
                                 .meta_hash = hash,
                                 .into_fd = -1};
    return send_for(store, &request, &answer, err);
}

static bool get_piece(struct blob_store *store, const struct blob_piece *piece, int fd,
                      struct err *err)
{
    char key[KEY_SIZE], hash[S3_HASH_SIZE];
    struct s3_answer answer;
    key_of(piece, key);
    struct s3_request request = {.method = "GET", .key = key, .query = "", .fd = -1, .into_fd = fd};
    return send_for(store, &request, &answer, err) && s3_hash(fd, 0, piece->bytes, hash, err) &&
           (strcmp(hash, answer.meta_hash) == 0 ||
            err_set(err, ERR_BUSY, "a piece of an upload is damaged in S3"));
}

static bool remove_piece(struct blob_store *store, const struct blob_piece *piece, struct err *err)
{
    char key[KEY_SIZE];
    struct s3_answer answer;
    key_of(piece, key);
    struct s3_request request = {
        .method = "DELETE", .key = key, .query = "", .fd = -1, .into_fd = -1};
    return send_for(store, &request, &answer, err) || err->code == ERR_NOT_FOUND;
}

// --- lists --------------------------------------------------------------------------------------

struct listing {
    struct s3_client *client;
    const struct blob_piece_visitor *visitor;
};

static bool visit_page(void *ctx, struct str xml, struct err *err)
{
    const struct listing *listing = ctx;
    struct s3_entry entry;
    struct blob_piece piece;
    struct str prefix = str_of(s3_client_prefix(listing->client));
    bool ok = true;
    while (ok && s3_list_next(&xml, STR("Contents"), &entry)) {
        if (!str_starts_with(entry.key, prefix))
            continue;
        struct str key = {entry.key.at + prefix.len, entry.key.len - prefix.len};
        if (s3_piece_parse(key, &piece) && piece.bytes == entry.bytes)
            ok = listing->visitor->visit(listing->visitor->ctx, &piece, err);
    }
    return ok;
}

static bool each_piece(struct blob_store *store, const char *id,
                       const struct blob_piece_visitor *visitor, struct err *err)
{
    char folder[KEY_SIZE];
    struct listing listing = {blob_s3_client(store), visitor};
    snprintf(folder, sizeof folder, "pieces%%2F%s%s", id ? id : "", id ? "%2F" : "");
    return s3_list_pages(listing.client, folder, &(struct s3_page_visitor){visit_page, &listing},
                         err);
}

const struct blob_piece_ops s3_pieces = {
    .put = put_piece, .get = get_piece, .remove = remove_piece, .each = each_piece};
