/**
 * Messages and tools as chat templates expect them: those of the template language of Hugging Face.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../core/json/json.ts";
import { type ContentBlock, extractText, extractToolCalls } from "../../core/messages/content.ts";
import type {
  AssistantMessage,
  LlmMessage,
  ToolResultMessage,
} from "../../core/messages/message.ts";
import type { LlmContext, ToolSpec } from "../../core/streams/stream.ts";

/** A message for a template. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  readonly reasoning_content?: string;
  /** The name of `reasoning_content` for gpt-oss, which accepts it before a call without a text. */
  readonly thinking?: string;
  readonly tool_calls?: readonly ChatToolCall[];
  readonly name?: string;
  readonly tool_call_id?: string;
}

/** A tool call for a template. */
export interface ChatToolCall {
  readonly type: "function";
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: JsonObject };
}

/** A tool for a template. */
export interface ChatTool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonSchema;
  };
}

/** Converts the texts of a conversation. */
export interface ChatMessageOptions {
  /** Divides special tokens in a text. */
  readonly protect: (text: string) => string;
  /** Returns the text that replaces a whole reply; `undefined` for a reply that this model did not write. */
  readonly findReply: (message: AssistantMessage) => string | undefined;
}

/** Converts a conversation. Neighbouring messages of the user are joined, since many templates require alternation. */
export function toChatMessages(
  { systemPrompt, messages }: LlmContext,
  options: ChatMessageOptions,
): ChatMessage[] {
  const { protect } = options;
  const callIds = new CallIds();
  const system: ChatMessage[] = systemPrompt === ""
    ? []
    : [{ role: "system", content: protect(systemPrompt) }];
  return joinNeighbours([
    ...system,
    ...messages.map((message) => toChatMessage(message, { ...options, callIds })),
  ], ["user"]);
}

/** Joins neighbouring messages of these roles. */
export function joinNeighbours(
  messages: readonly ChatMessage[],
  roles: readonly ChatMessage["role"][],
): ChatMessage[] {
  const joined: ChatMessage[] = [];
  for (const message of messages) {
    const previous = joined.at(-1);
    if (previous?.role === message.role && roles.includes(message.role)) {
      joined.pop();
      joined.push({ ...previous, content: `${previous.content}\n\n${message.content}` });
    } else {
      joined.push(message);
    }
  }
  return joined;
}

/** Ids of calls with nine digits, since templates of Mistral refuse others; equal for equal starts of a conversation. */
class CallIds {
  readonly #ids = new Map<string, string>();

  get(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const created = String(this.#ids.size + 1).padStart(9, "0");
    this.#ids.set(id, created);
    return created;
  }
}

interface MessageContext extends ChatMessageOptions {
  readonly callIds: CallIds;
}

function toChatMessage(message: LlmMessage, context: MessageContext): ChatMessage {
  const { protect, findReply, callIds } = context;
  switch (message.role) {
    case "user":
      return { role: "user", content: protect(describeContent(message.content)) };
    case "tool_result":
      return {
        role: "tool",
        name: protect(message.toolName),
        tool_call_id: callIds.get(message.toolCallId),
        content: protect(toResultText(message)),
      };
    case "assistant": {
      const reply = findReply(message);
      return reply === undefined
        ? toAssistantMessage(message, context)
        : { role: "assistant", content: reply };
    }
  }
}

function toAssistantMessage(
  { content }: AssistantMessage,
  { protect, callIds }: MessageContext,
): ChatMessage {
  const thinking = content.flatMap((block) => block.type === "thinking" ? block.thinking : [])
    .join("\n");
  const calls = extractToolCalls(content).map((call): ChatToolCall => ({
    type: "function",
    id: callIds.get(call.id),
    function: { name: protect(call.name), arguments: protectValue(call.arguments, protect) },
  }));
  const text = protect(extractText(content));
  const reasoning = protect(thinking);
  return {
    role: "assistant",
    content: text,
    ...(thinking !== "" && { reasoning_content: reasoning }),
    ...(thinking !== "" && text === "" && { thinking: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Protects all texts of a JSON object, also the names of its members. */
function protectValue(value: JsonObject, protect: (text: string) => string): JsonObject {
  const copy = (part: unknown): unknown => {
    if (typeof part === "string") return protect(part);
    if (Array.isArray(part)) return part.map(copy);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, member]) => [protect(name), copy(member)]),
    );
  };
  return copy(value) as JsonObject;
}

/**
 * Divides each message with several calls into one for each call, which its result follows, for a template that knows only
 * one call in a message.
 */
export function separateCalls(messages: readonly ChatMessage[]): ChatMessage[] {
  const moved = new Set<ChatMessage>();
  return messages.flatMap((message, index) => {
    if (moved.has(message)) return [];
    const { tool_calls: calls = [], ...rest } = message;
    if (calls.length < 2) return [message];
    return calls.flatMap((call, position) => {
      const result = messages.slice(index).find(({ tool_call_id: id }) => id === call.id);
      if (result) moved.add(result);
      const own = position === 0 ? rest : { role: rest.role, content: "" };
      return [{ ...own, tool_calls: [call] }, ...(result ? [result] : [])];
    });
  });
}

/** Converts tools. Their texts come from the program and its MCP servers, and are protected like messages. */
export function toChatTools(
  tools: readonly ToolSpec[],
  protect: (text: string) => string,
): ChatTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: {
      name: protect(name),
      description: protect(description),
      parameters: protectValue(parameters, protect),
    },
  }));
}

/** Whether a block is an image, a document or an audio clip, which the models cannot read. */
export function isUnreadable({ type }: ContentBlock): boolean {
  return type === "image" || type === "document" || type === "audio";
}

function describeContent(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => {
    if (block.type === "text") return block.text;
    return isUnreadable(block) ? `(${block.type} omitted)` : [];
  }).join("\n\n");
}

function toResultText({ content, isError }: ToolResultMessage): string {
  const text = describeContent(content) || "(no output)";
  return isError && !/^error/i.test(text) ? `Error: ${text}` : text;
}
