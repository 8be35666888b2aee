/**
 * The keyring of the system.
 *
 * @module
 */

import type { Host } from "../host/host.ts";
import type { CredentialStore } from "./credential_store.ts";
import { createKeychainStore } from "./keychain_store.ts";
import { createSecretToolStore } from "./secret_tool_store.ts";
import { createWindowsStore } from "./windows_store.ts";

/**
 * Returns the keyring of the system; `undefined` where there is none, such as on a server without a desktop.
 *
 * @param os Name of the operating system, as in `Deno.build.os`.
 */
export function getKeyring(
  env: Host["env"],
  os: string = Deno.build.os,
): CredentialStore | undefined {
  switch (os) {
    case "darwin":
      return createKeychainStore();
    case "windows":
      return createWindowsStore();
    default:
      // Without a session bus, secret-tool starts one whose keyring cannot be unlocked.
      return env("DBUS_SESSION_BUS_ADDRESS") ? createSecretToolStore() : undefined;
  }
}
