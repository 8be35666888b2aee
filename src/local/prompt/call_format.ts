/**
 * The ways in which models write tool calls.
 *
 * @module
 */

import { type ChatMessage, type ChatTool, joinNeighbours } from "./chat_message.ts";

/** How a model writes a tool call: an object with its name and arguments between two texts. */
export interface CallFormat {
  /** Text before a call. */
  readonly open: string;
  /** Text after a call; empty if a call ends with its object. */
  readonly close: string;
  /** Name of the member with the arguments. */
  readonly argumentsName: "arguments" | "parameters";
  /** Whether the calls are a list between the texts. */
  readonly isList: boolean;
  /** Whether the template shows calls with `<function=NAME>`, which models write without the text before a call, too. */
  readonly hasFunctions?: boolean;
  /** Text between the name of a tool and its arguments, which are not members of an object then. */
  readonly argumentsOpen?: string;
}

/** The format of Hermes, Qwen and many others. */
export const TAGGED_CALLS: CallFormat = {
  open: "<tool_call>",
  close: "</tool_call>",
  argumentsName: "arguments",
  isList: false,
};

/** The format of Mistral since 2025: `[TOOL_CALLS]NAME[ARGS]{…}`, in some models with an id between them. */
const NAMED_CALLS: CallFormat = {
  open: "[TOOL_CALLS]",
  close: "",
  argumentsName: "arguments",
  isList: false,
  argumentsOpen: "[ARGS]",
};

/** The earlier format of Mistral. */
const LISTED_CALLS: CallFormat = {
  open: "[TOOL_CALLS]",
  close: "",
  argumentsName: "arguments",
  isList: true,
};

/** The format of Llama 3: a reply that is an object. */
const BARE_CALLS: CallFormat = {
  open: "",
  close: "",
  argumentsName: "parameters",
  isList: false,
};

/** The format of gpt-oss: a message whose header has the name of the tool. */
export const CHANNEL_CALLS: CallFormat = {
  open: " to=functions.",
  close: "",
  argumentsName: "arguments",
  isList: false,
};

/** Returns the format that a chat template shows to the model. */
export function findCallFormat(template: string): CallFormat {
  if (template.includes("<|channel|>commentary")) return CHANNEL_CALLS;
  if (template.includes("<tool_call>")) {
    return template.includes("<function=") ? { ...TAGGED_CALLS, hasFunctions: true } : TAGGED_CALLS;
  }
  if (template.includes("[TOOL_CALLS]")) {
    return template.includes("[ARGS]") ? NAMED_CALLS : LISTED_CALLS;
  }
  if (/"parameters": /.test(template) && /\btools\b/.test(template)) return BARE_CALLS;
  return TAGGED_CALLS;
}

/** Writes tools, calls and results as text, for a template that knows only texts of alternating roles. */
export function describeTools(
  messages: readonly ChatMessage[],
  tools: readonly ChatTool[],
  format: CallFormat,
): ChatMessage[] {
  const plain = messages.map((message) => toPlainMessage(message, format));
  if (tools.length === 0) return joinNeighbours(plain, ["user", "assistant"]);
  const [first, ...others] = plain;
  const description = [
    "You can call these tools:",
    ...tools.map((tool) => JSON.stringify(tool.function)),
    format === CHANNEL_CALLS
      ? "To call one, send its arguments as JSON in the channel commentary to=functions.NAME."
      : `To call one, write ${formatCall(format.argumentsOpen ? "NAME" : "…", "{…}", format)}.`,
    "The result follows in the next message.",
  ].join("\n");
  const described = first?.role === "system" ? `${first.content}\n\n${description}` : description;
  const rest = first?.role === "system" ? others : plain;
  return joinNeighbours([{ role: "system", content: described }, ...rest], ["user", "assistant"]);
}

function formatCall(name: string, args: string, format: CallFormat): string {
  const { open, close, isList, argumentsName, argumentsOpen } = format === CHANNEL_CALLS
    ? TAGGED_CALLS
    : format;
  if (argumentsOpen !== undefined) return open + name + argumentsOpen + args;
  const call = `{"name": ${JSON.stringify(name)}, "${argumentsName}": ${args}}`;
  return open + (isList ? `[${call}]` : call) + close;
}

/** Writes calls and results as text, for a template that knows only texts. */
function toPlainMessage(message: ChatMessage, format: CallFormat): ChatMessage {
  if (message.role === "tool") {
    return { role: "user", content: `<tool_response>\n${message.content}\n</tool_response>` };
  }
  if (!message.tool_calls) return message;
  const calls = message.tool_calls.map(({ function: { name, arguments: args } }) =>
    formatCall(name, JSON.stringify(args), format)
  );
  return { role: "assistant", content: [message.content, ...calls].filter(Boolean).join("\n") };
}
