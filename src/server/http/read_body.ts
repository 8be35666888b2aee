/**
 * Reads the JSON bodies of requests.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../core/json/json.ts";
import { findLostDigits, findParsedProblem } from "../../core/json/parsed_problem.ts";
import type { Clock } from "../../core/ports/ports.ts";
import { startTimer } from "../../core/ports/start_timer.ts";
import { validateToolArguments } from "../../core/schemas/validate_tool_arguments.ts";
import { createFailure, RequestFailure } from "./problem.ts";

/** Limits of a body. */
export interface BodyLimits {
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Maximum time until the end of the body, in milliseconds. */
  readonly timeoutMs: number;
  /** Timers. */
  readonly clock: Clock;
}

/** Maximum number of errors in a message. */
const MAX_ERRORS = 5;

/** A body that was read. */
export interface ReadBody {
  /** The text. */
  readonly text: string;
  /** The value, which the schema allows. */
  readonly value: JsonObject;
}

/** Reads a body and validates it; throws a `RequestFailure`. An empty body is an empty object. */
export async function readBody(
  request: Request,
  schema: JsonSchema,
  limits: BodyLimits,
): Promise<ReadBody> {
  checkHead(request, limits);
  const text = await readText(request, limits);
  // Servers give requests without a body an empty one.
  if (text !== "" && !request.headers.has("content-type")) throw createTypeFailure();
  const value = parse(text);
  const result = await validateToolArguments(schema, value);
  if (result.valid && isJsonObject(value)) return { text, value };
  const errors = result.valid ? [] : result.errors;
  const listed = errors.slice(0, MAX_ERRORS).map(({ path, message }) =>
    `${path || "the body"} ${message}`.slice(0, 300)
  );
  throw createFailure(
    "bad_request",
    `Invalid body: ${listed.join("; ") || "it must be an object"}`,
  );
}

function checkHead({ headers }: Request, { maxBytes }: BodyLimits): void {
  if (Number(headers.get("content-length")) > maxBytes) throw createSizeFailure(maxBytes);
  const type = headers.get("content-type");
  // A web page of another origin cannot send this type without a preflight request.
  if (type === null || /^application\/json(?:\s*;|$)/i.test(type)) return;
  throw createTypeFailure();
}

function createTypeFailure(): Error {
  return createFailure(
    "unsupported_media_type",
    "Send JSON with the header content-type: application/json",
  );
}

async function readText({ body }: Request, limits: BodyLimits): Promise<string> {
  if (!body) return "";
  const { maxBytes, timeoutMs, clock } = limits;
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let isLate = false;
  const stopTimer = startTimer(clock, timeoutMs, () => {
    isLate = true;
    reader.cancel().catch(() => {});
  });
  try {
    let text = "";
    let size = 0;
    while (true) {
      const { done, value } = await reader.read();
      if (isLate) throw createTimeFailure(timeoutMs);
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > maxBytes) throw createSizeFailure(maxBytes);
      text += decoder.decode(value, { stream: true });
    }
  } catch (thrown) {
    // Not awaited: a client that sends without end must not hold the request.
    reader.cancel().catch(() => {});
    if (isLate) throw createTimeFailure(timeoutMs);
    if (thrown instanceof RequestFailure) throw thrown;
    // Each runtime has an error of its own for a connection that broke.
    throw createFailure(
      "bad_request",
      "The body is not UTF-8, or the connection broke while it was read",
    );
  } finally {
    stopTimer();
  }
}

function createSizeFailure(maxBytes: number): Error {
  return createFailure("body_too_large", `The body must not be larger than ${maxBytes} bytes`);
}

function createTimeFailure(timeoutMs: number): Error {
  return createFailure(
    "body_timeout",
    `The body was not received within ${timeoutMs} ms: send it again`,
  );
}

function parse(text: string): unknown {
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw createFailure("bad_request", "The body is not JSON");
  }
  const problem = findParsedProblem(value);
  if (problem !== undefined) throw createFailure("bad_request", `The body is ${problem}`);
  // Approved arguments may have the id of something.
  const lost = findLostDigits(text);
  if (lost !== undefined) throw createFailure("bad_request", lost);
  return value;
}
