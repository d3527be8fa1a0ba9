// SPDX-License-Identifier: Apache-2.0
// Which texts of people are valid.
#include "server/store/store_sql.h"

#include "ingest/base/secrets.h"

bool text_is_blank(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr(" \t\r\n", text.at[i]))
            return false;
    return true;
}

bool text_check(const char *what, struct str text, size_t max_bytes, struct err *err)
{
    if (text.len > max_bytes)
        return err_set(err, ERR_USAGE, "found %zu bytes of %s, expected at most %zu", text.len,
                       what, max_bytes);
    size_t valid = str_valid_utf8(text);
    return valid == text.len ||
           err_set(err, ERR_USAGE, "%s is not valid UTF-8 at byte %zu", what, valid);
}

bool text_check_line(const char *what, struct str text, size_t max_bytes, struct err *err)
{
    if (!text_check(what, text, max_bytes, err))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < ' ' || c == 0x7f)
            return err_set(err, ERR_USAGE, "%s has the control character 0x%02x", what, c);
    }
    return true;
}

bool text_check_secret(const char *what, struct str text, struct err *err)
{
    struct secret secret;
    return !secrets_find(text, 0, &secret) ||
           err_set(err, ERR_USAGE,
                   "%s contains text at byte %zu that looks like a secret (%s), expected none",
                   what, secret.at, secret_word(secret.kind));
}

static bool is_word_char(char c)
{
    char letter = (char)(c | 0x20);
    return (letter >= 'a' && letter <= 'z') || str_is_digit(c) || c == '.' || c == '_' || c == '-';
}

bool text_check_letters(const char *what, struct str word, struct err *err)
{
    bool has_more = false; // characters other than dots: "." and ".." are folders in a URL
    if (word.len == 0 || word.len > STORE_WORD_MAX_BYTES)
        return err_set(err, ERR_USAGE, "found a %s of %zu bytes, expected 1 to %zu", what, word.len,
                       STORE_WORD_MAX_BYTES);
    for (size_t i = 0; i < word.len; i++) {
        if (!is_word_char(word.at[i]))
            return err_set(err, ERR_USAGE,
                           "found a %s with byte 0x%02x, expected letters, digits, '.', '_', '-'",
                           what, (unsigned)(unsigned char)word.at[i]);
        has_more = has_more || word.at[i] != '.';
    }
    return has_more || err_set(err, ERR_USAGE, "found a %s of dots alone", what);
}

bool text_check_word(const char *what, struct str word, struct err *err)
{
    return text_check_letters(what, word, err) && text_check_secret(what, word, err);
}
