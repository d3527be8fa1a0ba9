// SPDX-License-Identifier: Apache-2.0
#include "server/access/id_token.h"
#include "server/base/base64.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define NOW_S ((int64_t)1790000000)

struct fixture {
    struct arena arena;
    EVP_PKEY *rsa, *ec, *weak;
    json_t *keys;
    struct err err;
    struct str user;
};

static const struct id_token_terms terms = {.issuer = "https://login.example",
                                            .client_id = "stepscope",
                                            .nonce = "n-1",
                                            .claim = "email",
                                            .now_s = NOW_S};

// --- keys ---------------------------------------------------------------------------------------

static char *text_of(struct str bytes)
{
    struct buf out = {0};
    base64_encode_url(bytes, &out);
    return out.at; // not even NULL for no bytes here
}

static void add_number(json_t *jwk, const char *member, EVP_PKEY *key, const char *param)
{
    unsigned char bytes[512];
    BIGNUM *number = NULL;
    assert_int_equal(EVP_PKEY_get_bn_param(key, param, &number), 1);
    int least = strcmp(member, "x") == 0 || strcmp(member, "y") == 0 ? 32 : BN_num_bytes(number);
    int len = BN_bn2binpad(number, bytes, least);
    char *text = text_of((struct str){(const char *)bytes, (size_t)len});
    json_object_set_new(jwk, member, json_string(text));
    free(text);
    BN_free(number);
}

static json_t *rsa_jwk(EVP_PKEY *key, const char *id)
{
    json_t *jwk = json_pack("{s:s, s:s, s:s}", "kty", "RSA", "kid", id, "use", "sig");
    add_number(jwk, "n", key, OSSL_PKEY_PARAM_RSA_N);
    add_number(jwk, "e", key, OSSL_PKEY_PARAM_RSA_E);
    return jwk;
}

static json_t *ec_jwk(EVP_PKEY *key, const char *id)
{
    json_t *jwk = json_pack("{s:s, s:s, s:s}", "kty", "EC", "crv", "P-256", "kid", id);
    add_number(jwk, "x", key, OSSL_PKEY_PARAM_EC_PUB_X);
    add_number(jwk, "y", key, OSSL_PKEY_PARAM_EC_PUB_Y);
    return jwk;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, NULL);
    f->rsa = EVP_RSA_gen(2048);
    f->weak = EVP_RSA_gen(1024);
    f->ec = EVP_EC_gen("P-256");
    f->keys = json_pack("{s:[o,o,o]}", "keys", rsa_jwk(f->rsa, "r1"), ec_jwk(f->ec, "e1"),
                        rsa_jwk(f->weak, "weak"));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    EVP_PKEY_free(f->rsa);
    EVP_PKEY_free(f->ec);
    EVP_PKEY_free(f->weak);
    json_decref(f->keys);
    arena_free(&f->arena);
    free(f);
    return 0;
}

// --- tokens -------------------------------------------------------------------------------------

static json_t *usual_claims(void)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:I, s:I}", "iss", "https://login.example", "aud",
                     "stepscope", "nonce", "n-1", "email", "alice@example.com", "email_verified", 1,
                     "iat", (json_int_t)NOW_S - 5, "exp", (json_int_t)NOW_S + 300);
}

static void add_json(struct buf *out, json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    base64_encode_url(str_of(text), out);
    free(text);
    json_decref(object);
}

// ES256 is two numbers of 32 bytes each.
static size_t to_raw(unsigned char *signature, size_t len)
{
    const unsigned char *at = signature;
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &at, (long)len);
    assert_non_null(pair);
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32);
    ECDSA_SIG_free(pair);
    return 64;
}

static void sign(struct buf *out, EVP_PKEY *key)
{
    unsigned char signature[512];
    size_t len = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key), 1);
    assert_int_equal(
        EVP_DigestSign(context, signature, &len, (const unsigned char *)out->at, out->len), 1);
    EVP_MD_CTX_free(context);
    if (EVP_PKEY_is_a(key, "EC"))
        len = to_raw(signature, len);
    buf_putc(out, '.');
    base64_encode_url((struct str){(const char *)signature, len}, out);
}

static void begin(struct buf *out, const char *algorithm, const char *id, json_t *claims)
{
    json_t *header = json_pack("{s:s}", "alg", algorithm);
    if (id)
        json_object_set_new(header, "kid", json_string(id));
    add_json(out, header);
    buf_putc(out, '.');
    add_json(out, claims);
}

static bool check(struct fixture *f, struct buf *token)
{
    f->err = (struct err){0};
    struct str text = {token->at, token->len};
    bool good = id_token_check(text, f->keys, &terms, &f->arena, &f->user, &f->err);
    buf_free(token);
    return good;
}

static void assert_refused(struct fixture *f, struct buf *token, const char *why)
{
    assert_false(check(f, token));
    if (!strstr(f->err.msg, why))
        fail_msg("found '%s', expected '%s'", f->err.msg, why);
}

static bool check_signed(struct fixture *f, json_t *claims)
{
    struct buf token = {0};
    begin(&token, "RS256", "r1", claims);
    sign(&token, f->rsa);
    return check(f, &token);
}

static void assert_claims_refused(struct fixture *f, const char *name, json_t *value,
                                  const char *why)
{
    json_t *claims = usual_claims();
    if (value)
        json_object_set_new(claims, name, value);
    else
        json_object_del(claims, name);
    assert_false(check_signed(f, claims));
    if (f->err.code != ERR_DENIED || !strstr(f->err.msg, why))
        fail_msg("%s: found '%s', expected '%s'", name, f->err.msg, why);
}

// ------------------------------------------------------------------------------------------------

static void a_token_of_the_provider_names_the_user(void **state)
{
    struct fixture *f = *state;
    assert_true(check_signed(f, usual_claims()));
    assert_true(str_equal(f->user, STR("alice@example.com")));
    struct buf token = {0};
    begin(&token, "ES256", NULL, usual_claims()); // the only key of its kind
    sign(&token, f->ec);
    assert_true(check(f, &token));
}

static void several_audiences_are_good_if_this_client_is_the_party(void **state)
{
    struct fixture *f = *state;
    json_t *claims = usual_claims();
    json_object_set_new(claims, "aud", json_pack("[s,s]", "other", "stepscope"));
    json_object_set_new(claims, "azp", json_string("stepscope"));
    assert_true(check_signed(f, claims));
    assert_claims_refused(f, "aud", json_pack("[s,s]", "other", "stepscope"), "another client");
    assert_claims_refused(f, "azp", json_string("other"), "another client");
}

static void a_token_without_a_signature_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const words[] = {"none", "None", "nOnE", ""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct buf token = {0};
        begin(&token, words[i], NULL, usual_claims());
        buf_putc(&token, '.');
        assert_refused(f, &token, "expected RS256 or ES256");
    }
    struct buf empty = {0};
    begin(&empty, "RS256", "r1", usual_claims());
    buf_putc(&empty, '.');
    assert_refused(f, &empty, "wrong signature");
}

// The public key, which everybody knows, as the secret of a symmetric algorithm.
static void a_public_key_is_no_shared_secret(void **state)
{
    struct fixture *f = *state;
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    json_t *jwk = json_array_get(json_object_get(f->keys, "keys"), 0);
    const char *modulus = json_string_value(json_object_get(jwk, "n"));
    struct buf token = {0};
    begin(&token, "HS256", "r1", usual_claims());
    HMAC(EVP_sha256(), modulus, (int)strlen(modulus), (const unsigned char *)token.at, token.len,
         digest, &size);
    buf_putc(&token, '.');
    base64_encode_url((struct str){(const char *)digest, size}, &token);
    assert_refused(f, &token, "expected RS256 or ES256");
}

static void a_key_of_another_kind_is_not_used(void **state)
{
    struct fixture *f = *state;
    struct buf token = {0};
    begin(&token, "ES256", "r1", usual_claims());
    sign(&token, f->ec);
    assert_refused(f, &token, "no ES256 key");
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    begin(&token, "RS256", "unknown", usual_claims());
    sign(&token, f->rsa);
    assert_refused(f, &token, "no RS256 key");
    begin(&token, "RS256", "weak", usual_claims());
    sign(&token, f->weak);
    assert_refused(f, &token, "enough bits");
}

static void another_key_or_another_text_is_refused(void **state)
{
    struct fixture *f = *state;
    EVP_PKEY *other = EVP_RSA_gen(2048);
    struct buf token = {0};
    begin(&token, "RS256", "r1", usual_claims());
    sign(&token, other);
    EVP_PKEY_free(other);
    assert_refused(f, &token, "wrong signature");
    begin(&token, "RS256", "r1", usual_claims());
    sign(&token, f->rsa);
    char *claims = strchr(token.at, '.') + 10;
    *claims = *claims == 'A' ? 'B' : 'A';
    assert_refused(f, &token, "wrong signature");
}

static void claims_that_do_not_hold_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_claims_refused(f, "iss", json_string("https://login.example/"), "another issuer");
    assert_claims_refused(f, "iss", NULL, "another issuer");
    assert_claims_refused(f, "aud", json_string("other"), "another client");
    assert_claims_refused(f, "aud", json_array(), "another client");
    assert_claims_refused(f, "nonce", json_string("n-2"), "another sign-in");
    assert_claims_refused(f, "nonce", NULL, "another sign-in");
    assert_claims_refused(f, "exp", json_integer(NOW_S - 61), "expired");
    assert_claims_refused(f, "exp", NULL, "when");
    assert_claims_refused(f, "exp", json_string("1"), "when");
    assert_claims_refused(f, "iat", json_integer(NOW_S + 61), "future");
    assert_claims_refused(f, "iat", json_integer(NOW_S - 601), "old");
    assert_claims_refused(f, "nbf", json_integer(NOW_S + 61), "future");
    assert_claims_refused(f, "email", NULL, "--oidc-claim");
    assert_claims_refused(f, "email", json_integer(7), "--oidc-claim");
    assert_claims_refused(f, "email_verified", json_false(), "not verified");
    assert_claims_refused(f, "email_verified", json_string("true"), "not verified");
}

static void text_that_is_no_token_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const texts[] = {"",
                                        ".",
                                        "..",
                                        "a.b",
                                        "e30.e30.e30",
                                        "e30=.e30.",
                                        "W10.e30.",
                                        "eyJhbGciOiJSUzI1NiIsImFsZyI6Im5vbmUifQ.e30.e30"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf token = {0};
        buf_puts(&token, texts[i]);
        assert_false(check(f, &token));
    }
    struct buf token = {0};
    json_t *header = json_pack("{s:s, s:s, s:[s]}", "alg", "RS256", "kid", "r1", "crit", "b64");
    add_json(&token, header);
    buf_putc(&token, '.');
    add_json(&token, usual_claims());
    sign(&token, f->rsa);
    assert_refused(f, &token, "extensions");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_of_the_provider_names_the_user),
        cmocka_unit_test(several_audiences_are_good_if_this_client_is_the_party),
        cmocka_unit_test(a_token_without_a_signature_is_refused),
        cmocka_unit_test(a_public_key_is_no_shared_secret),
        cmocka_unit_test(a_key_of_another_kind_is_not_used),
        cmocka_unit_test(another_key_or_another_text_is_refused),
        cmocka_unit_test(claims_that_do_not_hold_are_refused),
        cmocka_unit_test(text_that_is_no_token_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
