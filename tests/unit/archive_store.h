// SPDX-License-Identifier: Apache-2.0
// Archives in a store, and short ways to take them apart.
#ifndef TESTS_UNIT_ARCHIVE_STORE_H
#define TESTS_UNIT_ARCHIVE_STORE_H

#include "analysis/report/tables.h"
#include "server/store/store_inputs.h"
#include "tests/unit/store_fixture.h"

// An upload of one archive of 100 bytes whose content is named by a letter.
struct archive {
    const char *run;
    char content;
    bool replace;
    const char *role; // NULL none
};

static inline struct upload add_one_archive(struct fixture *f, const struct archive *archive)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, archive->content, STORE_NO_RANK, "job.tar");
    part.archive = STR("tar");
    part.role = str_of(archive->role ? archive->role : "");
    struct upload_request request = {
        .run = {.name = str_of(archive->run), .owner = STR("me"), .world_size = STORE_ANY},
        .parts = &part,
        .count = 1,
        .owner = STR("me"),
        .sent_bytes = 100,
        .replace = archive->replace};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    return upload;
}

static inline struct upload add_archive(struct fixture *f, const char *run, char content,
                                        bool replace)
{
    return add_one_archive(f, &(struct archive){run, content, replace, NULL});
}

// Takes jobs until one is an archive's.
static inline struct job claim_archive(struct fixture *f)
{
    struct job job;
    do
        job = claim(f);
    while (job.kind != JOB_UNPACK);
    return job;
}

static inline struct new_member member_of(char sha256[STORE_SHA256_SIZE], char content,
                                          int64_t position, const char *path)
{
    fill_sha256(sha256, content);
    return (struct new_member){.position = position,
                               .kind = INPUT_TRACE,
                               .filename = str_of(path),
                               .format = STR("kineto"),
                               .window = STR(""),
                               .sha256 = sha256,
                               .bytes = 50,
                               .secrets = -1,
                               .reason = STR("")};
}

// A trace and an attachment.
static inline void add_two_members(struct fixture *f, const struct job *job, const char *window)
{
    char shas[2][STORE_SHA256_SIZE];
    struct new_member members[2] = {member_of(shas[0], '1', 0, "rank0.json"),
                                    member_of(shas[1], '2', 1, "train.log")};
    members[0].window = str_of(window);
    members[1].kind = INPUT_ATTACHMENT;
    members[1].secrets = 0;
    assert_ok(f, store_add_members(f->store, job, members, 2, &f->err));
}

static inline struct new_member attachment_of(char sha256[STORE_SHA256_SIZE], char content,
                                              const char *reason)
{
    struct new_member member = member_of(sha256, content, 0, "");
    member.kind = INPUT_ATTACHMENT;
    member.format = STR("training-log");
    member.secrets = 0;
    member.reason = str_of(reason);
    return member;
}

// Claims the job that reads an attachment, whose file was cut for that reason unless it is "".
static inline struct job claim_cut_evidence(struct fixture *f, const char *run, char content,
                                            const char *reason)
{
    char sha256[STORE_SHA256_SIZE];
    add_archive(f, run, content, false);
    struct job job = claim_archive(f);
    struct new_member member = attachment_of(sha256, (char)(content - 'a' + 'A'), reason);
    assert_ok(f, store_unpack_as_attachment(f->store, &job, &member, &f->err));
    job = claim(f);
    assert_int_equal(job.kind, JOB_EVIDENCE);
    return job;
}

static inline struct job claim_evidence(struct fixture *f, const char *run, char content)
{
    return claim_cut_evidence(f, run, content, "");
}

// A log of that many steps.
static inline void add_log(struct fixture *f, struct report *report, int64_t steps)
{
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < table_logs.column_count; i++)
        row[i] = cell_null();
    row[column_place(&table_logs, LOGS_FILE)] = cell_text(STR("train.log"));
    row[column_place(&table_logs, LOGS_STEPS)] = cell_i64(steps);
    row[column_place(&table_logs, LOGS_LAST_LOSS)] = cell_f64(2.5);
    assert_ok(f, report_add(report, &table_logs, row, &f->err));
}

// Ends it as if the file had such a log.
static inline bool end_evidence(struct fixture *f, const struct job *job, int64_t steps)
{
    struct report report = {.arena = &f->arena};
    add_log(f, &report, steps);
    int tables = parts_of(f, &report, evidence_tables);
    bool ok = store_finish_evidence(f->store, job, tables, 100, &f->err);
    close(tables);
    return ok;
}

#endif
