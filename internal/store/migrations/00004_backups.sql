-- +goose Up
CREATE TABLE backups (
    id         TEXT   NOT NULL PRIMARY KEY,
    owner      TEXT   NOT NULL,
    app        TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    dir        TEXT   NOT NULL,
    label      TEXT   NOT NULL,
    size       BIGINT NOT NULL, -- bytes of the object
    files      BIGINT NOT NULL,
    content    BIGINT NOT NULL, -- bytes, before they were compressed
    skipped    BIGINT NOT NULL,
    changed    BIGINT NOT NULL,
    checksum   TEXT   NOT NULL,
    created_at BIGINT NOT NULL, -- microseconds since 1970, UTC
    expires_at BIGINT NOT NULL
);

CREATE INDEX backups_of_owner ON backups (owner, created_at, id);
CREATE INDEX backups_expiring ON backups (expires_at, id);

-- +goose Down
DROP TABLE backups;
