/**
 * The models on this device, as the program uses them.
 *
 * @module
 */

import { getErrorMessage } from "../../src/core/errors/errors.ts";
import { ModelStore, type StoredModel } from "../../src/local/mod.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { Host } from "../host/host.ts";

/**
 * Opens the directory of the models.
 *
 * @throws {ConfigurationError} For a user without a home directory.
 */
export function openModelStore({ env, fetch }: Pick<Host, "env" | "fetch">): ModelStore {
  const store = new ModelStore({ env, fetch });
  try {
    void store.directory;
  } catch (error) {
    throw new ConfigurationError(getErrorMessage(error));
  }
  return store;
}

/** Lists the models on this device; none if their directory cannot be read. */
export async function listStoredModels(
  host: Pick<Host, "env" | "fetch">,
): Promise<readonly StoredModel[]> {
  const store = openModelStore(host);
  try {
    return await store.list();
  } catch {
    return [];
  }
}

/** Counts the models on this device; 0 if they cannot be listed. */
export async function countStoredModels(host: Pick<Host, "env" | "fetch">): Promise<number> {
  try {
    return (await listStoredModels(host)).length;
  } catch {
    return 0;
  }
}
