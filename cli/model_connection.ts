/**
 * What the requests of a run go through: the network, a recorder, or a recording.
 *
 * @module
 */

import { AgentError } from "../mod.ts";
import { UsageError } from "./cli_error.ts";
import type { RunSettings } from "./commands/run_settings.ts";
import type { Host } from "./host.ts";

/** A way to the model. Dispose of it to have everything on the disk that is to be recorded. */
export interface ModelConnection extends AsyncDisposable {
  /** Sends requests to the model. */
  readonly fetch: typeof fetch;
  /** The day that the model is told; of a recording, the day on which it was made. */
  readonly today: Date;
}

/**
 * Opens the way that the settings ask for.
 *
 * @throws {UsageError} When there is nothing that could be replayed.
 */
export async function openConnection(
  { record, replay }: Pick<RunSettings, "record" | "replay">,
  { fetch }: Pick<Host, "fetch">,
): Promise<ModelConnection> {
  if (replay !== undefined) return await openReplay(replay);
  if (record !== undefined) return await openRecording(fetch, record);
  return { fetch, today: new Date(), [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function openRecording(fetch: Host["fetch"], file: string): Promise<ModelConnection> {
  const { recordFetch } = await import("../src/testing/mod.ts");
  const recorder = recordFetch(fetch, file);
  return { fetch: recorder, today: new Date(), [Symbol.asyncDispose]: () => recorder.close() };
}

async function openReplay(file: string): Promise<ModelConnection> {
  const { replayCassette } = await import("../src/testing/mod.ts");
  const fetch = replayCassette(file);
  try {
    const today = new Date(await fetch.recordedAt());
    return { fetch, today, [Symbol.asyncDispose]: () => Promise.resolve() };
  } catch (error) {
    if (AgentError.is(error)) throw new UsageError(`--replay: ${error.message}`);
    throw error;
  }
}
