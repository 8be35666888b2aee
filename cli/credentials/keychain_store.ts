/**
 * The keychain of macOS, through `security`.
 *
 * @module
 */

import { encodeHex } from "../../src/core/text/byte_encoding.ts";
import { createCaller } from "./call_program.ts";
import type { CredentialStore } from "./credential_store.ts";

/** Exit code for an entry that does not exist, errSecItemNotFound. */
const NOT_FOUND = 44;

/**
 * Creates a store in the keychain of the user.
 *
 * @param program Name or path of `security`.
 */
export function createKeychainStore(program = "security"): CredentialStore {
  const { run, check } = createCaller(program);
  return {
    name: "the keychain",
    async read(provider) {
      const result = await run(["find-generic-password", ...getAttributes(provider), "-w"]);
      if (result.type === "ended" && result.code === NOT_FOUND) return undefined;
      return check(result) || undefined;
    },
    async write(provider, key) {
      // With -i, commands are read from standard input. -X takes the key in hexadecimal, which needs no quotes.
      const attributes = getAttributes(provider).join(" ");
      const command = `add-generic-password -U ${attributes} -X ${
        encodeHex(new TextEncoder().encode(key))
      }\n`;
      check(await run(["-i"], command));
    },
    async delete(provider) {
      const result = await run(["delete-generic-password", ...getAttributes(provider)]);
      if (result.type === "ended" && result.code === NOT_FOUND) return;
      check(result);
    },
  };
}

/** `provider` has only letters, digits and hyphens. */
function getAttributes(provider: string): string[] {
  return ["-s", "swink", "-a", provider];
}
