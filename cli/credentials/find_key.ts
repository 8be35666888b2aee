/**
 * The key for a provider that is not in an environment variable.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import { getProgramDirectories } from "../host/program_directories.ts";
import { Credentials } from "./credentials.ts";
import { runKeyCommand } from "./key_command.ts";
import { getKeyring } from "./keyring.ts";

/** Opens the saved keys; `undefined` for a user without a home directory. */
export function openCredentials({ env }: Pick<Host, "env">): Credentials | undefined {
  const directories = getProgramDirectories(env);
  return directories && new Credentials(directories, getKeyring(env));
}

/** Options for `findKey()`. */
export interface KeySearch {
  /** The key command. */
  readonly command: string | undefined;
  /** Kills the key command. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns the key for a provider: that of the key command if there is one, else the saved one.
 *
 * @throws {ConfigurationError} If the command fails, or the saved key cannot be read.
 */
export async function findKey(
  provider: string,
  { command, signal }: KeySearch,
  host: Pick<Host, "env">,
): Promise<string | undefined> {
  if (command !== undefined) return await runKeyCommand(command, { provider, signal });
  return await openCredentials(host)?.read(provider);
}

/** Whether the saved key of a provider is in a keyring that is not available here. */
export function isKeyUnavailable(provider: string, host: Pick<Host, "env">): boolean {
  return openCredentials(host)?.isUnavailable(provider) ?? false;
}
