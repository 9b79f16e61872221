-- Links of mails that act: what they are signed with, and which were used.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_secret (
  name  VARCHAR(40)  NOT NULL PRIMARY KEY,
  value VARCHAR(200) NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_used_link (
  link    VARCHAR(100) NOT NULL PRIMARY KEY,
  used_at BIGINT NOT NULL,
  KEY carillon_link_used (used_at)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
