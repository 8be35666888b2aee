/**
 * URLs of the user in output.
 *
 * @module
 */

import { REDACTED } from "../../src/core/text/redact.ts";

/** Parameters of a URL that may hold a key. */
const SECRET_PARAMETER = /auth|key|token|secret|sig|pass/i;

/** Returns a URL without the user name, the password and the keys that it may have. */
export function toShownUrl(text: string): string {
  const url = URL.parse(text);
  if (!url) return text;
  const secret = [...url.searchParams.keys()].filter((name) => SECRET_PARAMETER.test(name));
  if (url.username === "" && url.password === "" && secret.length === 0) return text;
  url.username = "";
  url.password = "";
  for (const name of secret) url.searchParams.set(name, REDACTED);
  return url.href;
}
