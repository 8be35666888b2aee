/**
 * Messages of provider errors, in the terms of the command line.
 *
 * @module
 */

import type { AgentError } from "../../mod.ts";

/** Hint of the library that the URL of the provider may be wrong. */
const URL_HINT = /[:( ]*check the baseUrl\)?/;

/** Returns the message of an error; `baseUrl` is the value of `--base-url`. */
export function formatError({ message, provider = "" }: AgentError, baseUrl?: string): string {
  const asked = baseUrl === undefined ? "" : ` (asked: ${baseUrl})`;
  const text = message.replace(URL_HINT, `; check --base-url${asked}`);
  const server = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.host;
  const prefix = `${provider} answered `;
  if (server === undefined || provider === "" || !text.startsWith(prefix)) return text;
  const answer = text.slice(prefix.length);
  return `${server} (${provider})${/^\d/.test(answer) ? ":" : " answered"} ${answer}`;
}

/** Whether the URL of the provider is probably wrong: it has no API, or a web page. */
export function pointsToBaseUrl({ message }: Pick<AgentError, "message">): boolean {
  return URL_HINT.test(message);
}
