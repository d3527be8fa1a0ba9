// SPDX-License-Identifier: Apache-2.0
// Fields of a name as JSON.
#include "analysis/kernel_names/kernel_json.h"

#include <assert.h>

enum { FIELDS_MAX = 24 };

struct writer {
    struct buf *out;
    const struct kernel_decoded *decoded;
    const char *unsure[FIELDS_MAX]; // keys of what was written and may be wrong
    size_t unsure_count;
};

static void put_key(struct writer *writer, const char *key, enum kernel_doubt doubt)
{
    buf_printf(writer->out, ",\"%s\":", key);
    if (!(writer->decoded->doubts & doubt))
        return;
    assert(writer->unsure_count < FIELDS_MAX);
    writer->unsure[writer->unsure_count++] = key;
}

static void put_text(struct writer *writer, const char *key, const char *text,
                     enum kernel_doubt doubt)
{
    if (!text || !*text)
        return;
    put_key(writer, key, doubt);
    buf_json(writer->out, str_of(text));
}

static void put_count(struct writer *writer, const char *key, int32_t count)
{
    if (!count)
        return;
    put_key(writer, key, DOUBT_REST);
    buf_printf(writer->out, "%d", (int)count);
}

// The sizes up to the first that is unsaid.
static void put_sizes(struct writer *writer, const char *key, const int32_t *sizes, size_t count,
                      enum kernel_doubt doubt)
{
    if (!sizes[0])
        return;
    put_key(writer, key, doubt);
    buf_putc(writer->out, '[');
    for (size_t i = 0; i < count && sizes[i]; i++)
        buf_printf(writer->out, i ? ",%d" : "%d", (int)sizes[i]);
    buf_putc(writer->out, ']');
}

static void put_ops(struct writer *writer)
{
    const struct kernel_decoded *decoded = writer->decoded;
    if (!decoded->op_count)
        return;
    put_key(writer, "ops", DOUBT_OPS);
    for (uint32_t i = 0; i < decoded->op_count; i++) {
        buf_putc(writer->out, i ? ',' : '[');
        buf_json(writer->out, decoded->ops[i]);
    }
    buf_putc(writer->out, ']');
}

static void put_flags(struct writer *writer)
{
    const char *before = "";
    bool any = writer->decoded->flags[0] || writer->decoded->flags[1];
    put_key(writer, "flags", any ? DOUBT_FLAGS : 0);
    buf_putc(writer->out, '[');
    for (enum kernel_flag flag = FLAG_NONE + 1; flag < FLAG_COUNT; flag++)
        if (kernel_has_flag(writer->decoded, flag)) {
            buf_printf(writer->out, "%s\"%s\"", before, kernel_flag_word(flag));
            before = ",";
        }
    buf_putc(writer->out, ']');
}

static void put_doubts(struct writer *writer)
{
    bool says_nothing = !writer->decoded->library && !writer->decoded->op;
    bool is_sure = !writer->unsure_count && !says_nothing;
    buf_printf(writer->out, ",\"sure\":%s", is_sure ? "true" : "false");
    for (size_t i = 0; i < writer->unsure_count; i++)
        buf_printf(writer->out, i ? ",\"%s\"" : ",\"unsure\":[\"%s\"", writer->unsure[i]);
    buf_puts(writer->out, writer->unsure_count ? "]" : "");
}

static void put_types(struct writer *writer)
{
    const struct kernel_decoded *decoded = writer->decoded;
    put_text(writer, "dtype", kernel_type_word(decoded->dtype), DOUBT_DTYPE);
    put_text(writer, "dtype_b", kernel_type_word(decoded->dtype_b), DOUBT_TYPES);
    put_text(writer, "dtype_out", kernel_type_word(decoded->dtype_out), DOUBT_TYPES);
    put_text(writer, "dtype_acc", kernel_type_word(decoded->dtype_acc), DOUBT_TYPES);
}

static void put_shape(struct writer *writer)
{
    const struct kernel_decoded *decoded = writer->decoded;
    put_text(writer, "arch", decoded->arch, DOUBT_REST);
    put_sizes(writer, "tile", decoded->tile, 3, DOUBT_TILE);
    put_count(writer, "stages", decoded->stages);
    put_sizes(writer, "cluster", decoded->cluster, 2, DOUBT_REST);
    put_text(writer, "layout", decoded->layout, DOUBT_REST);
    put_count(writer, "alignment", decoded->alignment);
    put_count(writer, "head_dim", decoded->head_dim);
    static const char *const causal[] = {NULL, "false", "true"};
    if (decoded->causal != KERNEL_CAUSAL_UNSAID) {
        put_key(writer, "causal", DOUBT_CAUSAL);
        buf_puts(writer->out, causal[decoded->causal]);
    }
}

void kernel_json(struct str name, const struct kernel_decoded *decoded, struct buf *out)
{
    struct writer writer = {.out = out, .decoded = decoded};
    buf_puts(out, "{\"name\":");
    buf_json(out, name);
    put_text(&writer, "library", kernel_library_word(decoded->library), DOUBT_LIBRARY);
    put_text(&writer, "op", kernel_op_word(decoded->op), DOUBT_OP);
    put_text(&writer, "func", kernel_func_word(decoded->func), DOUBT_FUNC);
    put_types(&writer);
    put_shape(&writer);
    put_text(&writer, "algo", kernel_algo_word(decoded), DOUBT_REST);
    put_text(&writer, "proto", kernel_proto_word(decoded), DOUBT_REST);
    put_count(&writer, "vec", decoded->vec);
    put_count(&writer, "shape_n", decoded->shape_n);
    put_count(&writer, "shape_k", decoded->shape_k);
    put_ops(&writer);
    put_flags(&writer);
    buf_puts(out, ",\"short\":");
    buf_json(out, str_of(decoded->label));
    put_doubts(&writer);
    buf_putc(out, '}');
}
