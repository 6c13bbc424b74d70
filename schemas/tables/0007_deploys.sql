-- Who marked a deploy: a person's login or a pipeline's name.
ALTER TABLE deploys ADD COLUMN IF NOT EXISTS author String;
