/**
 * Models that run on this device, in the program itself.
 *
 * @module
 */

import { AgentError, getErrorMessage } from "../../src/core/errors/errors.ts";
import { formatBytes, PRESETS } from "../../src/local/mod.ts";
import type { Host } from "../host/host.ts";
import { DownloadBar } from "../models/download_bar.ts";
import { findLlamaProblem } from "../models/llama_check.ts";
import { listStoredModels, openModelStore } from "../models/local_store.ts";
import { isChatModel, type LocalModel } from "./local_models.ts";

/** The models that can run in this program. */
export interface DeviceModels {
  readonly models: readonly LocalModel[];
  /** Why there are none, as a sentence. */
  readonly problem?: string;
}

/**
 * Returns the models on this device, and those that can be downloaded; none if they cannot run in this program. A directory
 * that cannot be read has none; a download reports why.
 */
export async function findDeviceModels(
  host: Pick<Host, "env" | "fetch">,
  problem: string | undefined = findLlamaProblem(),
): Promise<DeviceModels> {
  if (problem !== undefined) return { models: [], problem };
  const stored = await listStoredModels(host);
  const chats = stored.filter(({ name, preset }) =>
    preset ? preset.purpose === "chat" : isChatModel(name)
  );
  const missing = PRESETS.filter(({ name, purpose }) =>
    purpose === "chat" && !stored.some((model) => model.name === name)
  );
  return {
    models: [
      ...chats.map(({ name }) => ({ name: `local/${name}`, server: "this device" })),
      ...missing.map(({ name, size }) => ({
        name: `local/${name}`,
        server: `download ${formatBytes(size)}`,
        download: name,
      })),
    ],
  };
}

/** Downloads a preset, with a progress bar; returns whether it is complete. */
export async function downloadModel(
  name: string,
  { host, signal }: { readonly host: Host; readonly signal: AbortSignal },
): Promise<boolean> {
  const store = openModelStore(host);
  const bar = new DownloadBar(name, host);
  try {
    const onProgress = bar.update.bind(bar);
    await store.download(await store.find(name), { signal, onProgress });
    return true;
  } catch (error) {
    if (!signal.aborted && !AgentError.is(error)) throw error;
    await bar.close();
    const message = signal.aborted
      ? `The part is kept; continue it with: swink models local pull ${name}`
      : getErrorMessage(error);
    await host.terminal.messages.write(`  ${message}\n`);
    return false;
  } finally {
    await bar.close();
  }
}
