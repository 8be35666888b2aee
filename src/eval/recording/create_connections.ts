/**
 * Selects the network access of the runs of a set.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { openRecordings } from "./record_runs.ts";
import { openReplays } from "./replay_runs.ts";
import type { ConnectionOptions, OpenRunConnection, RunConnections } from "./run_connection.ts";

/**
 * Selects the connections of the runs of a set.
 *
 * @throws {BadRequestError} If both directories are given, there is no recording to replay, or another evaluation records
 * in the directory.
 */
export async function createConnections(options: ConnectionOptions): Promise<RunConnections> {
  const { record, replay, fetch, now } = options;
  if (record !== undefined && replay !== undefined) {
    throw new BadRequestError("Pass either record or replay: a replay sends no requests");
  }
  if (record !== undefined) return await openRecordings(record, options);
  const open: OpenRunConnection = replay !== undefined
    ? await openReplays(replay, options)
    : ({ seed }) => ({
      fetch,
      evaluatorFetch: fetch,
      seed,
      startedAt: now(),
      directory: undefined,
      isRecorded: false,
      finish: () => Promise.resolve(),
    });
  return { open, [Symbol.dispose]: () => {} };
}
