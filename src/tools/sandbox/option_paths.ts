/**
 * Checks the options of a sandbox: their paths, and whether they contradict each other.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { isAbsolute, join } from "../../platform/paths.ts";
import { system } from "../../platform/system.ts";
import { toFileError } from "../files/file_error.ts";
import { containsHome } from "./home_directory.ts";
import type { SandboxNet } from "./sandbox.ts";

/** Throws if a directory that commands can write contains the home directory. */
export function refuseHome(directory: string): void {
  if (!containsHome(directory)) return;
  throw new BadRequestError(
    `The sandbox may not write in ${
      JSON.stringify(directory)
    }, because it contains the home directory with its settings and keys. Use the directory of a project, or set homeAccess to "allow".`,
  );
}

/** Returns the canonical form of the path of a directory. @throws {BadRequestError} If there is none. */
export function resolveDirectory(path: string): string {
  try {
    const canonical = system.realPathSync(path);
    if (system.statSync(canonical).isDirectory) return canonical;
  } catch (error) {
    throw toFileError(path, error);
  }
  throw new BadRequestError(`The sandbox root ${JSON.stringify(path)} is not a directory`);
}

/** Returns the absolute form of a path to hide. @throws {BadRequestError} For a pattern or `~`, which would hide nothing. */
export function toHiddenPath(path: string, root: string): string {
  if (!/\*|^~(?:\/|$)/.test(path)) return isAbsolute(path) ? path : join(root, path);
  throw new BadRequestError(
    `The sandbox cannot hide ${
      JSON.stringify(path)
    }: write the path of a file or a directory, not a pattern or "~"`,
  );
}

/** Options that a read-only sandbox cannot have with any value. */
interface ConfinementOptions {
  readonly net?: SandboxNet | undefined;
  readonly unixSockets?: boolean | undefined;
  readonly confinement?: "auto" | "required" | "off" | undefined;
}

/** Throws if an option of a read-only sandbox would let commands change something. */
export function refuseContradictions(
  { net = "off", unixSockets = false, confinement = "auto" }: ConfinementOptions,
): void {
  const option = net !== "off"
    ? "net"
    : unixSockets
    ? "unixSockets"
    : confinement === "off"
    ? "confinement"
    : undefined;
  if (option === undefined) return;
  throw new BadRequestError(
    `A read-only sandbox cannot have the option ${option}: its commands are confined, and have no network and no sockets`,
  );
}
