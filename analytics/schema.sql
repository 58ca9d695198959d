-- The warehouse: all of it is made from journals, and can be made again from them.
-- Units: money in integer micro-dollars (1,000,000 = 1 USD), time in seconds, moments in UTC.
-- Raise the version with every change here: a warehouse of another version is rebuilt.

CREATE TABLE schema_version (version INTEGER NOT NULL, revision UUID NOT NULL);
COMMENT ON TABLE schema_version IS 'One row: which schema this is, and which contents.';
COMMENT ON COLUMN schema_version.version IS 'Version of schema.sql; another version is rebuilt from the journals.';
COMMENT ON COLUMN schema_version.revision IS 'Changes with every change of the contents; a snapshot has that of its warehouse.';
INSERT INTO schema_version VALUES (1, uuid());

CREATE TABLE files (
    journal VARCHAR NOT NULL, cycle INTEGER NOT NULL, mission VARCHAR NOT NULL,
    size BIGINT NOT NULL, row_count BIGINT NOT NULL, first_sum VARCHAR NOT NULL, last_sum VARCHAR NOT NULL,
    PRIMARY KEY (journal, cycle)
);
COMMENT ON TABLE files IS 'How far each journal file has been read.';
COMMENT ON COLUMN files.journal IS 'Folder of the mission under journals/: its id and 8 hex digits.';
COMMENT ON COLUMN files.cycle IS 'Number of the cycle, from the name of the file.';
COMMENT ON COLUMN files.mission IS 'Id of the mission, from the first row.';
COMMENT ON COLUMN files.size IS 'Bytes read: the end of the last whole row.';
COMMENT ON COLUMN files.row_count IS 'Rows read.';
COMMENT ON COLUMN files.first_sum IS 'Checksum of the first row: another one means another file.';
COMMENT ON COLUMN files.last_sum IS 'Checksum of the last row read: another one means another file.';

CREATE TABLE events (
    event VARCHAR PRIMARY KEY, journal VARCHAR NOT NULL, mission VARCHAR NOT NULL, cycle INTEGER NOT NULL,
    seq BIGINT NOT NULL, phase VARCHAR NOT NULL, kind VARCHAR NOT NULL, place VARCHAR NOT NULL,
    inputs VARCHAR NOT NULL, at_s DOUBLE NOT NULL, data JSON NOT NULL
);
COMMENT ON TABLE events IS 'Every row of every journal, as written.';
COMMENT ON COLUMN events.event IS 'Id of the row: journal/cycle/seq.';
COMMENT ON COLUMN events.journal IS 'Folder of the mission under journals/: its id and 8 hex digits.';
COMMENT ON COLUMN events.mission IS 'Id of the mission.';
COMMENT ON COLUMN events.cycle IS 'Number of the cycle.';
COMMENT ON COLUMN events.seq IS 'Position in the journal, from 0.';
COMMENT ON COLUMN events.phase IS 'fact, intent (a step begins) or result (it ended).';
COMMENT ON COLUMN events.kind IS 'cycle, think, act, verify or end.';
COMMENT ON COLUMN events.place IS 'Which step: stage/role/position.';
COMMENT ON COLUMN events.inputs IS 'Digest of the inputs of the step.';
COMMENT ON COLUMN events.at_s IS 'When it was written, seconds since 1970 by the clock of that machine.';
COMMENT ON COLUMN events.data IS 'What the row says.';

CREATE MACRO utc(seconds) AS TRY(make_timestamp(CAST(seconds * 1000000 AS BIGINT)));

CREATE VIEW pins AS
SELECT journal, mission, cycle, pin.item AS item, pin.attempt AS attempt, pin.variant AS variant, pin.model AS model,
       pin.source AS source, pin.wire AS wire, pin.base AS base, pin.epoch AS epoch, begun_at
FROM (
    SELECT journal, mission, cycle, utc(at_s) AS begun_at,
           json_transform(data->'pin', '{"item": "VARCHAR", "attempt": "INTEGER", "variant": "VARCHAR",
               "model": "VARCHAR", "source": "VARCHAR", "wire": "VARCHAR", "base": "VARCHAR", "epoch": "INTEGER"}') AS pin
    FROM events WHERE kind = 'cycle'
);
COMMENT ON VIEW pins IS 'The inputs that each cycle is pinned to.';
COMMENT ON COLUMN pins.source IS 'Where its replies come from: live, recorded or scripted.';
COMMENT ON COLUMN pins.base IS 'Commit of the target that the work starts from.';
COMMENT ON COLUMN pins.attempt IS 'Which attempt at the item this is, from 1.';
COMMENT ON COLUMN pins.begun_at IS 'UTC.';

CREATE VIEW model_calls AS
WITH rows_of_calls AS (
    SELECT journal, mission, cycle, seq, phase, place, at_s,
           json_transform(data, '{"item": "VARCHAR", "role": "VARCHAR", "model": "VARCHAR", "source": "VARCHAR",
               "worst_prompt": "BIGINT", "worst_completion": "BIGINT", "worst_micros": "BIGINT",
               "usage": {"prompt": "BIGINT", "cached": "BIGINT", "completion": "BIGINT", "reasoning": "BIGINT"},
               "micros": "BIGINT", "seconds": "DOUBLE", "finish": "VARCHAR"}') AS said
    FROM events WHERE kind = 'think'
), paired AS (
    SELECT *, lead(phase) OVER step AS next_phase,
           CASE WHEN phase = 'intent' THEN said WHEN lag(phase) OVER step = 'intent' THEN lag(said) OVER step END AS asked
    FROM rows_of_calls WINDOW step AS (PARTITION BY journal, cycle, place ORDER BY seq)
), calls AS (
    SELECT *, phase = 'result' AS answered FROM paired
    WHERE phase = 'result' OR (phase = 'intent' AND (next_phase IS NULL OR next_phase = 'intent'))
)
SELECT journal, mission, cycle, coalesce(asked.item, pins.item) AS item,
       coalesce(asked.role, split_part(place, '/', 2)) AS role, place, said.model AS model, said.source AS source,
       pins.variant AS variant, said.usage.prompt AS prompt_tokens, said.usage.cached AS cached_tokens,
       said.usage.completion AS completion_tokens, said.usage.reasoning AS reasoning_tokens,
       CASE WHEN NOT answered THEN NULL WHEN said.source = 'live' THEN said.micros ELSE 0 END AS micros,
       CASE WHEN answered THEN said.seconds END AS seconds, said.finish AS finish, answered,
       NOT answered AND said.source = 'live' AS possibly_billed,
       CASE WHEN NOT answered THEN said.worst_prompt + said.worst_completion END AS worst_tokens,
       CASE WHEN NOT answered AND said.source = 'live' THEN said.worst_micros END AS worst_micros,
       utc(at_s) AS happened_at
FROM calls LEFT JOIN pins USING (journal, mission, cycle);
COMMENT ON VIEW model_calls IS 'One row per model call: answered ones, and calls in flight (now, or at a crash).';
COMMENT ON COLUMN model_calls.model IS 'As the provider named it; as it was asked for while there is no reply.';
COMMENT ON COLUMN model_calls.source IS 'live, recorded or scripted.';
COMMENT ON COLUMN model_calls.prompt_tokens IS 'Tokens in, counted by the provider; NULL without a reply.';
COMMENT ON COLUMN model_calls.cached_tokens IS 'Part of prompt_tokens.';
COMMENT ON COLUMN model_calls.completion_tokens IS 'Tokens out, counted by the provider; NULL without a reply.';
COMMENT ON COLUMN model_calls.reasoning_tokens IS 'Part of completion_tokens.';
COMMENT ON COLUMN model_calls.micros IS 'Micro-dollars paid for the reply: NULL is unpriced or unanswered; recorded and scripted replies cost 0.';
COMMENT ON COLUMN model_calls.seconds IS 'Time the reply took.';
COMMENT ON COLUMN model_calls.possibly_billed IS 'A live call without a reply: the provider may have billed it.';
COMMENT ON COLUMN model_calls.worst_tokens IS 'Of a call without a reply: the most tokens it can have used.';
COMMENT ON COLUMN model_calls.worst_micros IS 'Of a possibly billed call: the most micro-dollars it can have cost; NULL is unpriced.';
COMMENT ON COLUMN model_calls.happened_at IS 'When the reply (or the question without one) was written, UTC.';

CREATE VIEW acts AS
SELECT journal, mission, cycle, pins.item AS item, split_part(place, '/', 2) AS role, place, act.move.kind AS move,
       act.move.path AS path, act.observation.ok AS ok, act.tree AS tree, act.seconds AS seconds,
       pins.source AS source, pins.variant AS variant, utc(at_s) AS happened_at
FROM (
    SELECT journal, mission, cycle, place, at_s,
           json_transform(data, '{"move": {"kind": "VARCHAR", "path": "VARCHAR"}, "tree": "VARCHAR",
               "observation": {"ok": "BOOLEAN"}, "seconds": "DOUBLE"}') AS act
    FROM events WHERE kind = 'act' AND phase = 'result'
) LEFT JOIN pins USING (journal, mission, cycle);
COMMENT ON VIEW acts IS 'One row per finished act: an edit, a search, a read or a command.';
COMMENT ON COLUMN acts.move IS 'Kind of move: read, list, search, edit, write, delete, run, check, submit or give_up.';
COMMENT ON COLUMN acts.ok IS 'The move did what it asked for.';
COMMENT ON COLUMN acts.tree IS 'The git tree after the act.';
COMMENT ON COLUMN acts.seconds IS 'Time the act took.';
COMMENT ON COLUMN acts.source IS 'Where the replies of its cycle come from: live, recorded or scripted.';
COMMENT ON COLUMN acts.happened_at IS 'UTC.';

CREATE VIEW verdicts AS
SELECT journal, mission, cycle, pins.item AS item, place, said.verdict.decision AS decision,
       said.verdict.base_tree AS base_tree, said.verdict.candidate_tree AS candidate_tree,
       list_transform(said.verdict.reasons, lambda reason: reason.kind) AS reasons,
       len(said.verdict.fail_to_pass) AS fail_to_pass, len(said.verdict.pass_to_pass_broken) AS pass_to_pass_broken,
       said.digest AS digest, said.seconds AS seconds, pins.source AS source, pins.variant AS variant,
       utc(at_s) AS happened_at
FROM (
    SELECT journal, mission, cycle, place, at_s,
           json_transform(data, '{"verdict": {"decision": "VARCHAR", "base_tree": "VARCHAR", "candidate_tree": "VARCHAR",
               "reasons": [{"kind": "VARCHAR"}], "fail_to_pass": ["VARCHAR"], "pass_to_pass_broken": ["VARCHAR"]},
               "digest": "VARCHAR", "seconds": "DOUBLE"}') AS said
    FROM events WHERE kind = 'verify' AND phase = 'result'
) LEFT JOIN pins USING (journal, mission, cycle);
COMMENT ON VIEW verdicts IS 'One row per answer of the merge gate.';
COMMENT ON COLUMN verdicts.decision IS 'pass, fail or unverified.';
COMMENT ON COLUMN verdicts.reasons IS 'Kinds of the reasons for a refusal.';
COMMENT ON COLUMN verdicts.fail_to_pass IS 'How many acceptance checks turned from red to green.';
COMMENT ON COLUMN verdicts.pass_to_pass_broken IS 'How many cases passed on base and do not now.';
COMMENT ON COLUMN verdicts.digest IS 'Sha256 of the verdict.';
COMMENT ON COLUMN verdicts.seconds IS 'Time the checks took.';
COMMENT ON COLUMN verdicts.source IS 'Where the replies of its cycle come from: live, recorded or scripted.';
COMMENT ON COLUMN verdicts.happened_at IS 'UTC.';

CREATE VIEW cycles AS
WITH ends AS (
    SELECT journal, mission, cycle, utc(at_s) AS ended_at,
           json_transform(data->'result', '{"ending": "VARCHAR", "summary": "VARCHAR", "verdict": "VARCHAR",
               "candidate_tree": "VARCHAR", "commit": "VARCHAR", "steps": "BIGINT"}') AS said
    FROM events WHERE kind = 'end'
), costs AS (
    SELECT journal, mission, cycle, count(*) AS model_calls,
           CAST(sum(prompt_tokens + completion_tokens) AS BIGINT) AS tokens, CAST(sum(micros) AS BIGINT) AS micros,
           count(*) FILTER (answered AND micros IS NULL) AS unpriced_calls,
           count(*) FILTER (possibly_billed) AS possibly_billed_calls,
           CAST(coalesce(sum(worst_micros), 0) AS BIGINT) AS possibly_billed_micros, sum(seconds) AS model_seconds
    FROM model_calls GROUP BY ALL
)
SELECT pins.*, said.ending AS ending, said.summary AS summary, said.verdict AS verdict,
       said.candidate_tree AS candidate_tree, said.commit AS commit, said.steps AS steps, ended_at,
       epoch(ended_at - begun_at) AS wall_seconds, coalesce(model_calls, 0) AS model_calls, coalesce(tokens, 0) AS tokens,
       CASE WHEN unpriced_calls > 0 THEN micros ELSE coalesce(micros, 0) END AS micros,
       coalesce(unpriced_calls, 0) AS unpriced_calls, coalesce(possibly_billed_calls, 0) AS possibly_billed_calls,
       coalesce(possibly_billed_micros, 0) AS possibly_billed_micros, coalesce(model_seconds, 0) AS model_seconds
FROM pins LEFT JOIN ends USING (journal, mission, cycle) LEFT JOIN costs USING (journal, mission, cycle);
COMMENT ON VIEW cycles IS 'One row per cycle: its pin, how it ended, and what its model calls used.';
COMMENT ON COLUMN cycles.source IS 'Where its replies come from: live, recorded or scripted.';
COMMENT ON COLUMN cycles.ending IS 'merged, refused, unverified, gave_up, out_of_calls, unparseable, conflict or postponed; NULL while the cycle is open.';
COMMENT ON COLUMN cycles.verdict IS 'Sha256 of its verdict.';
COMMENT ON COLUMN cycles.commit IS 'The merge on the target, if it was merged.';
COMMENT ON COLUMN cycles.wall_seconds IS 'From its first row to its last, with any time in between when nothing ran.';
COMMENT ON COLUMN cycles.micros IS 'Micro-dollars paid for replies; too low while unpriced_calls > 0, NULL when no reply had a price.';
COMMENT ON COLUMN cycles.possibly_billed_micros IS 'Micro-dollars that calls without a reply may have cost on top, at most; unpriced ones are not in it.';
COMMENT ON COLUMN cycles.model_seconds IS 'Time the replies took, together.';

CREATE VIEW items AS
SELECT journal, mission, item, source, count(*) AS cycles, max(attempt) AS attempts,
       bool_or(ending IS NOT DISTINCT FROM 'merged') AS verified, arg_max(ending, cycle) AS last_ending,
       CAST(sum(model_calls) AS BIGINT) AS model_calls, CAST(sum(tokens) AS BIGINT) AS tokens,
       CAST(sum(micros) AS BIGINT) AS micros, CAST(sum(unpriced_calls) AS BIGINT) AS unpriced_calls,
       CAST(sum(possibly_billed_calls) AS BIGINT) AS possibly_billed_calls,
       CAST(sum(possibly_billed_micros) AS BIGINT) AS possibly_billed_micros, sum(model_seconds) AS model_seconds
FROM cycles GROUP BY ALL;
COMMENT ON VIEW items IS 'One row per item and source: its cycles, together.';
COMMENT ON COLUMN items.source IS 'Where the replies of these cycles come from: live, recorded or scripted.';
COMMENT ON COLUMN items.verified IS 'A cycle merged it, so the gate had said that it is done.';
COMMENT ON COLUMN items.last_ending IS 'How its last ended cycle ended.';
COMMENT ON COLUMN items.micros IS 'Micro-dollars paid for replies; too low while unpriced_calls > 0.';
COMMENT ON COLUMN items.possibly_billed_micros IS 'Micro-dollars that calls without a reply may have cost on top, at most.';
COMMENT ON COLUMN items.model_seconds IS 'Time the replies took, together.';

CREATE VIEW spend AS
SELECT journal, mission, role, model, source, count(*) FILTER (answered) AS model_calls,
       CAST(sum(prompt_tokens) AS BIGINT) AS prompt_tokens, CAST(sum(cached_tokens) AS BIGINT) AS cached_tokens,
       CAST(sum(completion_tokens) AS BIGINT) AS completion_tokens,
       CAST(sum(reasoning_tokens) AS BIGINT) AS reasoning_tokens, CAST(sum(micros) AS BIGINT) AS micros,
       count(*) FILTER (answered AND micros IS NULL) AS unpriced_calls,
       count(*) FILTER (possibly_billed) AS possibly_billed_calls,
       CAST(sum(worst_micros) AS BIGINT) AS possibly_billed_micros, sum(seconds) AS seconds
FROM model_calls GROUP BY ALL;
COMMENT ON VIEW spend IS 'What was spent by mission, role, model and source; recorded and scripted replies are never money.';
COMMENT ON COLUMN spend.source IS 'live, recorded or scripted.';
COMMENT ON COLUMN spend.micros IS 'Micro-dollars paid for replies; too low while unpriced_calls > 0, NULL when no reply had a price.';
COMMENT ON COLUMN spend.possibly_billed_micros IS 'Micro-dollars that calls without a reply may have cost on top, at most.';
COMMENT ON COLUMN spend.seconds IS 'Time the replies took, together.';

CREATE VIEW cost_per_verified_item AS
SELECT *, CASE WHEN source = 'live' AND verified_items > 0 AND unpriced_calls = 0
               THEN CAST(round(micros / verified_items) AS BIGINT) END AS micros_per_verified_item,
       CASE WHEN verified_items > 0 THEN CAST(round(tokens / verified_items) AS BIGINT) END AS tokens_per_verified_item
FROM (
    SELECT journal, mission, variant, source, count(*) AS cycles,
           count(DISTINCT item) FILTER (ending = 'merged') AS verified_items, CAST(sum(tokens) AS BIGINT) AS tokens,
           CAST(sum(micros) AS BIGINT) AS micros, CAST(sum(unpriced_calls) AS BIGINT) AS unpriced_calls,
           CAST(sum(possibly_billed_calls) AS BIGINT) AS possibly_billed_calls,
           CAST(sum(possibly_billed_micros) AS BIGINT) AS possibly_billed_micros
    FROM cycles GROUP BY ALL
);
COMMENT ON VIEW cost_per_verified_item IS 'What an item that the gate let through cost, failed attempts included.';
COMMENT ON COLUMN cost_per_verified_item.source IS 'Where the replies come from: live, recorded or scripted.';
COMMENT ON COLUMN cost_per_verified_item.micros IS 'Micro-dollars paid for replies; too low while unpriced_calls > 0.';
COMMENT ON COLUMN cost_per_verified_item.micros_per_verified_item IS 'Micro-dollars; NULL unless live, with a verified item and a price for every reply.';
COMMENT ON COLUMN cost_per_verified_item.possibly_billed_micros IS 'Micro-dollars that calls without a reply may have cost on top, at most; not in the cost per item.';
