/**
 * Reads and validates requests to a proxy.
 *
 * @module
 */

import { LimitedBytesTransformStream } from "@std/streams/limited-bytes-transform-stream";
import { toText } from "@std/streams/to-text";
import { THINKING_LEVELS } from "../../src/core/models/model.ts";
import type { Clock } from "../../src/core/ports/ports.ts";
import { startTimer } from "../../src/core/ports/start_timer.ts";
import type { StreamOptions } from "../../src/core/streams/stream.ts";
import { createBadRequest, type Rejection } from "./errors.ts";
import {
  array,
  boolean,
  discriminatedUnion,
  nonEmptyString,
  nonNegativeInteger,
  number,
  object,
  objectWith,
  oneOf,
  openUnion,
  record,
  string,
  union,
  type Validator,
} from "./validators.ts";
import type { ProxyRequest } from "./wire.ts";

const MODEL = objectWith({
  provider: nonEmptyString,
  modelId: nonEmptyString,
  thinkingLevel: oneOf(...THINKING_LEVELS),
}, {
  thinkingBudgets: record(nonNegativeInteger),
});

const SOURCES = {
  url: objectWith({ url: nonEmptyString }),
  file: objectWith({ path: nonEmptyString }, { mediaType: string }),
  provider_file: objectWith({ provider: nonEmptyString, id: nonEmptyString }),
};

const IMAGE = objectWith({
  source: discriminatedUnion("type", {
    ...SOURCES,
    base64: objectWith({ mediaType: nonEmptyString, data: string }),
  }),
});

const MEDIA = {
  mediaType: nonEmptyString,
  source: discriminatedUnion("type", { ...SOURCES, base64: objectWith({ data: string }) }),
};

/**
 * Blocks. Adapters omit those of an unknown type, which a newer version of the agent may have, and signatures, citations
 * and arguments of another form.
 */
const BLOCKS = array(openUnion("type", {
  text: objectWith({ text: string }),
  thinking: objectWith({ thinking: string }),
  tool_call: objectWith({ id: string, name: string }),
  image: IMAGE,
  document: objectWith(MEDIA, { name: string, citations: boolean }),
  audio: objectWith(MEDIA),
  extension: objectWith({ typeName: string }),
}));

const MESSAGES = array(discriminatedUnion("role", {
  user: objectWith({ content: BLOCKS }),
  assistant: objectWith({ content: BLOCKS, provider: string, modelId: string }),
  tool_result: objectWith({
    toolCallId: string,
    toolName: string,
    content: BLOCKS,
    isError: boolean,
  }),
}));

const TOOLS = array(objectWith({ name: nonEmptyString, description: string, parameters: object }));

const STRINGS = array(string);

const SERVER_TOOLS = array(discriminatedUnion("type", {
  web_search: objectWith({}, {
    maxUses: number,
    allowedDomains: STRINGS,
    blockedDomains: STRINGS,
    userLocation: object,
  }),
  web_fetch: objectWith({}, {
    maxUses: number,
    allowedDomains: STRINGS,
    blockedDomains: STRINGS,
  }),
  code_execution: objectWith({}, { fileIds: STRINGS }),
  file_search: objectWith({ stores: STRINGS }, { maxResults: number }),
  provider_tool: objectWith({ provider: nonEmptyString, definition: object }),
}));

/** The stream options that a request may contain. */
const OPTIONS: Readonly<Record<Exclude<keyof StreamOptions, "apiKey">, Validator>> = {
  temperature: number,
  topP: number,
  stop: array(string),
  seed: number,
  maxTokens: nonNegativeInteger,
  sessionId: string,
  transport: oneOf("sse"),
  cache: oneOf("off", "short", "long"),
  toolChoice: union(oneOf("auto", "none", "required"), objectWith({ name: nonEmptyString })),
  responseSchema: object,
  serverTools: SERVER_TOOLS,
  serviceTier: oneOf("auto", "default", "flex", "priority"),
  verbosity: oneOf("low", "medium", "high"),
  reasoningSummary: oneOf("off", "auto", "concise", "detailed"),
  extra: object,
};

const REQUEST = objectWith({ model: MODEL, messages: MESSAGES }, {
  systemPrompt: string,
  tools: TOOLS,
  options: objectWith({}, OPTIONS),
});

/** A valid request, or the reason for its rejection. */
export type RequestReadResult =
  | { readonly type: "request"; readonly request: ProxyRequest }
  | { readonly type: "rejected"; readonly rejection: Rejection };

/** Returns the reason for rejecting a request by its method or content type; `undefined` if both are valid. */
export function checkRequestHead({ method, headers }: Request): Rejection | undefined {
  if (method !== "POST") return createBadRequest(405, "The proxy accepts POST requests only");
  // A web page needs a preflight request to send JSON, and the proxy does not allow that.
  if (!/^application\/json\b/i.test(headers.get("content-type") ?? "")) {
    return createBadRequest(415, "The proxy accepts the content type application/json only");
  }
  return undefined;
}

/** Limits of the body of a request. */
export interface BodyLimits {
  /** Maximum size in bytes. */
  readonly maxBytes: number;
  /** Maximum time until the end of the body, in milliseconds. */
  readonly timeoutMs: number;
  /** Timers. */
  readonly clock: Clock;
}

/** Reads a request; a body over the limits is rejected without reading the rest. */
export async function readProxyRequest(
  request: Request,
  { maxBytes, timeoutMs, clock }: BodyLimits,
): Promise<RequestReadResult> {
  const tooLarge = createBadRequest(413, `The body must not be larger than ${maxBytes} bytes`);
  if (Number(request.headers.get("content-length")) > maxBytes) return reject(tooLarge);
  const limit = new LimitedBytesTransformStream(maxBytes, { error: true });
  const timeout = new AbortController();
  const { signal } = timeout;
  const stopTimer = startTimer(clock, timeoutMs, () => timeout.abort());
  let body: string;
  try {
    body = request.body ? await toText(request.body.pipeThrough(limit, { signal })) : "";
  } catch (error) {
    if (signal.aborted) return reject(createTimeoutRejection(timeoutMs));
    const broken = createBadRequest(400, "The connection broke while the body was read");
    return reject(error instanceof RangeError ? tooLarge : broken);
  } finally {
    stopTimer();
  }
  return parseProxyRequest(body);
}

function createTimeoutRejection(timeoutMs: number): Rejection {
  const message = `The body was not received within ${timeoutMs} ms`;
  return { status: 408, code: "network_error", message };
}

/** Parses the body of a request and drops unknown members, an API key among them. */
export function parseProxyRequest(body: string): RequestReadResult {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return reject(createBadRequest(400, "The body must be JSON"));
  }
  const problem = REQUEST(value);
  if (problem !== undefined) return reject(createBadRequest(400, `The body${problem}`));
  const valid = value as Pick<ProxyRequest, "model" | "messages"> & Partial<ProxyRequest>;
  const { model, messages, systemPrompt = "", tools = [] } = valid;
  const options = Object.fromEntries(
    Object.entries(valid.options ?? {}).filter(([option]) => Object.hasOwn(OPTIONS, option)),
  );
  return { type: "request", request: { model, systemPrompt, messages, tools, options } };
}

function reject(rejection: Rejection): RequestReadResult {
  return { type: "rejected", rejection };
}
