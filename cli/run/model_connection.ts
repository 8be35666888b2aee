/**
 * The connection to the model: over the network, with a recorder, or from a recording.
 *
 * @module
 */

import { AgentError } from "../../src/core/errors.ts";
import { UsageError } from "../host/cli_error.ts";
import { importLate } from "../host/import_late.ts";
import type { RunSettings } from "./settings.ts";
import type { Host } from "../host/host.ts";

/** A connection to the model. Disposing of it completes the recording. */
export interface ModelConnection extends AsyncDisposable {
  /** Sends requests to the provider. */
  readonly fetch: typeof fetch;
  /** Date for the system prompt; for a replay, the date of the recording. */
  readonly today: Date;
}

/**
 * Opens the connection that the settings select.
 *
 * @throws {UsageError} If the recording to replay is missing or invalid.
 */
export async function openConnection(
  { record, replay }: Pick<RunSettings, "record" | "replay">,
  { fetch, now }: Pick<Host, "fetch" | "now">,
): Promise<ModelConnection> {
  if (replay !== undefined) return await openReplay(replay);
  const today = new Date(now());
  if (record !== undefined) {
    const { recordFetch } = await importLate<typeof import("../../src/testing/mod.ts")>(
      "../../src/testing/mod.ts",
      import.meta.url,
    );
    const recorder = recordFetch(fetch, record, { now });
    return { fetch: recorder, today, [Symbol.asyncDispose]: () => recorder.close() };
  }
  return { fetch, today, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function openReplay(file: string): Promise<ModelConnection> {
  const { replayAgent } = await importLate<
    typeof import("../../src/eval/recording/replay_agent.ts")
  >("../../src/eval/recording/replay_agent.ts", import.meta.url);
  const { fetch } = replayAgent(file);
  try {
    const today = new Date(await fetch.recordedAt());
    return { fetch, today, [Symbol.asyncDispose]: () => Promise.resolve() };
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(`--replay: ${error.message}`);
    throw error;
  }
}
