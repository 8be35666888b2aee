/**
 * The keyring of a Linux desktop, through `secret-tool` of libsecret.
 *
 * @module
 */

import type { CredentialStore } from "./credential_store.ts";
import { describeFailure, type ProgramResult, runProgram } from "../host/run_program.ts";

/** Unlocking the keyring asks the user for a password. */
const TIMEOUT_MS = 60_000;

/**
 * Creates a store in the keyring of the desktop.
 *
 * @param program Name or path of `secret-tool`.
 */
export function createSecretToolStore(program = "secret-tool"): CredentialStore {
  // The key is passed on standard input.
  const run = async (args: readonly string[], input = "") =>
    await runProgram({ command: [program, ...args], input, timeoutMs: TIMEOUT_MS });
  const check = (result: ProgramResult): string => {
    if (result.type === "ended" && result.code === 0) return result.output.trim();
    throw new Error(describeFailure({ command: [program] }, result));
  };
  return {
    name: "the keyring (secret-tool)",
    async read(provider) {
      const result = await run(["lookup", ...getAttributes(provider)]);
      // It ends with 1 and without a message when there is no such entry.
      if (result.type === "ended" && result.code === 1 && result.message === "") return undefined;
      return check(result) || undefined;
    },
    async write(provider, key) {
      const label = `--label=swink: key for ${provider}`;
      check(await run(["store", label, ...getAttributes(provider)], key));
    },
    async delete(provider) {
      check(await run(["clear", ...getAttributes(provider)]));
    },
  };
}

function getAttributes(provider: string): string[] {
  return ["service", "swink", "provider", provider];
}
