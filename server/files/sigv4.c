// SPDX-License-Identifier: Apache-2.0
// Signs requests to S3: a hash of the request, keyed by the secret, the day, the region and the
// service. All headers that are signed are listed in their order.
#include "server/files/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <time.h>

enum { HASH_BYTES = 32, HEX_SIZE = 2 * HASH_BYTES + 1, TIME_SIZE = 17, SCOPE_SIZE = 128 };

static bool hmac(struct str key, struct str text, unsigned char out[HASH_BYTES])
{
    return HMAC(EVP_sha256(), key.at, (int)key.len, (const unsigned char *)text.at, text.len, out,
                NULL) != NULL;
}

static bool hash_hex(struct str text, char hex[HEX_SIZE])
{
    unsigned char hash[HASH_BYTES];
    if (EVP_Digest(text.at, text.len, hash, NULL, EVP_sha256(), NULL) != 1)
        return false;
    str_hex(hex, hash, HASH_BYTES);
    return true;
}

void sigv4_encode(struct str text, bool is_path, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i], letter = (char)(c | 0x20);
        bool plain = (letter >= 'a' && letter <= 'z') || str_is_digit(c) ||
                     (c && strchr("-._~", c)) || (is_path && c == '/');
        if (plain)
            buf_putc(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

// Names of the signed headers, in their order.
static void write_names(const struct sigv4_keys *keys, const struct sigv4_request *request,
                        struct buf *out)
{
    buf_puts(out, "host;x-amz-content-sha256;x-amz-date");
    buf_puts(out, request->meta_hash ? ";x-amz-meta-sha256" : "");
    buf_puts(out, keys->token ? ";x-amz-security-token" : "");
}

static void write_canonical(const struct sigv4_keys *keys, const struct sigv4_request *request,
                            const char *time, struct buf *out)
{
    buf_printf(out, "%s\n%s\n%s\nhost:%s\nx-amz-content-sha256:%s\nx-amz-date:%s\n",
               request->method, request->path, request->query, request->host, request->payload_hash,
               time);
    if (request->meta_hash)
        buf_printf(out, "x-amz-meta-sha256:%s\n", request->meta_hash);
    if (keys->token)
        buf_printf(out, "x-amz-security-token:%s\n", keys->token);
    buf_putc(out, '\n');
    write_names(keys, request, out);
    buf_printf(out, "\n%s", request->payload_hash);
}

// The key of a day, a region and a service signs the text.
static bool sign_text(const struct sigv4_keys *keys, const char *time, struct str text,
                      char hex[HEX_SIZE])
{
    unsigned char key[HASH_BYTES], next[HASH_BYTES];
    char first[256];
    const struct str steps[] = {
        {time, 8}, str_of(keys->region), STR("s3"), STR("aws4_request"), text};
    snprintf(first, sizeof first, "AWS4%s", keys->secret);
    struct str from = str_of(first);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!hmac(from, steps[i], next))
            return false;
        memcpy(key, next, sizeof key);
        from = (struct str){(const char *)key, sizeof key};
    }
    str_hex(hex, key, HASH_BYTES);
    return true;
}

static void write_time(int64_t at_s, char time[TIME_SIZE])
{
    time_t seconds = (time_t)at_s;
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(time, TIME_SIZE, "%Y%m%dT%H%M%SZ", &parts);
}

static bool sign(const struct sigv4_keys *keys, const struct sigv4_request *request,
                 const char *time, const char *scope, char signature[HEX_SIZE])
{
    struct buf text = {0};
    char hash[HEX_SIZE], to_sign[SCOPE_SIZE + 128];
    write_canonical(keys, request, time, &text);
    bool ok = !text.failed && hash_hex((struct str){text.at, text.len}, hash);
    buf_free(&text);
    if (!ok)
        return false;
    snprintf(to_sign, sizeof to_sign, "AWS4-HMAC-SHA256\n%s\n%s\n%s", time, scope, hash);
    return sign_text(keys, time, str_of(to_sign), signature);
}

static bool fits(const struct sigv4_keys *keys, struct err *err)
{
    bool ok = strlen(keys->id) <= 128 && strlen(keys->secret) <= 200 &&
              strlen(keys->region) <= 64 &&
              (!keys->token || strlen(keys->token) < SIGV4_HEADER_SIZE - 40);
    return ok || err_set(err, ERR_USAGE, "the access key or the region for S3 is too long");
}

bool sigv4_sign(const struct sigv4_keys *keys, const struct sigv4_request *request,
                struct sigv4_headers *headers, struct err *err)
{
    char time[TIME_SIZE], scope[SCOPE_SIZE], signature[HEX_SIZE];
    struct buf names = {0};
    if (!fits(keys, err))
        return false;
    write_time(request->at_s, time);
    snprintf(scope, sizeof scope, "%.8s/%s/s3/aws4_request", time, keys->region);
    write_names(keys, request, &names);
    bool ok = !names.failed && sign(keys, request, time, scope, signature);
    memset(headers, 0, sizeof *headers);
    if (ok) {
        char(*line)[SIGV4_HEADER_SIZE] = headers->lines;
        snprintf(line[0], sizeof *line,
                 "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
                 keys->id, scope, names.at, signature);
        snprintf(line[1], sizeof *line, "x-amz-date: %s", time);
        snprintf(line[2], sizeof *line, "x-amz-content-sha256: %s", request->payload_hash);
        if (request->meta_hash)
            snprintf(line[3], sizeof *line, "x-amz-meta-sha256: %s", request->meta_hash);
        if (keys->token)
            snprintf(line[4], sizeof *line, "x-amz-security-token: %s", keys->token);
    }
    buf_free(&names);
    return ok || err_set(err, ERR_INTERNAL, "a request to S3 cannot be signed");
}
