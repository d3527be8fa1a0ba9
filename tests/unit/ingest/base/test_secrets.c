// SPDX-License-Identifier: Apache-2.0
// Secrets: what is found, what is left alone, and that all sieves agree. All of them are generated
// here, so that no file contains one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ingest/base/secret_anchors.h"
#include "ingest/base/secrets.h"

#define ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// Replaces %s: some characters from a set.
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
    {"https:\\/\\/hooks.slack.com\\/services\\/T01\\/B01\\/%s", ALNUM, 24, SECRET_WEBHOOK},
    {"{\"url\": \"https://x.blob.core.windows.net/c?sv=1\\u0026sig\\u003d%s\"}", ALNUM, 44,
     SECRET_AZURE_SAS},
    {"https://api.telegram.org/bot123456789:AA%s/sendMessage", ALNUM "-_", 33, SECRET_TELEGRAM},
    {"curl -H 'Cookie: a=b; sid=%s' x", ALNUM, 20, SECRET_COOKIE},
    {"{\"Cookie\": \"sid=%s; a=b\"}", ALNUM, 20, SECRET_COOKIE},
    {"{\"cmd\": \"sshpass -p '%s' ssh jane@host\", \"x\": 1}", ALNUM " ", 9, SECRET_NAMED},
    {"[\"/usr/bin/sshpass\", \"-p\", \"%s\", \"ssh\"]", ALNUM, 9, SECRET_NAMED},
    {"['curl', '-s', '--user', 'jane:%s', 'https://host']", ALNUM, 9, SECRET_NAMED},
    {"curl -H \\\"a: b\\\" -u \\\"jane:%s\\\" https://host", ALNUM, 9, SECRET_NAMED},
    {"curl https://host --proxy-user=jane:%s", ALNUM, 9, SECRET_NAMED},
    {"curl -ujane:%s https://host", ALNUM, 9, SECRET_NAMED},
    {"mysqldump --port=3306 -p%s db", ALNUM, 9, SECRET_NAMED},
    {"machine host\n  login jane\n\tpassword %s\n", ALNUM, 9, SECRET_NAMED},
    {"\"machine host\\nlogin jane\\npassword %s\\nmachine\"", ALNUM, 9, SECRET_NAMED},
    {"default login jane password %s", ALNUM, 9, SECRET_NAMED},
    {"Server=db;Uid=me;Pwd=%s", ALNUM, 9, SECRET_NAMED},
    {"{\"MYSQL_PWD\": \"%s\"}", ALNUM, 9, SECRET_NAMED},
    {"user=me pass=7%s", ALNUM, 9, SECRET_NAMED},
    {"{\"auths\": {\"host\": {\"auth\": \"%s\"}}}", ALNUM, 24, SECRET_NAMED},
    {"//registry/:_auth=%s", ALNUM, 24, SECRET_NAMED},
    {"REDISCLI_AUTH=%s", ALNUM, 12, SECRET_NAMED},
    {"get(url, auth=('jane', '%s'))", ALNUM, 9, SECRET_NAMED},
};

#define SAMPLES (sizeof samples / sizeof *samples)

// Starts with a character of each class in the set, so that the value cannot look plain.
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

// --- the table of SECURITY.md --------------------------------------------------------------------

struct table_form {
    struct buf text, body; // the form filled in, and its longest secret part
};

static const char *set_of(struct str word)
{
    return str_equal(word, STR("hex"))    ? "0123456789abcdef"
           : str_equal(word, STR("caps")) ? "ABCDEFGHIJKLMNOP234567"
                                          : ALNUM;
}

// <34>, <hex 32>: adds that many characters and returns what follows.
static const char *fill_hole(const char *at, unsigned seed, struct table_form *form)
{
    const char *close = strchr(at, '>');
    const char *space = memchr(at, ' ', (size_t)(close - at));
    long len = strtol(space ? space + 1 : at + 1, NULL, 10);
    char body[512];
    struct sample sample = {
        .set = set_of((struct str){at + 1, space ? (size_t)(space - at - 1) : 0}), .len = (int)len};
    assert_in_range(sample.len, 1, sizeof body - 1);
    invent(&sample, seed, body);
    buf_puts(&form->text, body);
    if ((size_t)sample.len > form->body.len) {
        buf_clear(&form->body);
        buf_puts(&form->body, body);
    }
    return close + 1;
}

static void fill_form(struct str pattern, unsigned seed, struct table_form *form)
{
    const char *at = pattern.at, *end = pattern.at + pattern.len;
    buf_clear(&form->text);
    buf_clear(&form->body);
    while (at < end) {
        if (*at == '<')
            at = fill_hole(at, seed++, form);
        else
            buf_putc(&form->text, *at++);
    }
    buf_putc(&form->text, '\0');
    form->text.len--;
}

static void check_form(struct str pattern, enum secret_kind kind)
{
    struct table_form form = {0};
    struct buf clean = {0};
    for (unsigned seed = 1; seed < 40; seed++) {
        uint64_t counts[SECRET_KINDS] = {0};
        fill_form(pattern, seed, &form);
        buf_clear(&clean);
        size_t count = secrets_redact(str_of_buf(&form.text), counts, &clean);
        if (count != 1 || counts[kind] != 1 || strstr(clean.at, form.body.at))
            fail_msg("%s, a secret of the kind %s, became %s", form.text.at, secret_word(kind),
                     clean.at);
    }
    buf_free(&form.text);
    buf_free(&form.body);
    buf_free(&clean);
}

static enum secret_kind kind_of_row(struct str word)
{
    for (int kind = 0; kind < SECRET_KINDS; kind++)
        if (str_equal(word, str_of(secret_word((enum secret_kind)kind))))
            return (enum secret_kind)kind;
    fail_msg("SECURITY.md has a kind of secret that is not known: %.*s", (int)word.len, word.at);
    return SECRET_KINDS;
}

// The text between the next two backticks of a line; false if there is none.
static bool next_code(const char **at, struct str *code)
{
    const char *begin = strchr(*at, '`');
    const char *end = begin ? strchr(begin + 1, '`') : NULL;
    if (!end)
        return false;
    *code = (struct str){begin + 1, (size_t)(end - begin - 1)};
    *at = end + 1;
    return true;
}

static void the_table_of_security_md_is_what_is_found(void **state)
{
    (void)state;
    FILE *file = fopen("SECURITY.md", "r");
    assert_non_null(file);
    char line[4096];
    bool in_table = false, has_row[SECRET_KINDS] = {0};
    while (fgets(line, sizeof line, file)) {
        in_table = in_table ? line[0] == '|' : strncmp(line, "| kind ", 7) == 0;
        const char *at = line;
        struct str code;
        if (!in_table || !next_code(&at, &code))
            continue;
        enum secret_kind kind = kind_of_row(code);
        while (next_code(&at, &code)) {
            check_form(code, kind);
            has_row[kind] = true;
        }
    }
    fclose(file);
    for (int kind = 0; kind < SECRET_KINDS; kind++)
        if (!has_row[kind])
            fail_msg("SECURITY.md lacks the row of %s", secret_word((enum secret_kind)kind));
}

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
    "void at::native::vectorized_elementwise_kernel<4, at::native::sigmoid_kernel_cuda>",
    "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI16x16x16x1_SN_K1_SK3_SKa0123456789abcdef",
    "flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>, mask_test_0123456789>",
    "triton_poi_fused__to_copy_add_mul_pow_sk0123456789abcdef0123456789abcdef_3",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "NCCL_DEBUG=INFO NCCL_IB_HCA=mlx5_0:1,mlx5_1:1 NCCL_SOCKET_IFNAME=eth0 NCCL_ALGO=Ring",
    "NCCL_NET_PLUGIN=/opt/lib.so NCCL_IB_GID_INDEX=3 UCX_TLS=rc,cuda NCCL_NVLS_ENABLE=0",
    "PWD=/srv/train OLDPWD=/srv HOME=/srv/x PATH=/usr/bin:/bin LD_LIBRARY_PATH=/usr/lib",
    "{\"PWD\": \"/srv/jane/x\", \"pwd\": \"~/x\", \"OLDPWD\": \"/tmp\"}",
    "if pwd:\n    with open(x) as f: user_pass = mgr.find_user; user_pass = split(a5b6c7d8)",
    "PWD=C:\\work pwd=$(pwd) pwd=os.getcwd() pwd = cwd",
    "pass=1 num_pass=3 forward_pass=True backward_pass: 7 passes=12 pass=forward compass=n1",
    "{\"result\": \"PASS\", \"name\": \"value8value\"} PASS: test_0123 PASS=12 bypass=a1b2c3d4",
    "{\"auth\": null, \"x\": {\"auth\": {\"kind\": 1}}} auth=True auth=basic auth=oauth2 "
    "author=jane5x77",
    "requests.get(url, auth=HTTPBasicAuth(user, word)) auth=self.auth auth_type=x509abcdef",
    "cookie: yes cookies=3 cookie_policy=strict {\"cookie\": true} http.cookiejar",
    "curl -u $USER:$PASS https://host; curl -fsSL https://a:1/x; mysql -u root -p; mysql -p -h "
    "x",
    "curl https://host/user -o x:y; libcurl -u a:b; import mysql.connector -p",
    "sshpass -e ssh host; sshpass -f file ssh; {\"a\": \"sshpass\", \"b\": \"-p\"}",
    "the machine has a login and a password for it; login and password",
    "config=0123456789abcdef0123456789abcdef0123456789abcdef design=%2f sig=12 sigma=1",
    "msg.format msg.SG.x SG.py dapi dapi_v1 dop_v1 adapter api_server",
    "12:34:56 ts:AA 123456:AAAA 1234567890:AA:BB:CC ratio 1:1",
    "https://hooks.slack.com/services https://hooks.slack.com/services/... https://slack.com/x",
    "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py(1739): _wrapped_call_impl",
    "torch/_inductor/fx_passes/post_grad.py(112): post_grad_passes; pass_manager.py(7): "
    "__call__",
    "def f(self, *, pwd: str, auth: tuple = None, cookie=None): pass",
    "SLURM_JOB_ID=12 RANK=0 WORLD_SIZE=8 MASTER_ADDR=10.0.0.1 MASTER_PORT=29500 CUDA_PASS=0",
    "NUM_TOKENS=128,num_warps=4 MAX_TOKEN=64,x=1",
    "SK0123456789abcdef SK_0123456789abcdef0123456789abcdef",
};

static void what_is_no_secret_stays_as_it_is(void **state)
{
    (void)state;
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

// Each name has the rest of the text as its value, which is not a secret.
static void a_text_of_names_takes_no_longer_than_others(void **state)
{
    (void)state;
    enum { BYTES = 1 << 17, MOST_S = 60 }; // CPU seconds with sanitizers; it takes 1 without
    static const char *const names[] = {
        "auth=", "tokens=", "Cookie:", "pwd=/", "PASSWORD=$(A\\", "{\"api_tokens\":\"x"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct buf text = {0}, clean = {0};
        clock_t since = clock();
        while (text.len < BYTES)
            buf_puts(&text, names[i]);
        secrets_redact(str_of_buf(&text), NULL, &clean);
        double seconds = (double)(clock() - since) / CLOCKS_PER_SEC;
        if (seconds > (double)MOST_S)
            fail_msg("%s took %.1f s", names[i], seconds);
        buf_free(&text);
        buf_free(&clean);
    }
}

static void a_long_value_of_a_sure_name_goes_whole(void **state)
{
    (void)state;
    struct buf text = {0}, clean = {0};
    buf_puts(&text, "a PASSWORD=");
    for (int i = 0; i < 5000; i++)
        buf_puts(&text, "a1B2c");
    buf_puts(&text, " b");
    assert_int_equal(secrets_redact(str_of_buf(&text), NULL, &clean), 1);
    assert_string_equal(clean.at, "a PASSWORD=[redacted:named] b");
    buf_free(&text);
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

static const char *const anchors[] = {
    "://", "AKI", "ASI", "BIA", "api", ":AA", "A3T", "ghp", "gho",  "ghr", "glp", "dck",
    "dop", "doo", "dor", "CCA", "npm", "SG.", "SK0", "SKf", ":\\/", "hf_", "sk-", "xox",
    "ss_", "hub", "eyJ", "k_l", "k_t", "ghu", "ghs", "vap", "AIz",  "pyp", "whs"};
static const char *const any_case[] = {"-be", "adb",  "aws", "bea", "ecr", "ede",
                                       "ig=", "ig\\", "key", "oki", "pas", "pwd",
                                       "shp", "ssw",  "tok", "url", "uth", "ysq"};

static size_t next_avx2(struct str text, size_t from)
{
    return secret_anchor_wide_avx2(text, &from) ? from : secret_anchor_next_scalar(text, from);
}

// An anchor at one place in a text that ends at the end of readable memory, sometimes in capitals.
static void check_anchor(const char *anchor, bool any, size_t at, size_t len)
{
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '.', len);
    for (size_t i = 0; i < 3; i++) {
        char c = anchor[i];
        text[at + i] = any && at % 2 && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    struct str here = {text, len};
    assert_int_equal(secret_anchor_next(here, 0), at);
    assert_int_equal(secret_anchor_next(here, at + 1), len);
    free(text);
}

static void find_at_every_place(const char *anchor, bool any)
{
    for (size_t len = 3; len < 200; len++)
        for (size_t at = 0; at + 3 <= len; at += 1 + len / 40)
            check_anchor(anchor, any, at, len);
}

static void anchors_are_found_at_every_place(void **state)
{
    (void)state;
    for (size_t a = 0; a < sizeof anchors / sizeof *anchors; a++)
        find_at_every_place(anchors[a], false);
    for (size_t a = 0; a < sizeof any_case / sizeof *any_case; a++)
        find_at_every_place(any_case[a], true);
}

static void all_ways_to_look_for_anchors_agree(void **state)
{
    (void)state;
    enum { SIZE = 1 << 18 };
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
        cmocka_unit_test(the_table_of_security_md_is_what_is_found),
        cmocka_unit_test(what_is_no_secret_stays_as_it_is),
        cmocka_unit_test(a_text_of_names_takes_no_longer_than_others),
        cmocka_unit_test(a_long_value_of_a_sure_name_goes_whole),
        cmocka_unit_test(several_secrets_go_and_the_rest_stays),
        cmocka_unit_test(names_tell_of_values),
        cmocka_unit_test(anchors_are_found_at_every_place),
        cmocka_unit_test(all_ways_to_look_for_anchors_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
