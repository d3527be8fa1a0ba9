// SPDX-License-Identifier: Apache-2.0
// Only two algorithms, both with key pairs: one with a shared secret would accept the provider's
// public key as the secret, and "none" accepts anything.
#include "server/access/id_token.h"

#include "server/access/id_token_key.h"
#include "server/base/base64.h"

struct parts {
    struct str header, claims, signature; // as sent
    struct str signed_text;               // header and claims with the dot between them
};

static bool refuse(struct err *err, const char *why)
{
    return err_set(err, ERR_DENIED, "the ID token %s", why);
}

static bool split(struct str token, struct parts *parts, struct err *err)
{
    size_t first = str_find(token, STR("."));
    if (first == SIZE_MAX || token.len > ID_TOKEN_MAX_BYTES)
        return refuse(err, "has not three parts, or is too long");
    struct str rest = {token.at + first + 1, token.len - first - 1};
    size_t second = str_find(rest, STR("."));
    if (second == SIZE_MAX)
        return refuse(err, "has not three parts");
    parts->header = (struct str){token.at, first};
    parts->claims = (struct str){rest.at, second};
    parts->signature = (struct str){rest.at + second + 1, rest.len - second - 1};
    parts->signed_text = (struct str){token.at, first + 1 + second};
    return true;
}

static json_t *read_object(struct str text, struct arena *arena, struct err *err)
{
    struct str bytes;
    if (!base64_decode_url(text, arena, &bytes, err)) {
        refuse(err, "is not base64url");
        return NULL;
    }
    json_t *object = json_loadb(bytes.at, bytes.len, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(object))
        return object;
    json_decref(object);
    refuse(err, "is not JSON");
    return NULL;
}

static bool has_text(const json_t *object, const char *name, const char *text)
{
    const char *found = json_string_value(json_object_get(object, name));
    return found && strcmp(found, text) == 0;
}

// --- the signature ------------------------------------------------------------------------------

// The only key of its kind, or the one that the header names.
static const json_t *choose_key(const json_t *keys, const json_t *header,
                                const struct id_token_algorithm *algorithm)
{
    const char *id = json_string_value(json_object_get(header, "kid"));
    const json_t *found = NULL;
    size_t i;
    json_t *key;
    json_array_foreach(json_object_get(keys, "keys"), i, key)
    {
        bool named = !id || has_text(key, "kid", id);
        if (!named || !id_token_key_fits(key, algorithm))
            continue;
        if (found)
            return NULL;
        found = key;
    }
    return found;
}

static bool check_signature(const struct parts *parts, const json_t *header, const json_t *keys,
                            struct arena *arena, struct err *err)
{
    const char *name = json_string_value(json_object_get(header, "alg"));
    const struct id_token_algorithm *algorithm = id_token_algorithm_of(name);
    struct str signature;
    if (!algorithm)
        return err_set(err, ERR_DENIED,
                       "the ID token is signed by '%.20s', expected RS256 or ES256",
                       name ? name : "");
    if (json_object_get(header, "crit"))
        return refuse(err, "needs extensions that are not known");
    if (!base64_decode_url(parts->signature, arena, &signature, err))
        return refuse(err, "has a signature that is not base64url");
    const json_t *key = choose_key(keys, header, algorithm);
    if (!key)
        return err_set(err, ERR_NOT_FOUND, "the provider has no %s key of that name", name);
    return id_token_key_verify(key, algorithm, parts->signed_text, signature, arena, err);
}

// --- what it says -------------------------------------------------------------------------------

static bool is_for_us(const json_t *claims, const char *client_id)
{
    const json_t *audience = json_object_get(claims, "aud");
    bool found = has_text(claims, "aud", client_id), others = false;
    size_t i;
    json_t *one;
    json_array_foreach(audience, i, one)
    {
        bool own = json_is_string(one) && strcmp(json_string_value(one), client_id) == 0;
        found = found || own;
        others = others || !own;
    }
    bool party = json_object_get(claims, "azp") != NULL;
    return found && ((!party && !others) || has_text(claims, "azp", client_id));
}

static bool check_times(const json_t *claims, int64_t now_s, struct err *err)
{
    const json_t *ends = json_object_get(claims, "exp"), *begins = json_object_get(claims, "nbf"),
                 *made = json_object_get(claims, "iat");
    double now = (double)now_s, leeway = ID_TOKEN_LEEWAY_S;
    if (!json_is_number(ends) || !json_is_number(made) || (begins && !json_is_number(begins)))
        return refuse(err, "does not say when it was made and when it ends");
    if (!(json_number_value(ends) > now - leeway))
        return refuse(err, "has expired");
    if (!(json_number_value(made) < now + leeway) ||
        (begins && !(json_number_value(begins) < now + leeway)))
        return refuse(err, "is from the future: compare the clocks");
    if (!(json_number_value(made) > now - ID_TOKEN_MAX_AGE_S))
        return refuse(err, "is old: compare the clocks");
    return true;
}

// An address that nobody has confirmed may be someone else's.
static bool read_user(const json_t *claims, const char *claim, struct arena *arena,
                      struct str *user, struct err *err)
{
    const char *name = json_string_value(json_object_get(claims, claim));
    if (!name || !*name)
        return err_set(err, ERR_DENIED, "the ID token has no '%.40s': see --oidc-claim", claim);
    if (strcmp(claim, "email") == 0 && !json_is_true(json_object_get(claims, "email_verified")))
        return refuse(err, "has an e-mail address that the provider has not verified");
    char *kept = arena_strdup(arena, str_of(name), err);
    *user = str_of(kept);
    return kept != NULL;
}

static bool check_claims(const json_t *claims, const struct id_token_terms *terms, struct err *err)
{
    if (!has_text(claims, "iss", terms->issuer))
        return refuse(err, "is of another issuer");
    if (!is_for_us(claims, terms->client_id))
        return refuse(err, "is for another client");
    if (!has_text(claims, "nonce", terms->nonce))
        return refuse(err, "is of another sign-in");
    return check_times(claims, terms->now_s, err);
}

bool id_token_check(struct str token, const json_t *keys, const struct id_token_terms *terms,
                    struct arena *arena, struct str *user, struct err *err)
{
    struct parts parts;
    json_t *header = NULL, *claims = NULL;
    bool ok = split(token, &parts, err) &&
              (header = read_object(parts.header, arena, err)) != NULL &&
              check_signature(&parts, header, keys, arena, err) &&
              (claims = read_object(parts.claims, arena, err)) != NULL &&
              check_claims(claims, terms, err) && read_user(claims, terms->claim, arena, user, err);
    json_decref(header);
    json_decref(claims);
    return ok;
}
