-- Links of mails that act: what they are signed with, and which were used.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_secret (
  name  VARCHAR(40)  NOT NULL PRIMARY KEY,
  value VARCHAR(200) NOT NULL
);
CREATE TABLE IF NOT EXISTS carillon_used_link (
  link    VARCHAR(100) NOT NULL PRIMARY KEY,
  used_at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS carillon_link_used ON carillon_used_link (used_at);
