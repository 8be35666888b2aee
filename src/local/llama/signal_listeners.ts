/**
 * Listeners for signals that packages add.
 *
 * @module
 */

import {
  getNodeProcess,
  type NodeProcess,
  type ProcessListener,
} from "../../platform/builtin_modules.ts";

/**
 * Loads a package without the listeners for signals that it adds to the process.
 *
 * A dependency of `node-llama-cpp`, `signal-exit`, ends the process on Ctrl+C unless another listener of Node is present.
 * It does not know those of Deno, so that a program could no longer handle the signal.
 */
export async function loadWithoutSignals<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  const process = getNodeProcess();
  const before = process ? listListeners(process) : new Map<string, ProcessListener[]>();
  const loaded = await load();
  if (!process) return loaded;
  for (const [signal, listeners] of listListeners(process)) {
    const known = before.get(signal) ?? [];
    for (const listener of listeners) {
      if (!known.includes(listener)) process.removeListener?.(signal, listener);
    }
  }
  return loaded;
}

function listListeners(process: NodeProcess): Map<string, ProcessListener[]> {
  const signals = (process.eventNames?.() ?? []).filter((name): name is string =>
    typeof name === "string" && name.startsWith("SIG")
  );
  return new Map(signals.map((signal) => [signal, process.listeners?.(signal) ?? []]));
}
