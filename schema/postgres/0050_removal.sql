-- SPDX-License-Identifier: Apache-2.0
-- Files that are being removed from another machine: it may do that late, so their bytes are not
-- taken again before until_ns, unless it says that it is done.
CREATE TABLE removal (
    sha256 TEXT COLLATE "C" PRIMARY KEY,
    until_ns BIGINT NOT NULL
);

-- Wrong credentials of the last minute, by a hash of the address.
CREATE TABLE login_failure (
    address BIGINT NOT NULL,
    failed_ns BIGINT NOT NULL
);
CREATE INDEX login_failure_by_address ON login_failure (address, failed_ns);
CREATE INDEX login_failure_by_time ON login_failure (failed_ns);
