-- +goose Up
CREATE TABLE sandboxes (
    id         TEXT   NOT NULL PRIMARY KEY,
    owner      TEXT   NOT NULL,
    app        TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    created_at BIGINT NOT NULL, -- microseconds since 1970, UTC
    last_used  BIGINT NOT NULL,
    ephemeral  BIGINT NOT NULL  -- 1: nothing of it is to outlive its use
);

-- How many kernels a code context ever had. It may be written before the
-- sandbox is, so it refers to none.
CREATE TABLE generations (
    sandbox_id TEXT   NOT NULL,
    context    TEXT   NOT NULL,
    generation BIGINT NOT NULL,
    PRIMARY KEY (sandbox_id, context)
);

-- +goose Down
DROP TABLE generations;
DROP TABLE sandboxes;
