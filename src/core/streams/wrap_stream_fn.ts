/**
 * Wraps a stream function.
 *
 * @module
 */

import { BadRequestError } from "../errors/errors.ts";
import type { AssistantMessageEvent, StreamFn, StreamRequest } from "./stream.ts";

/** The properties of a stream function. */
const FACTS = [
  "hasStrictSchema",
  "prices",
  "contextWindow",
  "maxOutputTokens",
  "loadFacts",
] as const;

/**
 * Wraps a stream function, for example to log requests or to change them, and keeps what it knows about its models: the
 * strict schemas, prices and limits. `call` gets every request and the wrapped function.
 *
 * @example
 * ```ts
 * import { wrapStreamFn } from "@swink/agent";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const requested: string[] = [];
 * const streamFn = wrapStreamFn(scriptedStream([reply("Hello")]), (request, next) => {
 *   requested.push(request.model.modelId);
 *   return next(request);
 * });
 * ```
 */
export function wrapStreamFn(
  inner: StreamFn,
  call: (request: StreamRequest, next: StreamFn) => AsyncIterable<AssistantMessageEvent>,
): StreamFn {
  if (typeof inner !== "function" || typeof call !== "function") {
    throw new BadRequestError("Pass a StreamFn, and a function that calls it");
  }
  const facts = FACTS.filter((name) => inner[name]).map((name) => [name, inner[name]]);
  return Object.assign(
    (request: StreamRequest) => call(request, inner),
    Object.fromEntries(facts),
  );
}
