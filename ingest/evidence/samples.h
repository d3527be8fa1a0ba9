// SPDX-License-Identifier: Apache-2.0
// What GPU monitors recorded: a series of samples per device and metric, in units that do not
// depend on the tool. A value that the tool did not have is missing, never 0.
#ifndef INGEST_EVIDENCE_SAMPLES_H
#define INGEST_EVIDENCE_SAMPLES_H

#include "ingest/base/arena.h"
#include "ingest/base/str.h"

#include <stdint.h>

// What a unit measures; sample_metric_dimension gives the dimension of a metric.
enum sample_dimension {
    SAMPLE_PERCENT,
    SAMPLE_BYTES,
    SAMPLE_WATTS,
    SAMPLE_JOULES,
    SAMPLE_CELSIUS,
    SAMPLE_MEGAHERTZ,
    SAMPLE_SECONDS,
    SAMPLE_BYTES_PER_S,
    SAMPLE_BITS,
    SAMPLE_COUNT,
    SAMPLE_DIMENSIONS
};

enum sample_metric {
    SAMPLE_UTILIZATION, // share of the time in which any kernel ran; not how full the GPU was
    SAMPLE_MEMORY_UTILIZATION, // share of the time in which memory was read or written
    SAMPLE_ENGINE_ACTIVITY,    // share of the cycles in which the engine was busy
    SAMPLE_SM_ACTIVITY,        // the same, mean of the SMs
    SAMPLE_SM_OCCUPANCY,       // resident warps of those possible
    SAMPLE_TENSOR_ACTIVITY,    // share of the cycles
    SAMPLE_DRAM_ACTIVITY,
    SAMPLE_FP64_ACTIVITY,
    SAMPLE_FP32_ACTIVITY,
    SAMPLE_FP16_ACTIVITY,
    SAMPLE_ENCODER_UTILIZATION,
    SAMPLE_DECODER_UTILIZATION,
    SAMPLE_JPEG_UTILIZATION,
    SAMPLE_OFA_UTILIZATION,
    SAMPLE_MEMORY_USED,
    SAMPLE_MEMORY_FREE,
    SAMPLE_MEMORY_TOTAL,
    SAMPLE_MEMORY_USED_SHARE, // of the total
    SAMPLE_BAR1_USED,
    SAMPLE_POWER, // mean of the last second or so, where the tool tells it apart
    SAMPLE_POWER_INSTANT,
    SAMPLE_POWER_LIMIT,
    SAMPLE_ENERGY,      // since the driver was loaded
    SAMPLE_TEMPERATURE, // of the GPU; at its edge if there are several
    SAMPLE_HOTSPOT_TEMPERATURE,
    SAMPLE_MEMORY_TEMPERATURE,
    SAMPLE_SM_CLOCK,
    SAMPLE_GRAPHICS_CLOCK,
    SAMPLE_MEMORY_CLOCK,
    SAMPLE_VIDEO_CLOCK,
    SAMPLE_SM_CLOCK_MAX,
    SAMPLE_GRAPHICS_CLOCK_MAX,
    SAMPLE_MEMORY_CLOCK_MAX,
    SAMPLE_THROTTLE_REASONS,       // bits of enum sample_throttle
    SAMPLE_POWER_VIOLATION,        // share of the time in which power limited the clocks
    SAMPLE_THERMAL_VIOLATION,      // the same for temperature
    SAMPLE_POWER_VIOLATION_TIME,   // the same as a sum since some start
    SAMPLE_THERMAL_VIOLATION_TIME, //
    SAMPLE_FAN,
    SAMPLE_PCIE_SENT, // by the GPU
    SAMPLE_PCIE_RECEIVED,
    SAMPLE_PCIE_TRAFFIC, // both ways
    SAMPLE_LINK_SENT,    // by the GPU over NVLink or XGMI
    SAMPLE_LINK_RECEIVED,
    SAMPLE_LINK_TRAFFIC, // both ways
    SAMPLE_PCIE_GENERATION,
    SAMPLE_PCIE_WIDTH, // lanes
    SAMPLE_PCIE_REPLAYS,
    SAMPLE_ECC_CORRECTED,
    SAMPLE_ECC_UNCORRECTED,
    SAMPLE_XID,               // of the last error
    SAMPLE_PERFORMANCE_STATE, // 0 is the fastest
    SAMPLE_METRICS
};

// Why clocks were throttled, as NVML numbers it.
enum sample_throttle {
    SAMPLE_THROTTLE_IDLE = 0x1,
    SAMPLE_THROTTLE_SETTING = 0x2, // the clocks that someone set
    SAMPLE_THROTTLE_POWER = 0x4,
    SAMPLE_THROTTLE_HARDWARE = 0x8, // any of the hardware's
    SAMPLE_THROTTLE_SYNC = 0x10,
    SAMPLE_THROTTLE_HEAT = 0x20,
    SAMPLE_THROTTLE_HARDWARE_HEAT = 0x40,
    SAMPLE_THROTTLE_POWER_BRAKE = 0x80,
    SAMPLE_THROTTLE_DISPLAY = 0x100,
};

// What times of samples are.
enum sample_clock {
    SAMPLE_NO_CLOCK,       // all are 0: the state at one unknown moment
    SAMPLE_CLOCK_RELATIVE, // from an unknown start
    SAMPLE_CLOCK_LOCAL,    // since 1970, in the time of an unknown zone; may go back in autumn
    SAMPLE_CLOCK_UTC,      // since 1970
};

struct sample {
    int64_t time_ns;
    double value; // finite
};

struct sample_series {
    uint32_t device; // index
    enum sample_metric metric;
    struct sample *at; // by time, after samples_settle
    size_t count, cap;
    uint64_t missing; // samples without a value
};

enum { SAMPLE_MOST_DEVICES = 16384, SAMPLE_MOST_LEFT_OUT = 64 };
#define SAMPLE_NO_DEVICE UINT32_MAX

// As far as the tool says who it is.
struct sample_identity {
    struct str host, uuid, bus_id, name; // "" unknown
    struct str part;                     // of the GPU: "GPU-I 0"; "" the whole
    int64_t index;                       // -1 unknown
};

struct sample_device {
    struct sample_identity is;
    uint32_t rows;                   // that were read of it, but for those that come again
    uint32_t failed_rows;            // of those: that it is lost or needs a reset
    uint32_t series[SAMPLE_METRICS]; // 1 + index; 0 none
};

// What a line says about a device; several may be of one.
struct sample_slot {
    uint64_t key;
    uint32_t device; // 1 + index; 0 free
};

// A column or name of the file.
struct sample_column {
    struct str name; // as the tool writes it; "" none
    double unit;     // factor from its numbers to the metric's unit
};

struct sample_set {
    enum sample_clock clock;
    int64_t
        period_ns; // assumed between samples, because the tool did not say; 0: times are its own
    struct sample_device *devices;
    size_t device_count, device_cap;
    struct sample_series *series;
    size_t series_count, series_cap;
    struct sample_slot *slots; // a hash table
    size_t slot_count, slots_used;
    struct sample_column columns[SAMPLE_METRICS]; // where each metric was first found
    struct str left_out[SAMPLE_MOST_LEFT_OUT];    // names of columns that are no metric
    size_t left_out_count;
    uint64_t left_out_more;  // beyond those
    uint64_t rows, bad_rows; // that could not be read
    uint64_t bad_pos;        // of the first of those
    uint64_t wide_rows;      // of those read: lists were put together again
    uint64_t lost_rows;      // of devices beyond SAMPLE_MOST_DEVICES
    uint64_t backward;       // samples that are earlier than the one before
    uint32_t joined_nodes;   // of which files were joined to this one; 0: it shows none
};

struct evidence;

void samples_free(struct sample_set *set, struct budget *budget);

// The device of that identity (texts are untrusted), which is added if it is new. *device is
// SAMPLE_NO_DEVICE if there are too many. ERR_LIMIT past the budget.
MUST_CHECK bool samples_device(struct evidence *evidence, const struct sample_identity *is,
                               uint32_t *device, struct err *err);

// Adds to the series of that device and metric; a value that is not finite is missing.
MUST_CHECK bool samples_add(struct evidence *evidence, uint32_t device, enum sample_metric metric,
                            struct sample sample, struct err *err);

// That a column of this name is left out.
MUST_CHECK bool samples_leave_out(struct evidence *evidence, struct str name, struct err *err);

// A row that could not be read.
void samples_bad_row(struct sample_set *set, uint64_t pos);

// Brings each series into the order of time, drops samples in UTC that come again, and gives back
// room that it does not need. To be called once after all samples.
void samples_settle(struct evidence *evidence);

// NULL: the device has none of that metric.
const struct sample_series *samples_of(const struct sample_set *set, uint32_t device,
                                       enum sample_metric metric);

enum sample_dimension sample_metric_dimension(enum sample_metric metric);

#endif
