// SPDX-License-Identifier: Apache-2.0
// Reads tables of peaks strictly, and finds a device in them.
#include "analysis/names/peaks.h"

#include "analysis/names/gpu_name.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define GIB            ((int64_t)1 << 30)
#define MEMORY_PERCENT 5 // reserved by firmware, at most
#define MAX_FILE       ((size_t)1 << 20)
#define MAX_NUMBER     31 // characters

enum { DEVICE, MEMORY, FIRST_PEAK, TBPS = FIRST_PEAK + 8, SOURCE, COLUMNS };

static const char *const names[COLUMNS] = {"device", "memory_gib", "fp4",  "fp8",
                                           "int8",   "bf16",       "fp16", "tf32",
                                           "fp32",   "fp64",       "tbps", "source"};

static const enum precision precisions[TBPS - FIRST_PEAK] = {
    PRECISION_FP4,  PRECISION_FP8,  PRECISION_INT8, PRECISION_BF16,
    PRECISION_FP16, PRECISION_TF32, PRECISION_FP32, PRECISION_FP64};

// Cuts the text up to the separator off *rest; false if nothing is left.
static bool take_part(struct str *rest, char separator, struct str *part)
{
    if (!rest->at)
        return false;
    const char *found = rest->len ? memchr(rest->at, separator, rest->len) : NULL;
    *part = (struct str){rest->at, found ? (size_t)(found - rest->at) : rest->len};
    rest->len -= part->len + (found != NULL);
    rest->at = found ? found + 1 : NULL;
    return true;
}

static bool split(struct str line, struct str fields[COLUMNS], unsigned number, struct err *err)
{
    unsigned count = 0;
    struct str field;
    while (take_part(&line, '\t', &field)) {
        if (count < COLUMNS)
            fields[count] = field;
        count++;
    }
    return count == COLUMNS ||
           err_set(err, ERR_FORMAT, "line %u: expected %d columns separated by tabs, found %u",
                   number, COLUMNS, count);
}

static bool check_header(const struct str fields[COLUMNS], unsigned number, struct err *err)
{
    for (int i = 0; i < COLUMNS; i++)
        if (!str_equal(fields[i], str_of(names[i])))
            return err_set(err, ERR_FORMAT, "line %u: expected the column '%s', found '%.*s'",
                           number, names[i], (int)(fields[i].len < 40 ? fields[i].len : 40),
                           fields[i].at);
    return true;
}

// A positive decimal number, or "-" for 0.
static bool read_number(struct str field, double *value)
{
    char text[MAX_NUMBER + 1];
    *value = 0;
    if (str_equal(field, STR("-")))
        return true;
    if (field.len == 0 || field.len > MAX_NUMBER)
        return false;
    for (size_t i = 0; i < field.len; i++)
        if ((field.at[i] < '0' || field.at[i] > '9') && field.at[i] != '.')
            return false;
    memcpy(text, field.at, field.len);
    text[field.len] = '\0';
    char *end;
    *value = strtod(text, &end);
    return *end == '\0' && *value > 0 && isfinite(*value);
}

static bool bad_number(struct str field, int column, unsigned number, struct err *err)
{
    return err_set(err, ERR_FORMAT, "line %u: %s: expected a positive number or '-', found '%.*s'",
                   number, names[column], (int)(field.len < 40 ? field.len : 40), field.at);
}

static bool read_row(const struct str fields[COLUMNS], unsigned number, struct arena *arena,
                     struct peak *row, struct err *err)
{
    double value = 0;
    *row = (struct peak){.device = {arena_strdup(arena, fields[DEVICE], err), fields[DEVICE].len}};
    if (!row->device.at)
        return false;
    if (row->device.len == 0 || str_valid_utf8(row->device) != row->device.len)
        return err_set(err, ERR_FORMAT, "line %u: expected a device name", number);
    for (int c = MEMORY; c < SOURCE; c++) {
        if (!read_number(fields[c], &value) || (c == MEMORY && value != floor(value)))
            return bad_number(fields[c], c, number, err);
        if (c == MEMORY)
            row->memory_gib = value < 1e6 ? (int64_t)value : 0;
        else if (c == TBPS)
            row->tbps = value;
        else
            row->tflops[precisions[c - FIRST_PEAK]] = value;
    }
    return true;
}

static size_t count_lines(struct str text)
{
    size_t lines = 1;
    for (size_t i = 0; i < text.len; i++)
        lines += text.at[i] == '\n';
    return lines;
}

bool peaks_parse(struct str text, struct arena *arena, struct peaks *peaks, struct err *err)
{
    struct str line, fields[COLUMNS];
    bool header = false;
    *peaks =
        (struct peaks){.rows = arena_array(arena, count_lines(text), sizeof *peaks->rows, err)};
    if (!peaks->rows)
        return false;
    for (unsigned number = 1; take_part(&text, '\n', &line); number++) {
        if (line.len && line.at[line.len - 1] == '\r')
            line.len--;
        if (line.len == 0 || line.at[0] == '#')
            continue;
        if (!split(line, fields, number, err))
            return false;
        if (!header && !check_header(fields, number, err))
            return false;
        if (header && !read_row(fields, number, arena, &peaks->rows[peaks->count++], err))
            return false;
        header = true;
    }
    return header || err_set(err, ERR_FORMAT, "expected a header line with the column names");
}

static bool read_text(FILE *file, const char *path, struct arena *arena, struct str *text,
                      struct err *err)
{
    char *bytes = arena_alloc(arena, MAX_FILE + 1, err);
    if (!bytes)
        return false;
    *text = (struct str){bytes, fread(bytes, 1, MAX_FILE + 1, file)};
    if (ferror(file))
        return err_set_errno(err, "%s", path);
    return text->len <= MAX_FILE ||
           err_set(err, ERR_LIMIT, "%s: larger than the limit of 1 MiB for a table of peaks", path);
}

bool peaks_read(const char *path, struct arena *arena, struct peaks *peaks, struct err *err)
{
    struct str text;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return err_set_errno(err, "%s", path);
    bool ok = read_text(file, path, arena, &text, err);
    fclose(file);
    return ok && (peaks_parse(text, arena, peaks, err) || err_wrap(err, "%s", path));
}

// --- finding -------------------------------------------------------------------------------------

static struct str without_vendor(struct str name)
{
    struct str vendor = STR("NVIDIA ");
    if (!str_starts_with(name, vendor))
        return name;
    return (struct str){name.at + vendor.len, name.len - vendor.len};
}

static bool is_word_end(struct str name, size_t at)
{
    if (at >= name.len)
        return true;
    char c = name.at[at];
    return !(str_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));
}

// By what follows the name of the whole: "NVIDIA H100 80GB HBM3 MIG 1g.10gb".
static bool is_part(struct str rest)
{
    return str_find(rest, STR(" MIG ")) != SIZE_MAX ||
           str_find(rest, STR(GPU_NAME_PARTITION)) != SIZE_MAX;
}

static bool fits(const struct peak *row, struct str gpu, int64_t memory_bytes)
{
    struct str device = without_vendor(row->device);
    if (!str_starts_with(gpu, device) || !is_word_end(gpu, device.len) ||
        is_part((struct str){gpu.at + device.len, gpu.len - device.len}))
        return false;
    if (row->memory_gib == 0)
        return true;
    int64_t most = row->memory_gib * GIB;
    return memory_bytes <= most && memory_bytes >= most / 100 * (100 - MEMORY_PERCENT);
}

static bool has_figure(const struct peak *row)
{
    bool found = row->tbps > 0;
    for (size_t i = 0; i < PRECISION_COUNT; i++)
        found = found || row->tflops[i] > 0;
    return found;
}

const struct peak *peaks_find(const struct peaks *peaks, struct str gpu, int64_t memory_bytes)
{
    const struct peak *best = NULL;
    gpu = without_vendor(gpu);
    for (size_t i = 0; peaks && i < peaks->count; i++) {
        const struct peak *row = &peaks->rows[i];
        if (fits(row, gpu, memory_bytes) && (!best || row->device.len > best->device.len))
            best = row;
    }
    return best && has_figure(best) ? best : NULL;
}
