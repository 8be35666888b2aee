/**
 * The shape of a request to a proxy.
 *
 * @module
 */

import { THINKING_LEVELS } from "../../src/core/model.ts";
import type { StreamOptions } from "../../src/core/stream.ts";
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

const IMAGE = objectWith({
  source: discriminatedUnion("type", {
    base64: objectWith({ mediaType: nonEmptyString, data: string }),
    url: objectWith({ url: nonEmptyString }),
    file: objectWith({ path: nonEmptyString }, { mediaType: string }),
  }),
});

const BLOCKS = array(discriminatedUnion("type", {
  text: objectWith({ text: string }, { signature: string }),
  thinking: objectWith({ thinking: string }, { signature: string, redacted: boolean }),
  tool_call: objectWith({ id: string, name: string, arguments: object }, { signature: string }),
  image: IMAGE,
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

/** The options that travel, by name. */
const OPTIONS: Readonly<Record<Exclude<keyof StreamOptions, "apiKey">, Validator>> = {
  temperature: number,
  maxTokens: nonNegativeInteger,
  sessionId: string,
  transport: oneOf("sse"),
  cache: oneOf("off", "short", "long"),
  toolChoice: union(oneOf("auto", "none", "required"), objectWith({ name: nonEmptyString })),
  responseSchema: object,
  extra: object,
};

const REQUEST = objectWith({ model: MODEL, messages: MESSAGES }, {
  systemPrompt: string,
  tools: TOOLS,
  options: objectWith({}, OPTIONS),
});

/** A request that was read, or what is wrong with it. */
export type RequestParseResult =
  | { readonly type: "request"; readonly request: ProxyRequest }
  | { readonly type: "problem"; readonly problem: string };

/** Reads a request; members that it does not know, a key among them, are left behind. */
export function parseProxyRequest(body: string): RequestParseResult {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { type: "problem", problem: "The body must be JSON" };
  }
  const problem = REQUEST(value);
  if (problem !== undefined) return { type: "problem", problem: `The body${problem}` };
  const asked = value as Pick<ProxyRequest, "model" | "messages"> & Partial<ProxyRequest>;
  const { model, messages, systemPrompt = "", tools = [], options = {} } = asked;
  const request = { model, systemPrompt, messages, tools, options: pickKnownOptions(options) };
  return { type: "request", request };
}

function pickKnownOptions(options: ProxyRequest["options"]): ProxyRequest["options"] {
  return Object.fromEntries(
    Object.entries(options).filter(([option]) => Object.hasOwn(OPTIONS, option)),
  );
}
