// SPDX-License-Identifier: Apache-2.0
#include "server/access/id_token_key.h"

#include "server/access/id_token.h"
#include "server/base/base64.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

enum { COORDINATE_BYTES = 32, RSA_MAX_BYTES = 2048 };

struct id_token_algorithm {
    const char *name, *key_type, *curve; // curve: NULL for RSA
};

static const struct id_token_algorithm algorithms[] = {
    {"RS256", "RSA", NULL},
    {"ES256", "EC", "P-256"},
};

const struct id_token_algorithm *id_token_algorithm_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof algorithms / sizeof *algorithms; i++)
        if (strcmp(algorithms[i].name, name) == 0)
            return &algorithms[i];
    return NULL;
}

// Whether a member has this value, or is missing where it may be.
static bool says(const json_t *key, const char *member, const char *text, bool may_miss)
{
    const json_t *found = json_object_get(key, member);
    const char *value = json_string_value(found);
    return found ? value && strcmp(value, text) == 0 : may_miss;
}

bool id_token_key_fits(const json_t *key, const struct id_token_algorithm *algorithm)
{
    return says(key, "kty", algorithm->key_type, false) &&
           (!algorithm->curve || says(key, "crv", algorithm->curve, false)) &&
           says(key, "use", "sig", true) && says(key, "alg", algorithm->name, true);
}

static bool read_bytes(const json_t *key, const char *member, struct arena *arena,
                       struct str *bytes, struct err *err)
{
    const char *text = json_string_value(json_object_get(key, member));
    return (text && base64_decode_url(str_of(text), arena, bytes, err)) ||
           err_set(err, ERR_DENIED, "the provider's key has no '%s'", member);
}

// --- keys of OpenSSL ----------------------------------------------------------------------------

static EVP_PKEY *make_key(const char *type, OSSL_PARAM_BLD *parts)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(parts);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    bool ok = params && context && EVP_PKEY_fromdata_init(context) == 1 &&
              EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, params) == 1;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    return ok ? key : NULL;
}

static EVP_PKEY *make_rsa(struct str modulus, struct str exponent)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    BIGNUM *n = BN_bin2bn((const unsigned char *)modulus.at, (int)modulus.len, NULL);
    BIGNUM *e = BN_bin2bn((const unsigned char *)exponent.at, (int)exponent.len, NULL);
    if (parts && n && e && BN_num_bits(n) >= ID_TOKEN_LEAST_BITS && BN_is_odd(e) && !BN_is_one(e) &&
        OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, n) &&
        OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, e))
        key = make_key("RSA", parts);
    BN_free(n);
    BN_free(e);
    OSSL_PARAM_BLD_free(parts);
    return key;
}

static EVP_PKEY *make_ec(struct str x, struct str y)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    unsigned char point[1 + 2 * COORDINATE_BYTES] = {POINT_CONVERSION_UNCOMPRESSED};
    memcpy(point + 1, x.at, COORDINATE_BYTES);
    memcpy(point + 1 + COORDINATE_BYTES, y.at, COORDINATE_BYTES);
    if (parts &&
        OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) &&
        OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point))
        key = make_key("EC", parts);
    OSSL_PARAM_BLD_free(parts);
    return key;
}

static EVP_PKEY *read_key(const json_t *jwk, const struct id_token_algorithm *algorithm,
                          struct arena *arena, struct err *err)
{
    EVP_PKEY *key = NULL;
    struct str a, b;
    bool rsa = !algorithm->curve;
    if (!read_bytes(jwk, rsa ? "n" : "x", arena, &a, err) ||
        !read_bytes(jwk, rsa ? "e" : "y", arena, &b, err))
        return NULL;
    if (rsa && a.len <= RSA_MAX_BYTES && b.len <= sizeof(uint64_t))
        key = make_rsa(a, b);
    else if (!rsa && a.len == COORDINATE_BYTES && b.len == COORDINATE_BYTES)
        key = make_ec(a, b);
    if (!key)
        err_set(err, ERR_DENIED, "the provider's key is not a %s key of enough bits",
                algorithm->name);
    return key;
}

// --- signatures ---------------------------------------------------------------------------------

// JWS has the signature's two numbers side by side; OpenSSL wants DER.
static bool to_der(struct str raw, struct arena *arena, struct str *der, struct err *err)
{
    ECDSA_SIG *pair = raw.len == 2 * COORDINATE_BYTES ? ECDSA_SIG_new() : NULL;
    const unsigned char *at = (const unsigned char *)raw.at;
    BIGNUM *r = pair ? BN_bin2bn(at, COORDINATE_BYTES, NULL) : NULL;
    BIGNUM *s = pair ? BN_bin2bn(at + COORDINATE_BYTES, COORDINATE_BYTES, NULL) : NULL;
    int len = 0;
    unsigned char *out = NULL;
    if (r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        len = i2d_ECDSA_SIG(pair, NULL);
        out = len > 0 ? arena_alloc(arena, (size_t)len, err) : NULL;
    } else {
        BN_free(r);
        BN_free(s);
    }
    if (out) {
        *der = (struct str){(const char *)out, (size_t)len};
        len = i2d_ECDSA_SIG(pair, &out);
    }
    ECDSA_SIG_free(pair);
    return out != NULL && len > 0;
}

bool id_token_key_verify(const json_t *jwk, const struct id_token_algorithm *algorithm,
                         struct str text, struct str signature, struct arena *arena,
                         struct err *err)
{
    EVP_PKEY *key = read_key(jwk, algorithm, arena, err);
    if (!key)
        return false;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = (!algorithm->curve || to_der(signature, arena, &signature, err)) && context &&
                EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1 &&
                EVP_DigestVerify(context, (const unsigned char *)signature.at, signature.len,
                                 (const unsigned char *)text.at, text.len) == 1;
    EVP_MD_CTX_free(context);
    EVP_PKEY_free(key);
    return good || err_set(err, ERR_DENIED, "the ID token has a wrong signature");
}
