-- SPDX-License-Identifier: Apache-2.0
-- Files that are being removed from another machine: it may do that late, so their bytes are not
-- taken again before until_ns, unless it says that it is done.
CREATE TABLE removal (
    sha256 TEXT PRIMARY KEY,
    until_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Wrong credentials of the last minute, by a hash of the address.
CREATE TABLE login_failure (
    address INTEGER NOT NULL,
    failed_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX login_failure_by_address ON login_failure (address, failed_ns);
CREATE INDEX login_failure_by_time ON login_failure (failed_ns);
