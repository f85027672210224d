-- +goose Up
ALTER TABLE runs ADD COLUMN object_bytes BIGINT NOT NULL DEFAULT 0; -- of its artifacts

-- +goose Down
ALTER TABLE runs DROP COLUMN object_bytes;
