/**
 * Servers with the chat completions API, and what they do not accept.
 *
 * Their replies need no table: the reader accepts the forms of all of them.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import { isJsonObject } from "../../../src/core/json/json.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { toGrammarSchema } from "./grammar_schema.ts";

/** A server with the chat completions API. */
export interface CompatibleServer {
  /** Name of the service or program. */
  readonly name: string;
  /** Hosts of a service. */
  readonly hosts?: readonly string[];
  /** Default port of a program on the local machine. */
  readonly localPort?: string;
  /** Name of the provider that is a program, at any URL. */
  readonly provider?: string;
  /** How to start a program. */
  readonly connectHint?: string;
  /** Fields with which a request is rejected. */
  readonly refusedFields?: readonly string[];
  /** Whether the schemas of tools are converted to a grammar, which does not support all of them. Default: `false`. */
  readonly hasGrammar?: boolean;
  /** Whether `tool_choice` must be a text, so that no single tool can be required. Default: `false`. */
  readonly hasTextToolChoice?: boolean;
  /** Whether `tool_choice` must be `auto`, so that no call can be required or forbidden. Default: `false`. */
  readonly hasAutoToolChoice?: boolean;
}

/** The known servers. */
const COMPATIBLE_SERVERS: readonly CompatibleServer[] = [
  { name: "OpenRouter", hosts: ["openrouter.ai"] },
  { name: "Vercel", hosts: ["ai-gateway.vercel.sh"] },
  {
    name: "Groq",
    hosts: ["api.groq.com"],
    refusedFields: ["logit_bias", "logprobs", "top_logprobs"],
  },
  { name: "DeepSeek", hosts: ["api.deepseek.com"] },
  { name: "Together", hosts: ["api.together.xyz", "api.together.ai"] },
  { name: "Fireworks", hosts: ["api.fireworks.ai"] },
  {
    name: "Cerebras",
    hosts: ["api.cerebras.ai"],
    refusedFields: ["frequency_penalty", "logit_bias", "presence_penalty", "service_tier"],
  },
  { name: "Mistral", hosts: ["api.mistral.ai"], refusedFields: ["stream_options", "seed"] },
  { name: "xAI", hosts: ["api.x.ai"] },
  { name: "z.ai", hosts: ["api.z.ai", "open.bigmodel.cn"], hasAutoToolChoice: true },
  { name: "Hugging Face", hosts: ["router.huggingface.co"] },
  {
    name: "llama.cpp",
    localPort: "8080",
    provider: "llamacpp",
    connectHint: "start llama.cpp with `llama-server -m <model>.gguf`",
    hasGrammar: true,
    // It reads an object as "auto", without an error.
    hasTextToolChoice: true,
  },
  {
    name: "LM Studio",
    localPort: "1234",
    provider: "lmstudio",
    connectHint: "start the server of LM Studio with `lms server start`",
    hasGrammar: true,
    hasTextToolChoice: true,
  },
  { name: "vLLM", localPort: "8000", connectHint: "start vLLM with `vllm serve <model>`" },
  { name: "Ollama", localPort: "11434", connectHint: "start Ollama with `ollama serve`" },
];

const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)$/;

/** Returns the server at a URL, if it is known. */
export function findServer(baseUrl: string): CompatibleServer | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { hostname, port } = new URL(baseUrl);
  const isLocal = LOCAL_HOST.test(hostname);
  return COMPATIBLE_SERVERS.find(({ hosts, localPort }) =>
    hosts?.includes(hostname) || (isLocal && localPort === port)
  );
}

/** Returns the program of a provider, if it is known. */
export function findProgram(name: string): CompatibleServer | undefined {
  return COMPATIBLE_SERVERS.find(({ provider }) => provider === name);
}

/** Returns a body without the fields that a server rejects; reports those of the caller as a warning. */
export function adaptBody(
  body: JsonObject,
  server: CompatibleServer,
  sink: WarningSink,
): JsonObject {
  const { name, refusedFields = [], hasTextToolChoice = false, hasAutoToolChoice = false } = server;
  const refused = refusedFields.filter((field) => body[field] !== undefined);
  const unexpected = refused.filter((field) => field !== "stream_options");
  if (unexpected.length > 0) {
    sink.warning("field_left_out", `${name} does not support ${unexpected.join(", ")}`);
  }
  const kept = Object.entries(body).filter(([field]) => !refused.includes(field));
  const accepted = adaptTools(Object.fromEntries(kept), server);
  if (hasAutoToolChoice) return withAutoToolChoice(accepted, name, sink);
  return hasTextToolChoice ? withTextToolChoice(accepted) : accepted;
}

function adaptTools(body: JsonObject, { hasGrammar }: CompatibleServer): JsonObject {
  const { tools } = body;
  return hasGrammar && Array.isArray(tools) ? { ...body, tools: tools.map(adaptTool) } : body;
}

function adaptTool(tool: unknown): unknown {
  const called = isJsonObject(tool) ? tool["function"] : undefined;
  if (!isJsonObject(tool) || !isJsonObject(called)) return tool;
  const { parameters } = called;
  if (!isJsonObject(parameters)) return tool;
  return { ...tool, function: { ...called, parameters: toGrammarSchema(parameters) } };
}

/** Forbids a call by sending no tools; a required call is omitted with a warning. */
function withAutoToolChoice(body: JsonObject, name: string, sink: WarningSink): JsonObject {
  const { tool_choice: choice, tools, ...others } = body;
  if (choice === undefined || choice === "auto") return body;
  if (choice === "none") return others;
  sink.warning("tool_choice_left_out", `${name} does not support a forced tool call`);
  return { ...others, tools };
}

/** Requires a single tool by sending no others. */
function withTextToolChoice(body: JsonObject): JsonObject {
  const { tool_choice: choice, tools } = body;
  const required = isJsonObject(choice) ? choice["function"] : undefined;
  if (!isJsonObject(required) || !Array.isArray(tools)) return body;
  const isRequired = (tool: unknown) =>
    isJsonObject(tool) && isJsonObject(tool["function"]) &&
    tool["function"]["name"] === required["name"];
  return { ...body, tools: tools.filter(isRequired), tool_choice: "required" };
}
