/**
 * The path behind an open descriptor.
 *
 * @module
 */

import { system } from "./system.ts";

/** Returns the canonical path of an open descriptor, without disk access; `undefined` except on Linux. */
export function getDescriptorPath(descriptor: number): string | undefined {
  if (system.build.os !== "linux") return undefined;
  try {
    return system.readLinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}
