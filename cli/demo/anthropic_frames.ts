/**
 * Replies in the format of Anthropic's Messages API: server-sent events.
 *
 * @module
 */

/** A part of a reply: text, thinking or a tool call. */
export type ScriptedBlock =
  | string
  | { readonly thinking: string }
  | { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };

/** A reply of a scripted model. */
export interface ScriptedReply {
  /** Text and tool calls, in order. */
  readonly blocks: readonly ScriptedBlock[];
  /** Uncached input tokens. Default: 0. */
  readonly inputTokens?: number;
  /** Cached input tokens. Default: 0. */
  readonly cachedTokens?: number;
  /** Output tokens. Default: 0. */
  readonly outputTokens?: number;
  /** Stop reason. Default: `tool_use` with tool calls, else `end_turn`. */
  readonly stopReason?: string;
}

/** Characters of tool arguments per frame. */
const ARGUMENT_CHUNK_LENGTH = 24;

/** Creates the frames of a reply, in order. `number` makes the ids of the reply and its calls unique. */
export function createAnthropicFrames(reply: ScriptedReply, number: number): string[] {
  const { blocks, inputTokens = 0, cachedTokens = 0, outputTokens = 0 } = reply;
  const callsTools = blocks.some((block) => typeof block !== "string" && "tool" in block);
  const { stopReason = callsTools ? "tool_use" : "end_turn" } = reply;
  const usage = {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: 1,
  };
  const message = {
    id: `msg_${number}`,
    type: "message",
    role: "assistant",
    model: "scripted",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  return [
    formatFrame("message_start", { message }),
    ...blocks.flatMap((block, index) =>
      createBlockFrames(block, index, `toolu_${number}_${index}`)
    ),
    formatFrame("message_delta", {
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }),
    formatFrame("message_stop", {}),
  ];
}

function createBlockFrames(block: ScriptedBlock, index: number, id: string): string[] {
  const [content_block, deltas] = createBlock(block, id);
  return [
    formatFrame("content_block_start", { index, content_block }),
    ...deltas.map((delta) => formatFrame("content_block_delta", { index, delta })),
    formatFrame("content_block_stop", { index }),
  ];
}

function createBlock(block: ScriptedBlock, id: string): [content: object, deltas: object[]] {
  if (typeof block === "string") {
    const deltas = splitWords(block).map((text) => ({ type: "text_delta", text }));
    return [{ type: "text", text: "" }, deltas];
  }
  if ("thinking" in block) {
    const deltas = splitWords(block.thinking)
      .map((thinking) => ({ type: "thinking_delta", thinking }));
    const signature = { type: "signature_delta", signature: "c2NyaXB0" };
    return [{ type: "thinking", thinking: "", signature: "" }, [...deltas, signature]];
  }
  const { tool: name, input } = block;
  return [{ type: "tool_use", id, name, input: {} }, createArgumentDeltas(input)];
}

function splitWords(text: string): string[] {
  return text.match(/\S+\s*|\s+/g) ?? [];
}

function createArgumentDeltas(input: object): object[] {
  const json = JSON.stringify(input);
  const deltas: object[] = [];
  for (let start = 0; start < json.length; start += ARGUMENT_CHUNK_LENGTH) {
    const partial_json = json.slice(start, start + ARGUMENT_CHUNK_LENGTH);
    deltas.push({ type: "input_json_delta", partial_json });
  }
  return deltas;
}

function formatFrame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
