/**
 * The keyring of a Linux desktop, through `secret-tool` of libsecret.
 *
 * @module
 */

import { createCaller } from "./call_program.ts";
import type { CredentialStore } from "./credential_store.ts";

/**
 * Creates a store in the keyring of the desktop.
 *
 * @param program Name or path of `secret-tool`.
 */
export function createSecretToolStore(program = "secret-tool"): CredentialStore {
  const { run, check } = createCaller(program);
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
