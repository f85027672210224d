-- +goose Up
CREATE INDEX sandboxes_of_owner ON sandboxes (owner);

-- +goose Down
DROP INDEX sandboxes_of_owner;
