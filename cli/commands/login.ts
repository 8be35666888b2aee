/**
 * `swink login`: saves the key of a provider.
 *
 * @module
 */

import { defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";

/** `swink login`. */
export const login = defineCommand({
  name: "login",
  summary: "Saves the key of a provider",
  details:
    "The key is typed, or read from standard input. It is kept in the keyring of the system, " +
    "or in a file that only you can read where there is none.",
  arguments: [{ name: "provider", description: "Name of the provider, such as anthropic." }],
  examples: [
    ["swink login anthropic", "asks for the key"],
    ["pass show openai | swink login openai", "reads it from a program"],
  ],
  exitCodes: [ExitCode.ok, ExitCode.usage, ExitCode.configuration, ExitCode.interrupted],
  async action({ arguments: [provider = ""] }, host) {
    const { saveKey } = await loadActions();
    return await saveKey(provider, host);
  },
});

/** `swink logout`. */
export const logout = defineCommand({
  name: "logout",
  summary: "Deletes the saved key of a provider",
  arguments: [{ name: "provider", description: "Name of the provider." }],
  examples: [["swink logout openai", "deletes the saved key"]],
  exitCodes: [ExitCode.ok, ExitCode.usage, ExitCode.configuration],
  async action({ arguments: [provider = ""] }, host) {
    const { deleteKey } = await loadActions();
    return await deleteKey(provider, host);
  },
});

/** `swink keys`. */
export const keys = defineCommand({
  name: "keys",
  summary: "Lists the providers with a key, and where each key is; never the keys",
  examples: [["swink keys", "where each key is"]],
  exitCodes: [ExitCode.ok],
  async action(_invocation, host) {
    const { listKeys } = await loadActions();
    return await listKeys(host);
  },
});

function loadActions(): Promise<typeof import("../credentials/key_actions.ts")> {
  return importLate("../credentials/key_actions.ts", import.meta.url);
}
