/**
 * Messages of provider errors, in the terms of the command line.
 *
 * @module
 */

import type { AgentError } from "../../mod.ts";
import { toShownUrl } from "./shown_url.ts";

/** Hint of the library that the URL of the provider may be wrong. */
const URL_HINT = /[:( ]*check the baseUrl\)?/;

/** Returns the message of an error; `baseUrl` is the value of `--base-url`. */
export function formatError({ message, provider = "" }: AgentError, baseUrl?: string): string {
  const asked = baseUrl === undefined ? "" : ` (asked: ${toShownUrl(baseUrl)})`;
  const text = toCliTerms(message.replace(URL_HINT, `; check --base-url${asked}`));
  const server = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.host;
  const prefix = `${provider} answered `;
  if (server === undefined || provider === "" || !text.startsWith(prefix)) return text;
  const answer = text.slice(prefix.length);
  return `${server} (${provider})${/^\d/.test(answer) ? ":" : " answered"} ${answer}`;
}

/** Advice of the library, and what to do at the command line. */
const CLI_TERMS: readonly (readonly [advice: RegExp, replacement: string])[] = [
  [/(?<=(?:change|to) )the baseUrl/, "--base-url"],
  [/pass baseUrl to createAzure\(\)/, "set AZURE_OPENAI_ENDPOINT or --base-url"],
  [
    /pass region \(for example ("[^"]*")\) to createBedrock\(\), or set AWS_REGION for connect\(\)/,
    "set AWS_REGION, for example to $1",
  ],
  [/ in the environment, or pass providers: .* to connect\(\)/, ""],
  [/(?<=: close it there), open it for reading only, or fork it/, ""],
  [
    /Add the price of the model or tool, or set unknownPrice to "ignore"/,
    "Omit --max-budget-usd; --max-turns and --timeout limit a run, too",
  ],
];

/** Replaces the names of options of the library in its advice. */
export function toCliTerms(message: string): string {
  return CLI_TERMS.reduce(
    (text, [advice, replacement]) => text.replace(advice, replacement),
    message,
  );
}

/** Whether the URL of the provider is probably wrong: it has no API, or a web page. */
export function pointsToBaseUrl({ message }: Pick<AgentError, "message">): boolean {
  return URL_HINT.test(message);
}
