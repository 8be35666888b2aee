/**
 * Answers the requests of runs from a recording.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { replayAgent } from "./replay_agent.ts";
import {
  type ConnectionOptions,
  getCassettePath,
  type OpenRunConnection,
  type RunIdentity,
} from "./run_connection.ts";
import { readRuns } from "./run_index.ts";

/**
 * Opens a recording that answers the requests of runs.
 *
 * @throws {BadRequestError} If there is none.
 */
export async function openReplays(
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
