-- +goose Up
CREATE TABLE runs (
    id         TEXT   NOT NULL PRIMARY KEY,
    owner      TEXT   NOT NULL,
    state      TEXT   NOT NULL, -- queued, running, ended
    created_at BIGINT NOT NULL, -- microseconds since 1970, UTC
    ended_at   BIGINT,          -- of those that have ended
    summary    TEXT   NOT NULL, -- JSON, for viewers
    progress   TEXT   NOT NULL, -- JSON, for the engine
    CHECK ((state = 'ended') = (ended_at IS NOT NULL))
);

CREATE INDEX runs_of_owner ON runs (owner, created_at, id);
CREATE INDEX runs_unfinished ON runs (created_at, id) WHERE ended_at IS NULL;
CREATE INDEX runs_ended ON runs (ended_at, id) WHERE ended_at IS NOT NULL;

-- +goose Down
DROP TABLE runs;
