// SPDX-License-Identifier: Apache-2.0
// Secrets of tokens and sessions.
#include "server/base/token.h"

#include "server/base/principal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>

static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
#define ALPHABET_CHARS (sizeof(alphabet) - 1)

bool token_make(const char *prefix, char token[TOKEN_SIZE], struct err *err)
{
    // Bytes above the last multiple of 62 would make some characters likelier than others.
    const unsigned char fair = 256 / ALPHABET_CHARS * ALPHABET_CHARS;
    size_t len = (size_t)snprintf(token, TOKEN_SIZE, "%s", prefix), end = len + TOKEN_CHARS;
    while (len < end) {
        unsigned char bytes[TOKEN_CHARS];
        if (RAND_bytes(bytes, sizeof(bytes)) != 1)
            return err_set(err, ERR_INTERNAL, "the system provides no random numbers");
        for (size_t i = 0; i < sizeof(bytes) && len < end; i++)
            if (bytes[i] < fair)
                token[len++] = alphabet[bytes[i] % ALPHABET_CHARS];
        OPENSSL_cleanse(bytes, sizeof(bytes));
    }
    token[len] = '\0';
    return true;
}

bool token_has_form(struct str text, const char *prefix)
{
    struct str begin = str_of(prefix);
    if (text.len != begin.len + TOKEN_CHARS || !str_starts_with(text, begin))
        return false;
    for (size_t i = begin.len; i < text.len; i++)
        if (!memchr(alphabet, text.at[i], ALPHABET_CHARS))
            return false;
    return true;
}

bool token_hash(struct str token, char hash[TOKEN_HASH_SIZE], struct err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(token.at, token.len, digest, &size, EVP_sha256(), NULL) != 1 || size != 32)
        return err_set(err, ERR_INTERNAL, "cannot compute a SHA-256");
    str_hex(hash, digest, size);
    return true;
}

bool token_same_hash(struct str a, struct str b)
{
    return a.len == b.len && CRYPTO_memcmp(a.at, b.at, a.len) == 0;
}

// --- scopes -------------------------------------------------------------------------------------

static const struct {
    const char *word;
    unsigned scope;
} words_of_scopes[] = {
    {"read", SCOPE_READ},
    {"upload", SCOPE_UPLOAD},
    {"write", SCOPE_WRITE},
    {"admin", SCOPE_ADMIN},
};
#define SCOPE_COUNT (sizeof(words_of_scopes) / sizeof(*words_of_scopes))

static unsigned scope_of(struct str word)
{
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        if (str_equal(word, str_of(words_of_scopes[i].word)))
            return words_of_scopes[i].scope;
    return 0;
}

bool token_parse_scopes(struct str words, unsigned *scopes, struct err *err)
{
    *scopes = 0;
    for (bool more = true; more;) {
        size_t comma = str_find(words, STR(","));
        struct str word = {words.at, comma == SIZE_MAX ? words.len : comma};
        unsigned scope = scope_of(word);
        if (!scope)
            return err_set(err, ERR_USAGE,
                           "found scope '%.*s', expected some of read, upload, write, admin",
                           (int)(word.len < 20 ? word.len : 20), word.at);
        *scopes |= scope;
        more = comma != SIZE_MAX;
        size_t used = word.len + more;
        words = (struct str){words.at + used, words.len - used};
    }
    return true;
}

void token_write_scopes(unsigned scopes, char words[TOKEN_SCOPES_SIZE])
{
    size_t len = 0;
    words[0] = '\0';
    for (size_t i = 0; i < SCOPE_COUNT; i++)
        if (scopes & words_of_scopes[i].scope)
            len += (size_t)snprintf(words + len, TOKEN_SCOPES_SIZE - len, "%s%s", len ? "," : "",
                                    words_of_scopes[i].word);
}

unsigned token_all_scopes(unsigned scopes)
{
    if (scopes & SCOPE_ADMIN)
        return SCOPE_ALL;
    return scopes & SCOPE_WRITE ? scopes | SCOPE_READ : scopes;
}
