/**
 * The attributes of the GenAI conventions of OpenTelemetry, release 0.1.0, and those of MCP for clients:
 * https://github.com/open-telemetry/semantic-conventions-genai (`docs/gen-ai`).
 *
 * @module
 */

/** How much an attribute is required; `opt_in` only with content. */
export type Level = "required" | "conditional" | "recommended" | "opt_in";

/** An attribute of a span. */
export interface ConventionAttribute {
  readonly name: string;
  readonly level: Level;
  /** The JavaScript type of the value; an array of texts is `texts`. */
  readonly type: "string" | "number" | "boolean" | "texts";
  /** The reason why it is never set. Default: it is set. */
  readonly unset?: string;
}

type Row = readonly [
  name: string,
  level: Level,
  type: ConventionAttribute["type"],
  unset?: string,
];

const NOT_IN_OPTIONS = "the options of a request have no such setting";
const NO_MODALITIES = "providers report tokens without their modality, or with names of their own";
const NO_ADDRESS = "the agent does not know the address; the span of the request has it";

const COMMON: readonly Row[] = [
  ["gen_ai.operation.name", "required", "string"],
  ["gen_ai.provider.name", "required", "string"],
  ["gen_ai.request.model", "conditional", "string"],
  ["gen_ai.conversation.id", "conditional", "string"],
  ["gen_ai.agent.name", "conditional", "string"],
  ["error.type", "conditional", "string"],
  ["gen_ai.response.finish_reasons", "recommended", "texts"],
  ["gen_ai.usage.input_tokens", "recommended", "number"],
  ["gen_ai.usage.output_tokens", "recommended", "number"],
  ["gen_ai.usage.cache_read.input_tokens", "recommended", "number"],
  ["gen_ai.usage.cache_write.input_tokens", "recommended", "number"],
  ["gen_ai.usage.reasoning.output_tokens", "recommended", "number"],
  ["gen_ai.input.messages", "opt_in", "string"],
  ["gen_ai.output.messages", "opt_in", "string"],
];

const ROWS: Readonly<Record<"chat" | "invoke_agent" | "execute_tool" | "mcp", readonly Row[]>> = {
  chat: [
    ...COMMON,
    ["gen_ai.output.type", "conditional", "string"],
    ["gen_ai.request.seed", "conditional", "number"],
    ["gen_ai.request.stream", "conditional", "boolean"],
    ["gen_ai.prompt.name", "conditional", "string", "prompts have no names"],
    ["gen_ai.prompt.version", "conditional", "string", "prompts have no names"],
    ["gen_ai.request.choice.count", "conditional", "number", "it is always 1"],
    ["gen_ai.request.top_k", "conditional", "number", NOT_IN_OPTIONS],
    ["server.address", "recommended", "string", NO_ADDRESS],
    ["server.port", "conditional", "number", NO_ADDRESS],
    ["gen_ai.conversation.compacted", "recommended", "boolean"],
    ["gen_ai.request.max_tokens", "recommended", "number"],
    ["gen_ai.request.reasoning.level", "recommended", "string"],
    ["gen_ai.request.stop_sequences", "recommended", "texts"],
    ["gen_ai.request.temperature", "recommended", "number"],
    ["gen_ai.request.top_p", "recommended", "number"],
    ["gen_ai.request.frequency_penalty", "recommended", "number", NOT_IN_OPTIONS],
    ["gen_ai.request.presence_penalty", "recommended", "number", NOT_IN_OPTIONS],
    ["gen_ai.request.previous_response.id", "recommended", "string", "requests have the history"],
    ["gen_ai.response.id", "recommended", "string"],
    ["gen_ai.response.model", "recommended", "string", "replies have the requested model"],
    ["gen_ai.response.time_to_first_chunk", "recommended", "number"],
    ["gen_ai.usage.audio.cache_read.input_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.image.cache_read.input_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.text.cache_read.input_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.audio.input_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.audio.output_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.image.input_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.image.output_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.text.input_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.usage.text.output_tokens", "recommended", "number", NO_MODALITIES],
    ["gen_ai.system_instructions", "opt_in", "string"],
    ["gen_ai.tool.definitions", "opt_in", "string"],
  ],
  invoke_agent: [
    ...COMMON,
    ["gen_ai.agent.description", "conditional", "string"],
    ["gen_ai.agent.version", "conditional", "string"],
    ["gen_ai.data_source.id", "conditional", "string", "agents have no data sources"],
  ],
  execute_tool: [
    ["gen_ai.operation.name", "required", "string"],
    ["gen_ai.tool.name", "required", "string"],
    ["error.type", "conditional", "string"],
    ["gen_ai.tool.call.id", "recommended", "string"],
    ["gen_ai.tool.description", "recommended", "string"],
    ["gen_ai.tool.type", "recommended", "string"],
    ["gen_ai.tool.call.arguments", "opt_in", "string"],
    ["gen_ai.tool.call.result", "opt_in", "string"],
  ],
  // On the span of the tool call, as the conventions recommend where it exists.
  mcp: [
    ["mcp.method.name", "required", "string"],
    ["gen_ai.tool.name", "conditional", "string"],
    ["jsonrpc.request.id", "conditional", "string", "the client of the protocol does not tell it"],
    ["rpc.response.status_code", "conditional", "string", "the client does not tell it"],
    ["mcp.protocol.version", "recommended", "string"],
    ["mcp.session.id", "recommended", "string"],
    ["network.transport", "recommended", "string"],
    ["network.protocol.name", "recommended", "string"],
    ["network.protocol.version", "recommended", "string", "fetch does not tell it"],
    ["server.address", "recommended", "string"],
    ["server.port", "recommended", "number"],
  ],
};

/** The attributes of each kind of span. */
export const CONVENTIONS: Readonly<Record<keyof typeof ROWS, readonly ConventionAttribute[]>> = {
  chat: ROWS.chat.map(toAttribute),
  invoke_agent: ROWS.invoke_agent.map(toAttribute),
  execute_tool: ROWS.execute_tool.map(toAttribute),
  mcp: ROWS.mcp.map(toAttribute),
};

function toAttribute([name, level, type, unset]: Row): ConventionAttribute {
  return { name, level, type, ...(unset !== undefined && { unset }) };
}
