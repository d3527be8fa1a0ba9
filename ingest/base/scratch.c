// SPDX-License-Identifier: Apache-2.0
#include "ingest/base/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct scratch scratch_open(void)
{
    const char *folder = getenv("TMPDIR");
    folder = folder && *folder ? folder : "/tmp";
    return (struct scratch){.fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
}

void scratch_close(struct scratch scratch)
{
    if (scratch.fd >= 0)
        close(scratch.fd);
}
