/**
 * The shape of a request to a proxy.
 *
 * @module
 */

import { THINKING_LEVELS } from "../../src/core/model.ts";
import type { StreamOptions } from "../../src/core/stream.ts";
import {
  count,
  either,
  fields,
  flag,
  list,
  name,
  number,
  object,
  type Shape,
  table,
  text,
  variants,
  word,
} from "./shape.ts";
import type { ProxyRequest } from "./wire.ts";

const MODEL = fields({ provider: name, modelId: name, thinkingLevel: word(...THINKING_LEVELS) }, {
  thinkingBudgets: table(count),
});

const IMAGE = fields({
  source: variants("type", {
    base64: fields({ mediaType: name, data: text }),
    url: fields({ url: name }),
    file: fields({ path: name }, { mediaType: text }),
  }),
});

const BLOCKS = list(variants("type", {
  text: fields({ text }, { signature: text }),
  thinking: fields({ thinking: text }, { signature: text, redacted: flag }),
  tool_call: fields({ id: text, name: text, arguments: object }, { signature: text }),
  image: IMAGE,
  extension: fields({ typeName: text }),
}));

const MESSAGES = list(variants("role", {
  user: fields({ content: BLOCKS }),
  assistant: fields({ content: BLOCKS, provider: text, modelId: text }),
  tool_result: fields({ toolCallId: text, toolName: text, content: BLOCKS, isError: flag }),
}));

const TOOLS = list(fields({ name, description: text, parameters: object }));

/** The options that travel, by name. */
const OPTIONS: Readonly<Record<Exclude<keyof StreamOptions, "apiKey">, Shape>> = {
  temperature: number,
  maxTokens: count,
  sessionId: text,
  transport: word("sse"),
  cache: word("off", "short", "long"),
  toolChoice: either(word("auto", "none", "required"), fields({ name })),
  responseSchema: object,
  extra: object,
};

const REQUEST = fields({ model: MODEL, messages: MESSAGES }, {
  systemPrompt: text,
  tools: TOOLS,
  options: fields({}, OPTIONS),
});

/** A request that was read, or what is wrong with it. */
export type ReadRequest =
  | { readonly type: "request"; readonly request: ProxyRequest }
  | { readonly type: "problem"; readonly problem: string };

/** Reads a request; members that it does not know, a key among them, are left behind. */
export function readProxyRequest(body: string): ReadRequest {
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
  const request = { model, systemPrompt, messages, tools, options: knownOptions(options) };
  return { type: "request", request };
}

function knownOptions(options: ProxyRequest["options"]): ProxyRequest["options"] {
  return Object.fromEntries(
    Object.entries(options).filter(([option]) => Object.hasOwn(OPTIONS, option)),
  );
}
