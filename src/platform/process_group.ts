/**
 * Ends processes together with the group that they lead.
 *
 * @module
 */

import { createDeferred } from "../core/ports/deferred.ts";
import { system } from "./system.ts";

/** Time between SIGTERM and SIGKILL for children whose parent has ended. */
const ORPHAN_GRACE_MS = 20;

/** Ends a process group: SIGTERM, then SIGKILL after `graceMs` milliseconds. Waits until its leader has ended. */
export async function terminateGroup(
  pid: number,
  exited: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  if (!signalGroup(pid, "SIGTERM")) return;
  const leaderEnded = await settlesWithin(graceMs, exited);
  if (leaderEnded) {
    await new Promise((resolve) => setTimeout(resolve, Math.min(ORPHAN_GRACE_MS, graceMs)));
  }
  signalGroup(pid, "SIGKILL");
  await exited;
}

/** Sends a signal to a process group; returns whether it still exists. */
function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): boolean {
  try {
    system.kill(system.build.os === "windows" ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Returns whether a promise resolves within a time; rejects if it rejects. */
export async function settlesWithin(
  milliseconds: number,
  promise: Promise<unknown>,
): Promise<boolean> {
  const { promise: timeout, resolve } = createDeferred<false>();
  const timer = setTimeout(resolve, milliseconds, false);
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
