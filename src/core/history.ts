/**
 * The rules of a valid history, and the repair of a broken one.
 *
 * A provider refuses a conversation in which a tool call has no result, a result has no call, or an
 * assistant says nothing; one such message would spoil every later request.
 *
 * @module
 */

import { CallIds } from "./call_ids.ts";
import { type ContentBlock, extractToolCalls, type ToolCallBlock } from "./content.ts";
import { isJsonObject } from "./json.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "./message.ts";

/** One thing that was mended. */
export interface HistoryRepair {
  /** What was wrong. */
  readonly type:
    | "empty_assistant_dropped"
    | "orphan_result_dropped"
    | "duplicate_call_renamed"
    | "missing_result_added"
    | "result_moved"
    | "arguments_emptied"
    | "scratch_field_dropped";
  /** Position of the message in the history that was given. */
  readonly index: number;
  /** The call it is about, if any. */
  readonly toolCallId?: string;
}

/** A valid history, and what had to be done for it. */
export interface RepairedHistory {
  /** The valid history; the one that was given when nothing was wrong. */
  readonly messages: readonly AgentMessage[];
  /** What was mended, in order. */
  readonly repairs: readonly HistoryRepair[];
}

/** The text of a result that stands for one that was lost. */
export const LOST_RESULT_TEXT =
  "The result of this tool call was lost; whether the call took effect is not known";

/**
 * Makes a history valid: each tool call has exactly one result, directly after its assistant message and in
 * call order; call ids are unique; arguments are objects; no assistant message is empty; no scratch field is
 * left. A result belongs to the nearest call of its id before it that has none yet.
 *
 * @example
 * ```ts
 * import { repairHistory } from "@swink/agent";
 *
 * const { messages, repairs } = repairHistory([{ role: "user", content: [], timestamp: 0 }]);
 * repairs.length; // 0
 * messages.length; // 1
 * ```
 */
export function repairHistory(history: readonly AgentMessage[]): RepairedHistory {
  const repair = new HistoryRepairer(history);
  history.forEach((message, index) => repair.add(message, index));
  return repair.finish();
}

/** Whether an assistant message has anything to say. */
export function hasContent(content: readonly ContentBlock[]): boolean {
  return content.some((block) => {
    if (block.type === "text") return block.text.trim() !== "" || block.signature !== undefined;
    if (block.type === "thinking") return block.thinking !== "" || block.signature !== undefined;
    return true;
  });
}

interface IndexedResult {
  readonly result: ToolResultMessage;
  readonly index: number;
}

/** A call as it stands in the history that was given, and its result if there is one. */
interface MatchedCall {
  readonly call: ToolCallBlock;
  found?: IndexedResult;
}

/** One pass over a history whose results have been matched with their calls. */
class HistoryRepairer {
  readonly #history: readonly AgentMessage[];
  readonly #callsByIndex: ReadonlyMap<number, readonly MatchedCall[]>;
  readonly #matchedIndices: ReadonlySet<number>;
  readonly #ids: CallIds;
  readonly #messages: AgentMessage[] = [];
  readonly #repairs: HistoryRepair[] = [];

  constructor(history: readonly AgentMessage[]) {
    this.#history = history;
    this.#callsByIndex = matchResults(history);
    const calls = [...this.#callsByIndex.values()].flat();
    this.#matchedIndices = new Set(calls.flatMap(({ found }) => found ? [found.index] : []));
    this.#ids = new CallIds(new Set(calls.map(({ call }) => call.id)));
  }

  add(message: AgentMessage, index: number): void {
    switch (message.role) {
      case "assistant":
        return this.#addAssistant(message, index);
      case "tool_result":
        if (this.#matchedIndices.has(index)) return;
        return this.#addRepair("orphan_result_dropped", index, message.toolCallId);
      case "user":
      case "custom":
        this.#messages.push(message);
    }
  }

  finish(): RepairedHistory {
    const messages = this.#repairs.length === 0 ? this.#history : this.#messages;
    return { messages, repairs: this.#repairs };
  }

  #addAssistant(message: AssistantMessage, index: number): void {
    if (!hasContent(message.content)) return this.#addRepair("empty_assistant_dropped", index);
    const content = message.content.map((block) =>
      block.type === "tool_call" ? this.#repairCall(block, index) : block
    );
    const isSame = content.every((block, at) => block === message.content[at]);
    this.#messages.push(isSame ? message : { ...message, content });
    this.#addResults(message, { calls: extractToolCalls(content), index });
  }

  #addResults(
    { timestamp }: AssistantMessage,
    at: { readonly calls: readonly ToolCallBlock[]; readonly index: number },
  ): void {
    let next = at.index + 1;
    at.calls.forEach(({ id, name }, order) => {
      const found = this.#callsByIndex.get(at.index)?.[order]?.found;
      if (!found) {
        this.#addRepair("missing_result_added", at.index, id);
        this.#messages.push(createLostResult(id, name, timestamp));
        return;
      }
      if (found.index === next) next++;
      else this.#addRepair("result_moved", found.index, id);
      const { result } = found;
      this.#messages.push(result.toolCallId === id ? result : { ...result, toolCallId: id });
    });
  }

  #repairCall(call: ToolCallBlock, index: number): ToolCallBlock {
    const id = this.#ids.claim(call.id);
    const isObject = isJsonObject(call.arguments);
    if (id !== call.id) this.#addRepair("duplicate_call_renamed", index, id);
    if (!isObject) this.#addRepair("arguments_emptied", index, id);
    if (call.partialJson !== undefined) this.#addRepair("scratch_field_dropped", index, id);
    if (id === call.id && isObject && call.partialJson === undefined) return call;
    const { partialJson: _scratch, ...rest } = call;
    return { ...rest, id, arguments: isObject ? call.arguments : {} };
  }

  #addRepair(type: HistoryRepair["type"], index: number, toolCallId?: string): void {
    this.#repairs.push(toolCallId === undefined ? { type, index } : { type, index, toolCallId });
  }
}

/** The calls of each assistant message, by its position, with the results that belong to them. */
function matchResults(history: readonly AgentMessage[]): Map<number, readonly MatchedCall[]> {
  const callsAt = new Map<number, readonly MatchedCall[]>();
  // Per id, the unanswered calls; the one to be answered next is the last.
  const unanswered = new Map<string, MatchedCall[]>();
  history.forEach((message, index) => {
    if (message.role === "assistant") {
      const calls = extractToolCalls(message.content).map((call): MatchedCall => ({ call }));
      if (calls.length > 0) callsAt.set(index, calls);
      for (const at of calls.toReversed()) {
        const waiting = unanswered.get(at.call.id);
        if (waiting) waiting.push(at);
        else unanswered.set(at.call.id, [at]);
      }
    } else if (message.role === "tool_result") {
      const at = unanswered.get(message.toolCallId)?.pop();
      if (at) at.found = { result: message, index };
    }
  });
  return callsAt;
}

function createLostResult(
  toolCallId: string,
  toolName: string,
  timestamp: number,
): ToolResultMessage {
  const content: ContentBlock[] = [{ type: "text", text: LOST_RESULT_TEXT }];
  return { role: "tool_result", toolCallId, toolName, content, isError: true, timestamp };
}
