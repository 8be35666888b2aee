/**
 * The network access of a run: direct, recorded, or answered from a recording.
 *
 * @module
 */

import { checkCassetteFile, recordFetch } from "../../cassettes/record_fetch.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import type { EvalFiles } from "../case/eval_files.ts";
import { RECORDING_FILES } from "../case/output_files.ts";
import { replayAgent } from "./replay_agent.ts";
import { appendRun, readRuns, type RecordedRun, repairRuns } from "./run_index.ts";

/** The network access of one run. */
export interface RunConnection {
  /** Sends the requests of the agent. */
  readonly fetch: typeof globalThis.fetch;
  /** Sends the requests of evaluators. */
  readonly evaluatorFetch: typeof globalThis.fetch;
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
  /** Whether it ended with an answer, failed, failed before the first reply of the model, or was cancelled. */
  readonly end: "answered" | "failed" | "unanswered" | "cancelled";
}

type RunIdentity = Pick<RecordedRun, "caseId" | "repetition" | "seed">;

/** The run for which a connection is opened. */
export interface ConnectionRequest extends RunIdentity {
  /** The messages of the user. */
  readonly prompts: readonly string[];
}

/** Opens the connections of runs. */
export type OpenRunConnection = (request: ConnectionRequest) => RunConnection;

/** The connections of an evaluation. Disposing of them ends its recording. */
export interface RunConnections extends Disposable {
  readonly open: OpenRunConnection;
}

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
  /** The seeds of the repetitions, by which a replay finds the recorded runs; their numbers can differ. */
  readonly seeds?: readonly number[] | undefined;
  /** Port: the current time in milliseconds. */
  readonly now: () => number;
  /** Port: reads and writes files. */
  readonly files: EvalFiles;
}

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
  if (record !== undefined) {
    return await openRecordings(record, options);
  }
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

async function openRecordings(
  directory: string,
  options: ConnectionOptions,
): Promise<RunConnections> {
  // Two evaluations would mix the requests of their runs.
  const lock = await options.files.lock(join(directory, RECORDING_FILES.lock));
  if (!lock) {
    throw new BadRequestError(
      `"${directory}" is being recorded by another evaluation: wait for its end, or choose another directory`,
    );
  }
  try {
    await repairRuns(directory, options.files);
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
  return {
    open: (request) => openRecording(request, directory, options),
    [Symbol.dispose]: () => lock[Symbol.dispose](),
  };
}

function openRecording(
  { prompts: _, ...request }: ConnectionRequest,
  directory: string,
  { fetch, now, files }: ConnectionOptions,
): RunConnection {
  const path = getCassettePath(directory, request);
  // An earlier recording of the run is kept until it has ended: it can be cancelled, such as by a key that is rejected.
  const newPath = `${path}.new`;
  const recorder = recordFetch(fetch, newPath, { now });
  let checking: Promise<void> | undefined;
  const prepare = async () => {
    await checkCassetteFile(path);
    await checkCassetteFile(newPath);
    // Of an evaluation that was killed.
    await removeFile(newPath);
  };
  const check = () => checking ??= prepare();
  const send: typeof globalThis.fetch = async (...sent) => {
    await check();
    return await recorder(...sent);
  };
  const startedAt = now();
  return {
    fetch: send,
    evaluatorFetch: send,
    seed: request.seed,
    startedAt,
    directory: undefined,
    isRecorded: true,
    finish: async ({ end, ...run }) => {
      await recorder.close();
      if (end === "cancelled") return await removeFile(newPath);
      const isRefused = await check().then(() => false, () => true);
      // Its requests have failed with the reason.
      if (isRefused && end !== "answered") return;
      await check();
      // Such as one without an agent, a network or a valid key, or of a server that is overloaded.
      if (end === "unanswered" && await isFile(path)) return await removeFile(newPath);
      await replaceFile(path, newPath);
      await appendRun(directory, { ...request, startedAt, ...run }, files);
    },
  };
}

/** Replaces a file by a new one; removes it if there is none, as for a run without a request. */
async function replaceFile(path: string, newPath: string): Promise<void> {
  try {
    await system.rename(newPath, path);
  } catch (error) {
    if (getSystemErrorCode(error) !== "ENOENT") throw error;
    await removeFile(path);
  }
}

async function isFile(path: string): Promise<boolean> {
  return await system.stat(path).then((status) => status.isFile, () => false);
}

async function removeFile(path: string): Promise<void> {
  try {
    await system.remove(path);
  } catch (error) {
    if (getSystemErrorCode(error) !== "ENOENT") throw error;
  }
}

async function openReplays(
  directory: string,
  { normalize, seeds, now, files }: ConnectionOptions,
): Promise<OpenRunConnection> {
  const getKey = ({ caseId, repetition, seed }: RunIdentity) =>
    `${caseId} ${seeds ? seed : repetition}`;
  const runs = new Map((await readRuns(directory, files)).map((run) => [getKey(run), run]));
  const createMissingError = ({ caseId, repetition, seed }: RunIdentity) => {
    const name = seeds
      ? `The run of the case "${caseId}" with the seed ${seed}`
      : `Repetition ${repetition} of the case "${caseId}"`;
    return new BadRequestError(`${name} is not in the recording "${directory}": record it`);
  };
  return (request) => {
    const recorded = runs.get(getKey(request));
    const path = getCassettePath(directory, recorded ?? request);
    const { fetch, evaluatorFetch } = replayAgent(path, { prompts: request.prompts, normalize });
    let requests = 0;
    const count = (replay: typeof globalThis.fetch): typeof globalThis.fetch => (...sent) => {
      requests++;
      return recorded ? replay(...sent) : Promise.reject(createMissingError(request));
    };
    return {
      fetch: count(fetch),
      evaluatorFetch: count(evaluatorFetch),
      seed: recorded?.seed ?? request.seed,
      startedAt: recorded?.startedAt ?? now(),
      directory: recorded?.directory,
      isRecorded: true,
      finish: async ({ end }) => {
        if (end !== "answered") return;
        if (!recorded) throw createMissingError(request);
        if (requests > 0) return fetch.assertDone();
        if (await files.read(path) === undefined) return;
        throw new BadRequestError(
          "The run sent no request of its recording: pass the fetch of the request to the adapter of the agent",
        );
      },
    };
  };
}

/** Ids of cases are names of files. */
function getCassettePath(
  directory: string,
  { caseId, repetition }: Pick<ConnectionRequest, "caseId" | "repetition">,
): string {
  return join(directory, `${caseId}.${repetition}.jsonl`);
}
