// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocm_rows.h"

#include <inttypes.h>
#include <stdio.h>

static const char *word_of(struct str direction)
{
    if (str_ends_with(direction, STR("HOST_TO_DEVICE")))
        return "HtoD";
    if (str_ends_with(direction, STR("DEVICE_TO_HOST")))
        return "DtoH";
    return str_ends_with(direction, STR("DEVICE_TO_DEVICE")) ? "DtoD" : "other";
}

// A kernel's own; of a copy that of the default stream, 0 if it is not known.
static int64_t queue_of(struct rocm_rows *rows, const struct rocm_place *place)
{
    bool listed = place->stream == 0 && place->device >= 0 && place->device < ROCM_MOST_DEVICES;
    int64_t *of_default = listed ? &rows->default_queue[place->device] : NULL;
    if (place->direction.len && place->queue <= 0)
        return of_default && *of_default > 0 ? *of_default : 0;
    if (of_default)
        *of_default = *of_default == 0 || *of_default == place->queue ? place->queue : -1;
    return place->queue;
}

static bool name_copies(struct trace_builder *builder, struct str direction, str_id *name,
                        struct err *err)
{
    char text[32];
    snprintf(text, sizeof text, "copies %s", word_of(direction));
    return trace_builder_text(builder, str_of(text), ERR_NO_POS, name, err);
}

// Which is no stream of that number.
static bool name_queue(struct rocm_rows *rows, struct trace_builder *builder, int64_t queue,
                       str_id *name, struct err *err)
{
    char text[32];
    if (!rows->queue_name || rows->named_queue != queue) {
        snprintf(text, sizeof text, "queue %" PRId64, queue);
        if (!trace_builder_text(builder, str_of(text), ERR_NO_POS, &rows->queue_name, err))
            return false;
        rows->named_queue = queue;
    }
    *name = rows->queue_name;
    return true;
}

bool rocm_row_of(struct rocm_rows *rows, struct trace_builder *builder,
                 const struct rocm_place *place, struct label *row, struct err *err)
{
    int64_t queue = queue_of(rows, place);
    bool by_direction = place->direction.len && queue <= 0;
    *row = (struct label){place->stream > 0 ? place->stream : queue, 0};
    if (place->stream > 0 || (place->stream < 0 && !by_direction))
        return true;
    *row = (struct label){0};
    return by_direction ? name_copies(builder, place->direction, &row->text, err)
                        : name_queue(rows, builder, queue, &row->text, err);
}
