// SPDX-License-Identifier: Apache-2.0
// Archives in a store, and short ways to take them apart.
#ifndef TESTS_UNIT_ARCHIVE_STORE_H
#define TESTS_UNIT_ARCHIVE_STORE_H

#include "server/store/store_inputs.h"
#include "tests/unit/store_fixture.h"

// Adds an upload of one archive of 100 bytes whose content is named by a letter.
static inline struct upload add_archive(struct fixture *f, const char *run, char content,
                                        bool replace)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, content, STORE_NO_RANK, "job.tar");
    part.archive = STR("tar");
    struct upload_request request = {
        .run = {.name = str_of(run), .owner = STR("me"), .world_size = STORE_ANY},
        .parts = &part,
        .count = 1,
        .owner = STR("me"),
        .sent_bytes = 100,
        .replace = replace};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    return upload;
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

#endif
