/**
 * Keys in files that only the user can read, for systems without a keyring.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";
import type { CredentialStore } from "./credential_store.ts";

/**
 * Keeps keys in files below the program's directory of state. Tools never use files of this name
 * (`src/platform/secret_places.ts`).
 */
export function createFileStore(directories: ProgramDirectories): CredentialStore {
  const directory = getCredentialDirectory(directories);
  const getFile = (provider: string) => join(directory, `${provider}.key`);
  return {
    name: `${directory} (files that only you can read)`,
    read: async (provider) => (await readIfExists(getFile(provider)))?.trim() || undefined,
    async write(provider, key) {
      await createPrivateDirectory(directory);
      const file = getFile(provider);
      const temporary = await Deno.makeTempFile({ dir: directory, suffix: ".key" });
      try {
        await Deno.chmod(temporary, 0o600);
        await Deno.writeTextFile(temporary, `${key}\n`);
        await Deno.rename(temporary, file);
      } catch (error) {
        await removeIfExists(temporary);
        throw error;
      }
    },
    delete: (provider) => removeIfExists(getFile(provider)),
  };
}

/** Returns the directory with the files of keys, and the marks of keys in a keyring. */
export function getCredentialDirectory({ state }: ProgramDirectories): string {
  return join(state, "credentials");
}

/** Creates a directory that only the user can read. */
export async function createPrivateDirectory(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
}

/** Reads a file; `undefined` if there is none. */
export async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Removes a file, if there is one. */
export async function removeIfExists(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
