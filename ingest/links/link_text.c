// SPDX-License-Identifier: Apache-2.0
#include "ingest/links/link_text.h"

#include "ingest/json/json_number.h"
#include "ingest/logs/log_text.h"

#include <math.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.len && is_blank(text.at[at]))
        at++;
    return at;
}

static bool is_host_byte(char c)
{
    return str_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || memchr("-._", c, 3);
}

void link_split(struct str line, struct link_words *words)
{
    *words = (struct link_words){0};
    for (size_t at = skip_blanks(line, 0), end; at < line.len; at = skip_blanks(line, end)) {
        for (end = at; end < line.len && !is_blank(line.at[end]);)
            end++;
        words->more = words->count == LINK_MOST_WORDS;
        if (words->more)
            return;
        words->at[words->count++] = (struct str){line.at + at, end - at};
    }
}

struct str link_after(struct str text, size_t from)
{
    size_t at = skip_blanks(text, from < text.len ? from : text.len);
    return (struct str){text.at + at, text.len - at};
}

// The length of "[1,0]<stdout>:" at that place; 0 if there is none.
static size_t tag_of_mpirun(struct str line, size_t from)
{
    enum { MOST = 256 };
    if (from == line.len || line.at[from] != '[')
        return 0;
    size_t rest = line.len - from < MOST ? line.len - from : MOST;
    struct str text = {line.at + from, rest};
    size_t at = str_find(text, STR("]<std")), end = at + sizeof "]<stdout>:" - 1;
    if (at == SIZE_MAX || end > text.len || text.at[end - 1] != ':' || text.at[end - 2] != '>')
        return 0;
    return str_find((struct str){text.at, at}, STR(" ")) == SIZE_MAX ? end : 0;
}

// The length of "Wed Mar 11 14:02:00 2026", which mpirun --timestamp-output puts before its tag, or
// "<stdout>:" if that is not asked for.
static size_t stamp_of_mpirun(struct str line, size_t from)
{
    static const char form[] = "aaa aaa 00 00:00:00 0000", ends[] = "<stdout>:";
    enum { LEN = sizeof form - 1, END = sizeof ends - 1 };
    if (line.len - from <= LEN)
        return 0;
    for (size_t i = 0; i < LEN; i++) {
        char c = line.at[from + i];
        bool fits = form[i] == 'a'   ? (c | 0x20) >= 'a' && (c | 0x20) <= 'z'
                    : form[i] == '0' ? str_is_digit(c) || (i == 8 && c == ' ')
                                     : c == form[i];
        if (!fits)
            return 0;
    }
    struct str rest = {line.at + from + LEN, line.len - from - LEN};
    if (str_starts_with(rest, str_of(ends)) || str_starts_with(rest, STR("<stderr>:")))
        return LEN + END;
    return tag_of_mpirun(line, from + LEN) ? LEN : 0;
}

// The length of "0: ".
static size_t tag_of_srun(struct str line, size_t from)
{
    enum { MOST_DIGITS = 9 };
    size_t end = str_digits_end(line, from), digits = end - from;
    bool colon = end < line.len && line.at[end] == ':';
    bool ends = end + 1 == line.len || (end + 1 < line.len && is_blank(line.at[end + 1]));
    return digits && digits <= MOST_DIGITS && colon && ends ? digits + 1 : 0;
}

// The length of a label in brackets that starts like that and ends with a blank.
static size_t tag_in(struct str line, size_t from, struct str start, const char *end)
{
    enum { MOST = 512 };
    struct str rest = {line.at + from, line.len - from < MOST ? line.len - from : MOST};
    if (!str_starts_with(rest, start))
        return 0;
    size_t at = str_find(rest, str_of(end));
    return at == SIZE_MAX ? 0 : at + strlen(end);
}

// "(head, rank=0, pid=3808) " and "(RayTrainWorker pid=4242, ip=10.0.0.1) "
static size_t tag_of_ray(struct str line, size_t from)
{
    size_t len = tag_in(line, from, STR("("), ") ");
    return len && str_find((struct str){line.at + from, len}, STR("pid=")) != SIZE_MAX ? len : 0;
}

// The length of "gpu-7.rack2: ", as pdsh and clush label lines, before what tests print: remarks
// and dashes, numbers, and titles far from the left.
static size_t tag_of_pdsh(struct str line, size_t from)
{
    enum { MOST = 128 };
    size_t end = from;
    bool letter = false, digit = false; // without digits it may be the name of a figure
    for (; end < line.len && end - from < MOST && is_host_byte(line.at[end]); end++) {
        digit = digit || str_is_digit(line.at[end]);
        letter = letter || !str_is_digit(line.at[end]);
    }
    if (!letter || !digit || end + 1 >= line.len || line.at[end] != ':' || line.at[end + 1] != ' ')
        return 0;
    size_t text = skip_blanks(line, end + 1);
    bool indented = text > end + 3;
    bool is = text == line.len || indented || memchr("#-", line.at[text], 2) ||
              str_is_digit(line.at[text]);
    return is ? end + 1 - from : 0;
}

static size_t tag_at(struct str line, size_t from)
{
    size_t len = tag_of_mpirun(line, from);
    if (!len)
        len = tag_of_srun(line, from);
    if (!len)
        len = tag_of_ray(line, from);
    if (!len)
        len = tag_of_pdsh(line, from);
    return len ? len : tag_in(line, from, STR("[pod/"), "] ");
}

// The length of a time and the blanks after it.
static size_t stamp_at(struct str line, size_t from)
{
    size_t len = stamp_of_mpirun(line, from);
    return len ? len : log_stamp_length((struct str){line.at + from, line.len - from});
}

struct str link_unprefixed(struct str line, struct str *tag)
{
    enum { MOST_PREFIXES = 4 };
    size_t from = 0, end = 0; // of the tag, and of all prefixes
    *tag = (struct str){line.at, 0};
    for (int i = 0; i < MOST_PREFIXES; i++) {
        size_t at = skip_blanks(line, end), len = tag_at(line, at);
        size_t stamp = len ? 0 : stamp_at(line, at);
        if (!len && !stamp)
            break;
        from = tag->len && end == (size_t)(tag->at + tag->len - line.at) ? from : at;
        end = at + len + stamp;
        if (len)
            *tag = (struct str){line.at + from, end - from};
    }
    return end ? (struct str){line.at + end, line.len - end} : line;
}

double link_number(struct str word)
{
    double number;
    return json_to_f64(word, &number) && number >= 0 ? number : NAN;
}

static int64_t whole_of_hex(struct str digits)
{
    int64_t number = 0;
    for (size_t i = 0; i < digits.len; i++) {
        char c = digits.at[i];
        int digit = str_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
        if (digits.len > 15 || digit < 0 || digit > 15)
            return -1;
        number = number * 16 + digit;
    }
    return digits.len ? number : -1;
}

int64_t link_whole(struct str word)
{
    int64_t number;
    if (str_starts_with(word, STR("0x")))
        return whole_of_hex((struct str){word.at + 2, word.len - 2});
    return json_to_i64(word, &number) && number >= 0 ? number : -1;
}

struct str link_test_name(struct str word)
{
    size_t from = word.len, end;
    while (from > 0 && word.at[from - 1] != '/')
        from--;
    struct str name = {word.at + from, word.len - from};
    end = str_find(name, STR("_perf"));
    if (end == SIZE_MAX || (end + 5 < name.len && name.at[end + 5] != '_'))
        return STR("");
    for (size_t i = 0; i < end; i++)
        if (!((name.at[i] >= 'a' && name.at[i] <= 'z') || name.at[i] == '_'))
            return STR("");
    return (struct str){name.at, end};
}

bool link_keep(struct evidence *evidence, struct str raw, struct str *kept, struct err *err)
{
    if (kept->at && str_equal(raw, *kept))
        return true;
    return evidence_text(evidence, raw, kept, err);
}

bool link_any_line(struct str head, const char *word, bool (*is)(struct str line))
{
    struct str tag;
    for (size_t at; (at = str_find(head, str_of(word))) != SIZE_MAX;) {
        const char *before = at ? memrchr(head.at, '\n', at) : NULL;
        const char *end = memchr(head.at + at, '\n', head.len - at);
        size_t from = before ? (size_t)(before + 1 - head.at) : 0;
        size_t to = end ? (size_t)(end - head.at) : head.len;
        if (is(link_unprefixed((struct str){head.at + from, to - from}, &tag)))
            return true;
        head = (struct str){head.at + to, head.len - to};
    }
    return false;
}
