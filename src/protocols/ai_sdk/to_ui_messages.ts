/**
 * A history as the messages of AI SDK UI.
 *
 * @module
 */

import type { DecidedCall, PendingBatch } from "../../core/approval/approval.ts";
import { extractText } from "../../core/messages/content.ts";
import type {
  AgentMessage,
  AssistantMessage,
  ToolResultMessage,
} from "../../core/messages/message.ts";
import { isPlaceholder } from "../web_client/client_results.ts";
import { describeDenial, listCitedPages, toUiOutput, toUserParts } from "./to_ui_parts.ts";
import type { UiMessage, UiPart, UiToolPart } from "./ui_message.ts";

/**
 * Converts the messages of an agent or a session to those of a page, for `useChat({ messages })`. The replies and results
 * between two messages of the user are one message. Files on the server, custom messages and thoughts without a text are
 * left out. A message that was queued during a run is one of the user, and a refused call one that has failed.
 *
 * `pending` has the calls that wait for an approval, and those that wait with them: the state of the agent, or an earlier
 * result.
 *
 * @example
 * ```ts
 * import { Agent } from "@swink/agent";
 * import { toUiMessages } from "@swink/agent/ai-sdk";
 * import { reply, scriptedStream } from "@swink/agent/testing";
 *
 * const agent = new Agent({ model: "any/model", streamFn: scriptedStream([reply("Hello!")]) });
 * await agent.prompt("Hi");
 * toUiMessages(agent.state.messages).map(({ role }) => role); // ["user", "assistant"]
 * ```
 */
export function toUiMessages(
  messages: readonly AgentMessage[],
  pending: Partial<Pick<PendingBatch, "pendingApprovals" | "decidedCalls">> = {},
): UiMessage[] {
  const { pendingApprovals = [], decidedCalls = [] } = pending;
  const waiting = new Set(pendingApprovals.map(({ toolCallId }) => toolCallId));
  const decided = new Map(decidedCalls.map((call) => [call.toolCallId, call]));
  const results = new Map(
    messages.flatMap((message) =>
      message.role === "tool_result" ? [[message.toolCallId, message] as const] : []
    ),
  );
  const converted: UiMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const id = message.id ?? `message-${index}`;
    if (message.role === "user") {
      const parts = toUserParts(message.content);
      if (parts.length > 0) converted.push({ id, role: "user", ...withMetadata(message), parts });
    } else if (message.role === "assistant") {
      const parts = toReplyParts(message, { waiting, decided, results });
      if (parts.length === 0) continue;
      const last = converted.at(-1);
      if (last?.role === "assistant") last.parts.push({ type: "step-start" }, ...parts);
      else converted.push({ id, role: "assistant", parts: [{ type: "step-start" }, ...parts] });
    }
  }
  return converted;
}

function withMetadata({ metadata }: AgentMessage): { metadata?: unknown } {
  return metadata === undefined ? {} : { metadata };
}

/** The states of calls. */
interface CallStates {
  /** Ids of the calls that wait for an approval. */
  readonly waiting: ReadonlySet<string>;
  /** The calls that wait with them, by id. */
  readonly decided: ReadonlyMap<string, DecidedCall>;
  /** The results, by the ids of their calls. */
  readonly results: ReadonlyMap<string, ToolResultMessage>;
}

function toReplyParts({ content }: AssistantMessage, states: CallStates): UiPart[] {
  const pages = listCitedPages(content).map((page) => ({ type: "source-url", ...page }) as const);
  const parts = content.flatMap((block): UiPart[] => {
    switch (block.type) {
      case "text":
        return [{ type: "text", text: block.text, state: "done" }];
      case "thinking":
        return block.thinking === ""
          ? []
          : [{ type: "reasoning", text: block.thinking, state: "done" }];
      case "tool_call": {
        const { id: toolCallId, name, arguments: input } = block;
        return [{ type: `tool-${name}`, toolCallId, input, ...toCallState(toolCallId, states) }];
      }
      case "image":
      case "document":
      case "audio":
      case "extension":
        return [];
    }
  });
  return [...parts, ...pages];
}

/** Properties of a part of a call that depend on its state. */
type CallState = UiToolPart extends infer Part
  ? Part extends UiToolPart ? Omit<Part, "type" | "toolCallId" | "input"> : never
  : never;

function toCallState(id: string, { waiting, decided, results }: CallStates): CallState {
  const result = results.get(id);
  const call = decided.get(id);
  if (waiting.has(id)) return { state: "approval-requested", approval: { id } };
  if (call) return toDecidedState(call);
  if (!result || isPlaceholder(result)) return { state: "input-available" };
  if (result.isError) return { state: "output-error", errorText: extractText(result.content) };
  const { output, metadata } = toUiOutput(result);
  return {
    state: "output-available",
    output,
    ...(metadata && { resultProviderMetadata: metadata }),
  };
}

/** Returns the state of a call that its user need not decide, while others wait. */
function toDecidedState({ toolCallId: id, decision }: DecidedCall): CallState {
  if (decision.type === "denied") {
    return { state: "output-error", errorText: describeDenial(decision) };
  }
  return { state: "approval-responded", approval: { id, approved: true, isAutomatic: true } };
}
