// SPDX-License-Identifier: Apache-2.0
// Secrets: what is found, what is left alone, and that all sieves agree. All of them are made up
// here, so that none stands in a file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/secret_anchors.h"
#include "ingest/base/secrets.h"

#define ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// Takes the place of %s: so many characters of a set.
struct sample {
    const char *format;
    const char *set;
    int len;
    enum secret_kind kind;
};

static const struct sample samples[] = {
    {"hf_%s", ALNUM, 34, SECRET_HUGGING_FACE},
    {"say \"hf_%s\" twice", ALNUM, 37, SECRET_HUGGING_FACE},
    {"\\nhf_%s\\n", ALNUM, 34, SECRET_HUGGING_FACE},
    {"AKIA%s", "ABCDEFGHIJKLMNOP234567", 16, SECRET_AWS_KEY_ID},
    {"(ASIA%s)", "ABCDEFGHIJKLMNOP234567", 16, SECRET_AWS_KEY_ID},
    {"key\\nACCA%s", "ABCDEFGHIJKLMNOP234567", 16, SECRET_AWS_KEY_ID},
    {"A3TX%s", "ABCDEFGHIJKLMNOP234567", 16, SECRET_AWS_KEY_ID},
    {"aws %sQz9", ALNUM "/+", 37, SECRET_AWS_SECRET},
    {"AWS is here: '%sQz9'", ALNUM "/+", 37, SECRET_AWS_SECRET},
    {"ghp_%s", ALNUM, 36, SECRET_GITHUB},
    {"x ghs_%s y", ALNUM, 36, SECRET_GITHUB},
    {"github_pat_%s", ALNUM "_", 82, SECRET_GITHUB},
    {"glpat-%s", ALNUM "-_", 20, SECRET_GITLAB},
    {"sk-ant-api03-%s", ALNUM "-_", 95, SECRET_ANTHROPIC},
    {"sk-%s", ALNUM, 48, SECRET_OPENAI},
    {"sk-proj-%s", ALNUM "-_", 100, SECRET_OPENAI},
    {"nvapi-%s", ALNUM "-_", 64, SECRET_NVIDIA},
    {"xoxb-%s", "0123456789-", 40, SECRET_SLACK},
    {"xoxp-1-%s", ALNUM "-", 40, SECRET_SLACK},
    {"AIza%s", ALNUM "-_", 35, SECRET_GOOGLE},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.%s", ALNUM "-_", 43, SECRET_JWT},
    {"-----BEGIN RSA PRIVATE KEY-----\n%s\n-----END RSA PRIVATE KEY-----", ALNUM "+/", 400,
     SECRET_PRIVATE_KEY},
    {"-----BEGIN OPENSSH PRIVATE KEY-----\\n%s", ALNUM "+/", 300, SECRET_PRIVATE_KEY},
    {"https://jane:%s@host/path", ALNUM, 9, SECRET_URL_PASSWORD},
    {"postgres:\\/\\/jane:%s@host", ALNUM, 9, SECRET_URL_PASSWORD},
    {"git clone https://%s@host/x.git", ALNUM, 30, SECRET_URL_PASSWORD},
    {"Authorization: Bearer %s", ALNUM "-._~", 30, SECRET_AUTHORIZATION},
    {"{\"authorization\": \"Basic %s\"}", ALNUM "=", 24, SECRET_AUTHORIZATION},
    {"-H 'Authorization: token %s'", ALNUM, 12, SECRET_AUTHORIZATION},
    {"bearer %s", ALNUM, 30, SECRET_AUTHORIZATION},
    {"HF_TOKEN=%s", ALNUM, 8, SECRET_NAMED},
    {"docker run -e MY_SECRET=%s image", ALNUM "!#;", 8, SECRET_NAMED},
    {"{\"WANDB_API_KEY\": \"%s\"}", "0123456789abcdef", 40, SECRET_NAMED},
    {"{\\\"DB_PASSWORD\\\": \\\"%s\\\"}", ALNUM " ", 11, SECRET_NAMED},
    {"{\\\\\\\"DB_PASSWORD\\\\\\\": \\\\\\\"%s\\\\\\\"}", ALNUM, 11, SECRET_NAMED},
    {"{'AWS_SECRET_ACCESS_KEY': '%s'}", ALNUM "/+", 40, SECRET_AWS_SECRET},
    {"[\"--api-key\", \"%s\"]", ALNUM, 10, SECRET_NAMED},
    {"train.py --password %s --steps 3", ALNUM "!", 10, SECRET_NAMED},
    {"train.py --hub-token=%s", ALNUM, 10, SECRET_NAMED},
    {"{\"name\": \"MY_TOKEN\", \"value\": \"%s\"}", ALNUM, 10, SECRET_NAMED},
    {"(\"MY_CREDENTIALS\", \"%s\")", ALNUM, 10, SECRET_NAMED},
    {"Config(token='%s', n=1)", ALNUM, 10, SECRET_NAMED},
    {"password: %s", ALNUM, 7, SECRET_NAMED},
    {"PASSWD=%s", "123456789", 6, SECRET_NAMED},
    {"GET /x?token=%s&a=b", ALNUM, 10, SECRET_NAMED},
    {"accessToken=%s", ALNUM, 10, SECRET_NAMED},
    {"X-Api-Key: %s", ALNUM, 10, SECRET_NAMED},
    {"API_KEY\\u003d%s", ALNUM, 10, SECRET_NAMED},
    {"client_secret=b'%s'", ALNUM, 10, SECRET_NAMED},
    {"ss_%s", ALNUM, 43, SECRET_STEPSCOPE},
    {"npm_%s", ALNUM, 36, SECRET_PACKAGES},
};

#define SAMPLES (sizeof samples / sizeof *samples)

// Begins with a letter of each class that the set has, so that the value has no plain look.
static void invent(const struct sample *sample, unsigned seed, char *body)
{
    size_t count = strlen(sample->set);
    uint64_t state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int i = 0; i < sample->len; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        body[i] = sample->set[(state >> 33) % count];
    }
    for (int i = 0; i < sample->len && (i == 0 || i + 1 == sample->len); i++)
        body[i] = sample->set[seed % (count < 10 ? count : 10)];
    body[sample->len] = '\0';
}

static void fill(const char *format, const char *body, struct buf *out)
{
    const char *hole = strstr(format, "%s");
    buf_clear(out);
    buf_add(out, format, (size_t)(hole - format));
    buf_puts(out, body);
    buf_puts(out, hole + 2);
}

static struct str str_of_buf(const struct buf *buf)
{
    return (struct str){buf->at, buf->len};
}

static void secrets_of_every_kind_are_found_and_go(void **state)
{
    (void)state;
    struct buf text = {0}, clean = {0};
    for (size_t i = 0; i < SAMPLES; i++)
        for (unsigned seed = 1; seed < 40; seed++) {
            char body[512];
            uint64_t counts[SECRET_KINDS] = {0};
            invent(&samples[i], seed, body);
            fill(samples[i].format, body, &text);
            buf_clear(&clean);
            assert_int_equal(secrets_redact(str_of_buf(&text), counts, &clean), 1);
            if (counts[samples[i].kind] != 1 || strstr(clean.at, body))
                fail_msg("of %s came %s", text.at, clean.at);
        }
    buf_free(&text);
    buf_free(&clean);
}

static void what_is_no_secret_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const plain[] = {
        "",
        "hf_transformers",
        "void at::native::elementwise_kernel<128, 4, token_softmax>",
        "TOKENIZERS_PARALLELISM=false",
        "{\"max_new_tokens\": 4096, \"eos_token\": \"<|eot|>\", \"pad_token\": \"</s>\"}",
        "bos_token='<s>' token_type=absolute num_tokens=128 mask_token=[MASK]",
        "next_token=hello",
        "key=value key_padding_mask=True",
        "HF_TOKEN=${HF_TOKEN}",
        "HF_TOKEN=$HF_TOKEN",
        "{\"HF_TOKEN\": \"\", \"PASSWORD\": null, \"SECRET\": \"***\"}",
        "def login(token: str, password: str = None)",
        "https://github.com/pytorch/pytorch@main",
        "ssh://git@github.com/x",
        "mailto:a@b.c http://[::1]:80/@x",
        "sk-learn-is-a-name-of-a-thing-that-is-long",
        "task-0123456789abcdefghijklmnop",
        "eyJ.eyJ.x",
        "the bearer of this",
        "std::Secret::value",
        "aws 0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN PUBLIC KEY-----",
        "[redacted:named] HF_TOKEN=[redacted:named]",
        "autograd::engine::evaluate_function: AddmmBackward0",
    };
    struct buf clean = {0};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        buf_clear(&clean);
        size_t count = secrets_redact(str_of(plain[i]), NULL, &clean);
        if (count)
            fail_msg("of %s came %s", plain[i], clean.at);
        assert_int_equal(clean.len, strlen(plain[i]));
    }
    buf_free(&clean);
}

static void several_secrets_go_and_the_rest_stays(void **state)
{
    (void)state;
    static const struct {
        const char *text, *clean;
    } pairs[] = {
        {"a HF_TOKEN=abc b PASSWORD=def c",
         "a HF_TOKEN=[redacted:named] b PASSWORD=[redacted:named] c"},
        {"{\"password\": 123, \"x\": 1}", "{\"password\": \"[redacted:named]\", \"x\": 1}"},
        {"{\\\"password\\\": 12}", "{\\\"password\\\": \\\"[redacted:named]\\\"}"},
        {"{\"password\": \"a\\\"b\\\\\", \"x\": \"y\"}",
         "{\"password\": \"[redacted:named]\", \"x\": \"y\"}"},
        {"https://a:b@c https://d:e@f",
         "https://[redacted:url-password]@c https://[redacted:url-password]@f"},
        {"--token abc --secret=def", "--token [redacted:named] --secret=[redacted:named]"},
        {"{\"API_TOKEN\": [\"abc\"]}", "{\"API_TOKEN\": [\"[redacted:named]\"]}"},
    };
    struct buf clean = {0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        buf_clear(&clean);
        secrets_redact(str_of(pairs[i].text), NULL, &clean);
        assert_string_equal(clean.at, pairs[i].clean);
        struct buf again = {0};
        assert_int_equal(secrets_redact(str_of_buf(&clean), NULL, &again), 0);
        buf_free(&again);
    }
    buf_free(&clean);
}

static void names_tell_of_values(void **state)
{
    (void)state;
    assert_true(secrets_named(STR("HF_TOKEN"), STR("abc")));
    assert_true(secrets_named(STR("db.password"), STR("1234")));
    assert_true(secrets_named(STR("aws-access-key-id"), STR("abc")));
    assert_false(secrets_named(STR("tokens"), STR("1234")));
    assert_false(secrets_named(STR("next_token"), STR("word")));
    assert_false(secrets_named(STR("HF_TOKEN"), STR("")));
    assert_false(secrets_named(STR("model"), STR("abc")));
    struct buf out = {0};
    assert_int_equal(secrets_redact_value(STR("api_key"), STR("abc def"), &out), 1);
    assert_string_equal(out.at, "[redacted:named]");
    buf_clear(&out);
    assert_int_equal(secrets_redact_value(STR("note"), STR("TOKEN=xyz y"), &out), 1);
    assert_string_equal(out.at, "TOKEN=[redacted:named] y");
    buf_free(&out);
}

// --- the first sieve -----------------------------------------------------------------------------

static const char *const anchors[] = {"hf_", "aki", "asi", "abi", "cca",  "a3t", "ghp", "gho",
                                      "ghu", "ghs", "ghr", "hub", "lpa",  "sk-", "vap", "xox",
                                      "aiz", "eyj", "-be", "://", ":\\/", "uth", "bea", "tok",
                                      "ecr", "ssw", "key", "ede", "aws",  "ss_", "npm", "pyp"};

static size_t next_avx512(struct str text, size_t from)
{
    return secret_anchor_wide_avx512(text, &from) ? from : text.len;
}

static size_t next_avx2(struct str text, size_t from)
{
    return secret_anchor_wide_avx2(text, &from) ? from : secret_anchor_next_scalar(text, from);
}

// An anchor at one place of a text whose end is the end of what may be read, capitals now and then.
static void check_anchor(const char *anchor, size_t at, size_t len)
{
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '.', len);
    for (size_t i = 0; i < 3; i++) {
        char c = anchor[i];
        text[at + i] = at % 2 && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    struct str here = {text, len};
    assert_int_equal(secret_anchor_next(here, 0), at);
    assert_int_equal(secret_anchor_next(here, at + 1), len);
    free(text);
}

static void anchors_are_found_at_every_place(void **state)
{
    (void)state;
    for (size_t a = 0; a < sizeof anchors / sizeof *anchors; a++)
        for (size_t len = 3; len < 200; len++)
            for (size_t at = 0; at + 3 <= len; at += 1 + len / 40)
                check_anchor(anchors[a], at, len);
}

static void all_ways_to_look_for_anchors_agree(void **state)
{
    (void)state;
    enum { SIZE = 1 << 16 };
    static const char letters[] = "hf_akibcsglpuv-x:/\\tonEYJOWERz\xE2\x80.3 ";
    char *bytes = malloc(SIZE);
    assert_non_null(bytes);
    uint64_t random = 7;
    for (size_t i = 0; i < SIZE; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = letters[(random >> 40) % (sizeof letters - 1)];
    }
    struct str text = {bytes, SIZE};
    size_t found = 0;
    for (size_t at = 0; at < SIZE; at++) {
        size_t next = secret_anchor_next_scalar(text, at);
        if (secret_anchor_has_avx512())
            assert_int_equal(next_avx512(text, at), next);
        if (secret_anchor_has_avx2())
            assert_int_equal(next_avx2(text, at), next);
        at = next;
        found++;
    }
    assert_true(found > 100);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_of_every_kind_are_found_and_go),
        cmocka_unit_test(what_is_no_secret_stays_as_it_is),
        cmocka_unit_test(several_secrets_go_and_the_rest_stays),
        cmocka_unit_test(names_tell_of_values),
        cmocka_unit_test(anchors_are_found_at_every_place),
        cmocka_unit_test(all_ways_to_look_for_anchors_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
