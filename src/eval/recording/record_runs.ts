/**
 * Records the requests of runs.
 *
 * @module
 */

import { checkCassetteFile, recordFetch } from "../../cassettes/record_fetch.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { getSystemErrorCode } from "../../platform/system_error.ts";
import { RECORDING_FILES } from "../case/output_files.ts";
import {
  type ConnectionOptions,
  type ConnectionRequest,
  getCassettePath,
  type RunConnection,
  type RunConnections,
} from "./run_connection.ts";
import { appendRun, repairRuns } from "./run_index.ts";

/**
 * Opens a directory in which the requests of runs are recorded.
 *
 * @throws {BadRequestError} If another evaluation records in it.
 */
export async function openRecordings(
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
      try {
        await check();
      } catch (error) {
        if (end === "answered") throw error;
        return; // The requests of the run have failed with this reason.
      }
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
