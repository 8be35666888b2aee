/**
 * Advice about the key of a provider.
 *
 * @module
 */

import { keyVariables } from "../../../adapters/connect.ts";
import type { AgentError } from "../../../mod.ts";
import type { Host } from "../../host/host.ts";

/** Returns what to do about a key that the provider has rejected; `undefined` for another error. */
export function getKeyAdvice(
  { provider = "", status }: Pick<AgentError, "provider" | "status">,
  env: Host["env"],
): string | undefined {
  // Without a status no request was sent, and the message already reports the missing key.
  if (status === undefined || provider === "") return undefined;
  const variable = keyVariables(provider).find((name) => (env(name) ?? "") !== "");
  const key = variable === undefined
    ? `the key that key_command prints or swink login ${provider} has saved`
    : `the key in ${variable}`;
  return `Check that ${key} is valid and may use this model.`;
}
