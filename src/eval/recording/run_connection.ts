/**
 * The network access of a run: direct, recorded, or answered from a recording.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { join } from "../../platform/paths.ts";
import { recordFetch } from "../../cassettes/record_fetch.ts";
import { replayCassette } from "../../cassettes/replay_cassette.ts";
import type { EvalFiles } from "../case/eval_files.ts";
import { normalizeText } from "./normalize_text.ts";
import { appendRun, readRuns, type RecordedRun, repairRuns } from "./run_index.ts";

/** The network access of one run. */
export interface RunConnection {
  /** Sends requests. */
  readonly fetch: typeof globalThis.fetch;
  /** The seed of the run. */
  readonly seed: number;
  /** Start of the run, or of the recorded run, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Directory of the recorded run, which the run should have, too; `undefined` without a replay. */
  readonly directory: string | undefined;
  /** Whether requests are recorded or replayed, so that answers must not come from a cache. */
  readonly isRecorded: boolean;
  /**
   * Ends a run that was scored.
   *
   * @throws {Error} If the recording cannot be written, or recorded requests were not repeated although the run did not
   * fail.
   */
  finish(run: FinishedRun): Promise<void>;
}

/** A run that was scored. */
export interface FinishedRun extends Pick<RecordedRun, "model" | "directory"> {
  /** Whether it ended with an answer, failed, or was cancelled. */
  readonly end: "answered" | "failed" | "cancelled";
}

/** The run for which a connection is opened. */
export type ConnectionRequest = Pick<RecordedRun, "caseId" | "repetition" | "seed">;

/** Opens the connections of runs. */
export type OpenRunConnection = (request: ConnectionRequest) => RunConnection;

/** Options for `createConnections()`. */
export interface ConnectionOptions {
  /** Directory to record in. */
  readonly record?: string | undefined;
  /** Directory of the recording that answers requests. */
  readonly replay?: string | undefined;
  /** Port: sends requests. */
  readonly fetch: typeof globalThis.fetch;
  /** Replaces further parts of texts that differ in each run. */
  readonly normalize?: ((text: string) => string) | undefined;
  /** Port: the current time in milliseconds. */
  readonly now: () => number;
  /** Port: reads and writes files. */
  readonly files: EvalFiles;
}

/**
 * Selects the connections of the runs of a set.
 *
 * @throws {BadRequestError} If both directories are given, or there is no recording to replay.
 */
export async function createConnections(options: ConnectionOptions): Promise<OpenRunConnection> {
  const { record, replay, fetch, now } = options;
  if (record !== undefined && replay !== undefined) {
    throw new BadRequestError("Pass either record or replay: a replay sends no requests");
  }
  if (record !== undefined) {
    await repairRuns(record, options.files);
    return (request) => openRecording(request, record, options);
  }
  if (replay !== undefined) return await openReplays(replay, options);
  return ({ seed }) => ({
    fetch,
    seed,
    startedAt: now(),
    directory: undefined,
    isRecorded: false,
    finish: () => Promise.resolve(),
  });
}

function openRecording(
  request: ConnectionRequest,
  directory: string,
  { fetch, now, files }: ConnectionOptions,
): RunConnection {
  const recorder = recordFetch(fetch, getCassettePath(directory, request), { now });
  const startedAt = now();
  return {
    fetch: recorder,
    seed: request.seed,
    startedAt,
    directory: undefined,
    isRecorded: true,
    finish: async ({ end, ...run }) => {
      await recorder.close();
      if (end === "cancelled") return;
      await appendRun(directory, { ...request, startedAt, ...run }, files);
    },
  };
}

async function openReplays(
  directory: string,
  { normalize = (text) => text, now, files }: ConnectionOptions,
): Promise<OpenRunConnection> {
  const runs = new Map(
    (await readRuns(directory, files)).map((run) => [getCassettePath(directory, run), run]),
  );
  return (request) => {
    const path = getCassettePath(directory, request);
    const recorded = runs.get(path);
    const player = replayCassette(path, { normalize: (text) => normalizeText(normalize(text)) });
    let requests = 0;
    return {
      fetch: (...sent) => {
        requests++;
        return recorded ? player(...sent) : Promise.reject(createMissingError(request, directory));
      },
      seed: recorded?.seed ?? request.seed,
      startedAt: recorded?.startedAt ?? now(),
      directory: recorded?.directory,
      isRecorded: true,
      finish: async ({ end }) => {
        if (end !== "answered") return;
        if (!recorded) throw createMissingError(request, directory);
        if (requests > 0) return player.assertDone();
        if (await files.read(path) === undefined) return;
        throw new BadRequestError(
          "The run sent no request of its recording: pass the fetch of the request to the adapter of the agent",
        );
      },
    };
  };
}

function createMissingError(
  { caseId, repetition }: ConnectionRequest,
  directory: string,
): BadRequestError {
  return new BadRequestError(
    `Repetition ${repetition} of the case "${caseId}" is not in the recording "${directory}": record it`,
  );
}

/** Ids of cases are names of files. */
function getCassettePath(
  directory: string,
  { caseId, repetition }: Pick<ConnectionRequest, "caseId" | "repetition">,
): string {
  return join(directory, `${caseId}.${repetition}.jsonl`);
}
