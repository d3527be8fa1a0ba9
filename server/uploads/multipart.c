// SPDX-License-Identifier: Apache-2.0
// Finds delimiters with memmem in one buffer and returns the content between them without a copy.
#include "server/uploads/multipart.h"

#include <stdlib.h>

#define PADDING_MAX   ((size_t)64)                 // blanks after a delimiter
#define DELIMITER_MAX (4 + MULTIPART_BOUNDARY_MAX) // "\r\n--" and the boundary

enum state {
    PREAMBLE, // before the first delimiter
    CONTENT,  // in a part
    HEADERS,  // just after a delimiter that starts a part
    ENDED,    // after the last delimiter
};

struct multipart {
    struct multipart_source source;
    enum state state;
    bool source_ended;
    unsigned parts;
    size_t begin, end; // unread bytes of the buffer
    size_t delimiter_len;
    char delimiter[DELIMITER_MAX + 1];
    char buffer[MULTIPART_BUFFER_BYTES];
};

// --- boundary -----------------------------------------------------------------------------------

static struct str skip_blanks(struct str text)
{
    while (text.len && (text.at[0] == ' ' || text.at[0] == '\t'))
        text = (struct str){text.at + 1, text.len - 1};
    return text;
}

// One `; name=value` of a header from *rest; the value without quotes goes to value, cut at size.
// False at the end or if the text is not of that form.
static bool next_parameter(struct str *rest, struct str *name, char *value, size_t size)
{
    struct str text = skip_blanks(*rest);
    if (text.len == 0 || text.at[0] != ';')
        return false;
    while (text.len && text.at[0] == ';') // nothing may come between two of them
        text = skip_blanks((struct str){text.at + 1, text.len - 1});
    size_t equals = str_find(text, STR("="));
    if (equals == SIZE_MAX)
        return false;
    *name = (struct str){text.at, equals};
    size_t i = equals + 1, len = 0;
    bool quoted = i < text.len && text.at[i] == '"';
    for (i += quoted; i < text.len && (quoted ? text.at[i] != '"' : text.at[i] != ';'); i++) {
        // Only quotes and backslashes are escaped: old browsers send C:\dir\file unchanged.
        if (quoted && text.at[i] == '\\' && i + 1 < text.len &&
            (text.at[i + 1] == '"' || text.at[i + 1] == '\\'))
            i++;
        if (len + 1 < size)
            value[len++] = text.at[i];
    }
    if (quoted && i++ == text.len)
        return false;
    while (!quoted && len && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    value[len] = '\0';
    *rest = (struct str){text.at + i, text.len - i};
    return true;
}

static bool is_boundary(const char *text)
{
    static const char allowed[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "'()+_,-./:=? ";
    size_t len = strlen(text);
    return len > 0 && len <= MULTIPART_BOUNDARY_MAX && strspn(text, allowed) == len &&
           text[len - 1] != ' ';
}

bool multipart_boundary(struct str content_type, char boundary[MULTIPART_BOUNDARY_MAX + 1],
                        struct err *err)
{
    size_t end = str_find(content_type, STR(";"));
    end = end == SIZE_MAX ? content_type.len : end;
    struct str type = {content_type.at, end};
    while (type.len && type.at[type.len - 1] == ' ')
        type.len--;
    if (!str_equal_nocase(type, STR("multipart/form-data")))
        return err_set(err, ERR_USAGE, "found Content-Type '%.*s', expected multipart/form-data",
                       (int)(type.len < 80 ? type.len : 80), type.len ? type.at : "");
    struct str rest = {content_type.at + end, content_type.len - end};
    struct str name;
    char value[MULTIPART_BOUNDARY_MAX + 2];
    while (rest.len && next_parameter(&rest, &name, value, sizeof(value))) {
        if (!str_equal_nocase(name, STR("boundary")))
            continue;
        if (!is_boundary(value))
            break;
        memcpy(boundary, value, strlen(value) + 1);
        return true;
    }
    return err_set(err, ERR_USAGE, "found no boundary of 1 to %d characters in Content-Type",
                   MULTIPART_BOUNDARY_MAX);
}

// --- buffer -------------------------------------------------------------------------------------

struct multipart *multipart_open(const char *boundary, struct multipart_source source,
                                 struct err *err)
{
    struct multipart *m = malloc(sizeof(*m));
    if (!m) {
        err_set(err, ERR_MEMORY, "out of memory for an upload");
        return NULL;
    }
    m->source = source;
    m->state = PREAMBLE;
    m->source_ended = false;
    m->parts = 0;
    size_t len = strlen(boundary);
    memcpy(m->delimiter, "\r\n--", 4);
    memcpy(m->delimiter + 4, boundary, len + 1);
    m->delimiter_len = len + 4;
    // A delimiter may open the body; prepending a line end leaves only one form to find.
    memcpy(m->buffer, "\r\n", 2);
    m->begin = 0;
    m->end = 2;
    return m;
}

void multipart_close(struct multipart *multipart)
{
    free(multipart);
}

static bool format_error(struct err *err, const char *what)
{
    return err_set(err, ERR_FORMAT, "multipart body: %s", what);
}

// Appends at least one byte to the unread ones. Fails if the source ends.
static bool refill(struct multipart *m, struct err *err)
{
    memmove(m->buffer, m->buffer + m->begin, m->end - m->begin);
    m->end -= m->begin;
    m->begin = 0;
    size_t got = 0;
    if (m->source_ended)
        return format_error(err, "found its end, expected a closing delimiter");
    if (!m->source.read(m->source.ctx, m->buffer + m->end, sizeof(m->buffer) - m->end, &got, err))
        return false;
    m->end += got;
    m->source_ended = got == 0;
    return got > 0 || format_error(err, "found its end, expected a closing delimiter");
}

static struct str unread(const struct multipart *m)
{
    return (struct str){m->buffer + m->begin, m->end - m->begin};
}

enum match { NO_MATCH, PART_FOLLOWS, LAST, NEED_MORE };

// A delimiter may be followed by blanks, which gateways add (RFC 2046, 5.1.1).
static size_t count_blanks(struct str text)
{
    return text.len - skip_blanks(text).len;
}

// Classifies a found delimiter: it counts only if a line end or "--" follows.
static enum match classify(const struct multipart *m, size_t at)
{
    size_t behind = at + m->delimiter_len;
    struct str left = {m->buffer + behind, m->end > behind ? m->end - behind : 0};
    size_t blanks = count_blanks(left);
    if (blanks > PADDING_MAX)
        return NO_MATCH;
    if (left.len < blanks + 2)
        return NEED_MORE;
    if (memcmp(left.at, "--", 2) == 0)
        return LAST;
    return memcmp(left.at + blanks, "\r\n", 2) == 0 ? PART_FOLLOWS : NO_MATCH;
}

// Finds how many unread bytes are certainly content, and the kind of delimiter after them (NO_MATCH
// if none was seen yet).
static size_t scan(const struct multipart *m, enum match *match)
{
    for (size_t at = m->begin;; at++) {
        const char *hit = memmem(m->buffer + at, m->end - at, m->delimiter, m->delimiter_len);
        if (!hit)
            break;
        at = (size_t)(hit - m->buffer);
        *match = classify(m, at);
        if (*match != NO_MATCH)
            return at - m->begin;
    }
    *match = NO_MATCH;
    size_t len = m->end - m->begin;
    size_t tail = m->delimiter_len - 1; // may be the start of a delimiter
    return len > tail ? len - tail : 0;
}

static void pass_delimiter(struct multipart *m, enum match match)
{
    // The line end stays: with it, even an empty header ends in an empty line.
    m->begin += m->delimiter_len;
    m->begin += match == LAST ? 2 : count_blanks(unread(m));
    m->state = match == LAST ? ENDED : HEADERS;
}

// Content up to the next delimiter; empty only after a delimiter was passed.
static bool read_content(struct multipart *m, struct str *bytes, struct err *err)
{
    for (;;) {
        enum match match = NO_MATCH;
        size_t len = scan(m, &match);
        *bytes = (struct str){m->buffer + m->begin, len};
        m->begin += len;
        if (len)
            return true;
        if (match == PART_FOLLOWS || match == LAST) {
            pass_delimiter(m, match);
            return true;
        }
        if (!refill(m, err))
            return false;
    }
}

bool multipart_read(struct multipart *multipart, struct str *bytes, struct err *err)
{
    *bytes = (struct str){multipart->buffer, 0};
    return multipart->state != CONTENT || read_content(multipart, bytes, err);
}

// --- parts --------------------------------------------------------------------------------------

static bool skip_content(struct multipart *m, size_t limit, struct err *err)
{
    size_t skipped = 0;
    struct str bytes;
    do {
        if (!read_content(m, &bytes, err))
            return false;
        skipped += bytes.len;
        if (skipped > limit)
            return format_error(err, "found no delimiter near its start");
    } while (bytes.len);
    return true;
}

static void copy_text(char *to, size_t size, const char *from)
{
    size_t len = strlen(from);
    len = len < size ? len : size - 1;
    memcpy(to, from, len);
    to[len] = '\0';
}

static bool read_disposition(struct str value, struct multipart_part *part, struct err *err)
{
    size_t semicolon = str_find(value, STR(";"));
    struct str kind = {value.at, semicolon == SIZE_MAX ? value.len : semicolon};
    if (!str_equal_nocase(skip_blanks(kind), STR("form-data")) || semicolon == SIZE_MAX)
        return format_error(err, "found a part that is not form-data with a name");
    struct str rest = {value.at + semicolon, value.len - semicolon};
    struct str name;
    char text[MULTIPART_FILENAME_SIZE];
    bool named = false;
    while (next_parameter(&rest, &name, text, sizeof(text))) {
        if (str_equal_nocase(name, STR("name"))) {
            copy_text(part->name, sizeof(part->name), text);
            named = true;
        } else if (str_equal_nocase(name, STR("filename"))) {
            copy_text(part->filename, sizeof(part->filename), text);
            part->is_file = true;
        }
    }
    return named || format_error(err, "found a part without a name");
}

static bool read_header(struct str line, struct multipart_part *part, bool *named, struct err *err)
{
    size_t colon = str_find(line, STR(":"));
    if (colon == SIZE_MAX)
        return format_error(err, "found a header line without a colon");
    struct str name = {line.at, colon};
    struct str value = skip_blanks((struct str){line.at + colon + 1, line.len - colon - 1});
    if (str_equal_nocase(name, STR("Content-Disposition"))) {
        *named = true;
        return read_disposition(value, part, err);
    }
    if (str_equal_nocase(name, STR("Content-Transfer-Encoding")) &&
        !str_equal_nocase(value, STR("binary")) && !str_equal_nocase(value, STR("8bit")) &&
        !str_equal_nocase(value, STR("7bit")))
        return format_error(err, "found a Content-Transfer-Encoding, expected plain bytes");
    return true;
}

static bool read_headers(struct str block, struct multipart_part *part, struct err *err)
{
    *part = (struct multipart_part){0};
    bool named = false;
    if (memchr(block.at, '\0', block.len))
        return format_error(err, "found a NUL in the header of a part");
    while (block.len) {
        size_t end = str_find(block, STR("\r\n"));
        struct str line = {block.at, end == SIZE_MAX ? block.len : end};
        size_t used = end == SIZE_MAX ? block.len : end + 2;
        block = (struct str){block.at + used, block.len - used};
        if (line.len && !read_header(line, part, &named, err))
            return false;
    }
    return named || format_error(err, "found a part without Content-Disposition");
}

static bool begin_part(struct multipart *m, struct multipart_part *part, struct err *err)
{
    if (++m->parts > MULTIPART_MAX_PARTS)
        return err_set(err, ERR_LIMIT, "multipart body: found more than %d parts",
                       MULTIPART_MAX_PARTS);
    size_t end = 0;
    while ((end = str_find(unread(m), STR("\r\n\r\n"))) == SIZE_MAX) {
        if (m->end - m->begin >= MULTIPART_HEADER_BYTES + 4)
            break; // no line end of a header can follow within the limit
        if (!refill(m, err))
            return false;
    }
    if (end > MULTIPART_HEADER_BYTES)
        return format_error(err, "found a part's header of more than 8 KiB");
    if (!read_headers((struct str){m->buffer + m->begin, end}, part, err))
        return false;
    m->begin += end + 4;
    m->state = CONTENT;
    return true;
}

// Only the source knows whether everything arrived; a little text may follow the last delimiter.
static bool finish(struct multipart *m, struct err *err)
{
    size_t behind = m->end - m->begin;
    while (!m->source_ended && behind <= MULTIPART_MARGIN_BYTES) {
        size_t got = 0;
        if (!m->source.read(m->source.ctx, m->buffer, sizeof(m->buffer), &got, err))
            return false;
        behind += got;
        m->source_ended = got == 0;
    }
    m->begin = m->end = 0;
    return behind <= MULTIPART_MARGIN_BYTES ||
           format_error(err, "found more than 4 KiB after the last delimiter");
}

bool multipart_next(struct multipart *multipart, struct multipart_part *part, bool *found,
                    struct err *err)
{
    *found = false;
    if (multipart->state == PREAMBLE && !skip_content(multipart, MULTIPART_MARGIN_BYTES, err))
        return false;
    if (multipart->state == CONTENT && !skip_content(multipart, SIZE_MAX, err))
        return false;
    if (multipart->state == ENDED)
        return finish(multipart, err);
    *found = begin_part(multipart, part, err);
    return *found;
}
