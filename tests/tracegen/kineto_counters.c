// SPDX-License-Identifier: Apache-2.0
// Device counters as two tools write them: how busy the compute stream was in each sample.
#include "tests/tracegen/kineto_text.h"

#include "tests/tracegen/put.h"

enum { PERIOD_NS = 100000, BYTES_PER_NS = 2000 };

static char *put_counter(const struct kineto *kineto, char *p, const char *name, int64_t at_ns)
{
    bool cuda = kineto->machine->arguments->flavour == VENDOR_CUDA;
    p = put_text(put_text(p, kineto->layout->open), "\"ph\": \"C\", ");
    if (cuda)
        p = put_text(p, "\"cat\": \"hardware_counters\", ");
    p = put_text(put_text(p, "\"name\": \""), name);
    p = put_text(p, cuda ? "\", \"pid\": \"GPU " : "\", \"pid\": ");
    p = put_i64(p, kineto->device);
    p = put_text(p, cuda ? " Counters\", \"tid\": 0, \"ts\": " : ", \"ts\": ");
    p = put_us(p, at_ns + kineto->rank->clock_ns);
    *p++ = ',';
    return put_text(put_text(p, kineto->layout->args), cuda ? "\"\": " : "\"GPU Utilization\": ");
}

static void write_counter(struct kineto *kineto, const char *name, uint64_t millionths)
{
    char *p = outfile_reserve(kineto->out, KINETO_EVENT_BYTES);
    p = put_counter(kineto, p, name, kineto->sample_ns);
    p = put_millionths(p, millionths);
    p = put_text(put_text(p, kineto->layout->args_end), kineto->layout->close);
    outfile_commit(kineto->out, p);
}

// Kineto's PM sampling or, for AMD devices, which have none, TensorBoard's plugin.
static void write_sample(struct kineto *kineto)
{
    uint64_t busy_ns = (uint64_t)kineto->sample_busy_ns;
    char name[64];
    if (kineto->machine->arguments->flavour == VENDOR_CUDA) {
        write_counter(kineto, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
                      busy_ns * 100 * 1000000 / PERIOD_NS);
        write_counter(kineto, "dram__bytes_read.sum", busy_ns * BYTES_PER_NS * 1000000);
    } else {
        *put_text(put_i64(put_text(name, "GPU "), kineto->device), " Utilization") = '\0';
        write_counter(kineto, name, busy_ns * 1000000 / PERIOD_NS);
    }
    kineto->sample_ns += PERIOD_NS;
    kineto->sample_busy_ns = 0;
}

// Rows of one stream follow one another, also from step to step.
static void count_row(struct kineto *kineto, int64_t begin_ns, int64_t end_ns)
{
    if (kineto->sample_ns == 0)
        kineto->sample_ns = begin_ns;
    while (kineto->sample_ns + PERIOD_NS <= begin_ns)
        write_sample(kineto);
    while (kineto->sample_ns + PERIOD_NS <= end_ns) {
        kineto->sample_busy_ns += kineto->sample_ns + PERIOD_NS - begin_ns;
        begin_ns = kineto->sample_ns + PERIOD_NS;
        write_sample(kineto);
    }
    kineto->sample_busy_ns += end_ns - begin_ns;
}

void counters_step(struct kineto *kineto)
{
    const struct rank *rank = kineto->rank;
    for (size_t i = 0; i < rank->call_count; i++)
        if (rank->calls[i].work && rank->calls[i].work->stream == STREAM_COMPUTE)
            count_row(kineto, rank->calls[i].begin_ns, rank->calls[i].end_ns);
}
