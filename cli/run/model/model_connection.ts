/**
 * The connection to the model: over the network, with a recorder, or from a recording.
 *
 * @module
 */

import { AgentError } from "../../../src/core/errors/errors.ts";
import { UsageError } from "../../host/cli_error.ts";
import type { Host } from "../../host/host.ts";
import { importLate } from "../../host/import_late.ts";
import type { RunSettings } from "../settings/settings.ts";

/** A connection to the model. Disposing of it completes the recording. */
export interface ModelConnection extends AsyncDisposable {
  /** Sends requests to the provider. */
  readonly fetch: typeof fetch;
  /** Date for the system prompt; for a replay, the date of the recording. */
  readonly today: Date;
}

/** Options for `openConnection()`. */
export interface ConnectionOptions extends Pick<RunSettings, "record" | "replay"> {
  /**
   * Whether the agent gets one prompt, so that all later texts are its own work: a replay ignores times and durations in
   * them. Default: `false`.
   */
  readonly hasOnePrompt?: boolean;
}

/**
 * Opens the connection that the settings select.
 *
 * @throws {UsageError} If the recording to replay is missing or invalid, or the file to record to is no recording.
 */
export async function openConnection(
  { record, replay, hasOnePrompt = false }: ConnectionOptions,
  { fetch, now }: Pick<Host, "fetch" | "now">,
): Promise<ModelConnection> {
  if (replay !== undefined) return await openReplay(replay, hasOnePrompt);
  const today = new Date(now());
  if (record !== undefined) {
    const recorder = await openRecorder(record, { fetch, now });
    return { fetch: recorder, today, [Symbol.asyncDispose]: () => recorder.close() };
  }
  return { fetch, today, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function openRecorder(file: string, { fetch, now }: Pick<Host, "fetch" | "now">) {
  const { checkCassetteFile, recordFetch } = await importLate<
    typeof import("../../../src/cassettes/record_fetch.ts")
  >("../../../src/cassettes/record_fetch.ts", import.meta.url);
  try {
    await checkCassetteFile(file);
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(`--record: ${error.message}`);
    throw error;
  }
  return recordFetch(fetch, file, { now });
}

async function openReplay(file: string, hasOnePrompt: boolean): Promise<ModelConnection> {
  const fetch = await (hasOnePrompt ? createAgentReplay(file) : createExactReplay(file));
  try {
    const today = new Date(await fetch.recordedAt());
    return { fetch, today, [Symbol.asyncDispose]: () => Promise.resolve() };
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(`--replay: ${error.message}`);
    throw error;
  }
}

async function createAgentReplay(file: string) {
  const { replayAgent } = await importLate<
    typeof import("../../../src/eval/recording/replay_agent.ts")
  >("../../../src/eval/recording/replay_agent.ts", import.meta.url);
  return replayAgent(file).fetch;
}

async function createExactReplay(file: string) {
  const { replayCassette } = await importLate<typeof import("../../../src/cassettes/mod.ts")>(
    "../../../src/cassettes/mod.ts",
    import.meta.url,
  );
  return replayCassette(file);
}
