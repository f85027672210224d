-- +goose Up
CREATE TABLE keys (
    id         TEXT   NOT NULL PRIMARY KEY,
    hash       BLOB   NOT NULL, -- SHA-256 of the secret
    owner      TEXT   NOT NULL,
    label      TEXT   NOT NULL,
    class      TEXT   NOT NULL,
    apps       TEXT   NOT NULL, -- separated by commas; empty: all
    read_only  BIGINT NOT NULL,
    admin      BIGINT NOT NULL,
    created_at BIGINT NOT NULL, -- microseconds since 1970, UTC
    expires_at BIGINT,
    revoked_at BIGINT,
    last_used  BIGINT
);

CREATE TABLE sessions (
    hash       BLOB   NOT NULL PRIMARY KEY, -- SHA-256 of the name
    key_id     TEXT   NOT NULL REFERENCES keys (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);

CREATE INDEX sessions_of_key ON sessions (key_id, created_at);
CREATE INDEX sessions_expired ON sessions (expires_at);

-- +goose Down
DROP TABLE sessions;
DROP TABLE keys;
