/**
 * Validation and repair of histories.
 *
 * Providers reject a conversation in which a tool call has no result, a result has no call, or an assistant message is
 * empty; one such message would make every later request fail.
 *
 * @module
 */

import { isJsonObject } from "../json/json.ts";
import { type ContentBlock, extractToolCalls, type ToolCallBlock } from "./content.ts";
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "./message.ts";
import { UniqueIds } from "./unique_ids.ts";

/** A repair made by {@linkcode repairHistory}. */
export interface HistoryRepair {
  /** Kind of repair. */
  readonly type:
    | "empty_assistant_dropped"
    | "orphan_result_dropped"
    | "duplicate_call_renamed"
    | "missing_result_added"
    | "result_moved"
    | "arguments_emptied"
    | "scratch_field_dropped";
  /** Index of the message in the original history. */
  readonly index: number;
  /** Id of the affected tool call, if any, after the repair. */
  readonly toolCallId?: string;
}

/** Result of {@linkcode repairHistory}. */
export interface RepairedHistory {
  /** The valid history; the original array if nothing was repaired. */
  readonly messages: readonly AgentMessage[];
  /** The repairs, in order. */
  readonly repairs: readonly HistoryRepair[];
}

/** Options for {@linkcode repairHistory}. */
export interface RepairOptions {
  /** Ids of calls of the last reply that wait for an approval and so have no result yet. Default: none. */
  readonly pendingCalls?: ReadonlySet<string> | undefined;
}

/** Text of a result that replaces a lost one. */
export const LOST_RESULT_TEXT =
  "The result of this tool call was lost; whether the call took effect is not known";

/**
 * Repairs a history, so that each tool call has exactly one result, directly after its assistant message and in call
 * order, call ids are unique, arguments are objects, no assistant message is empty and no `partialJson` is left. A
 * result is assigned to the nearest preceding call with its id that has no result yet. The calls of a last reply of
 * which one is pending stay without results. The original is not modified.
 *
 * @example
 * ```ts
 * import { repairHistory } from "@swink/agent/loop";
 *
 * const { messages, repairs } = repairHistory([{ role: "user", content: [], timestamp: 0 }]);
 * repairs.length; // 0
 * messages.length; // 1
 * ```
 */
export function repairHistory(
  history: readonly AgentMessage[],
  { pendingCalls = NO_CALLS }: RepairOptions = {},
): RepairedHistory {
  const repair = new HistoryRepairer(history, pendingCalls);
  history.forEach((message, index) => repair.add(message, index));
  return repair.finish();
}

const NO_CALLS: ReadonlySet<string> = new Set();

/** Whether the content of an assistant message is more than blank text and empty thinking. */
export function hasContent(content: readonly ContentBlock[]): boolean {
  return content.some((block) => {
    if (block.type === "text") return block.text.trim() !== "" || block.signature !== undefined;
    if (block.type === "thinking") return block.thinking !== "" || block.signature !== undefined;
    return true;
  });
}

interface IndexedResult {
  readonly message: ToolResultMessage;
  readonly index: number;
}

/** A call of the original history, with its result if there is one. */
interface MatchedCall {
  readonly call: ToolCallBlock;
  result?: IndexedResult;
}

/** Repairs a history in one pass, after its results were matched to their calls. */
class HistoryRepairer {
  readonly #history: readonly AgentMessage[];
  readonly #callsByIndex: ReadonlyMap<number, readonly MatchedCall[]>;
  readonly #matchedIndices: ReadonlySet<number>;
  readonly #ids: UniqueIds;
  readonly #pendingCalls: ReadonlySet<string>;
  /** Index of the last message that the model gets. */
  readonly #lastIndex: number;
  readonly #messages: AgentMessage[] = [];
  readonly #repairs: HistoryRepair[] = [];

  constructor(history: readonly AgentMessage[], pendingCalls: ReadonlySet<string>) {
    this.#history = history;
    this.#pendingCalls = pendingCalls;
    this.#lastIndex = history.findLastIndex(({ role }) => role !== "custom");
    this.#callsByIndex = matchResults(history);
    const calls = [...this.#callsByIndex.values()].flat();
    this.#matchedIndices = new Set(calls.flatMap(({ result }) => result ? [result.index] : []));
    this.#ids = new UniqueIds(new Set(calls.map(({ call }) => call.id)));
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
    const isSame = content.every((block, position) => block === message.content[position]);
    this.#messages.push(isSame ? message : { ...message, content });
    if (this.#isPending(content, index)) return;
    this.#addResults(message, { calls: extractToolCalls(content), index });
  }

  /** Whether this is the last reply and one of its calls waits for an approval. */
  #isPending(content: readonly ContentBlock[], index: number): boolean {
    return index === this.#lastIndex &&
      extractToolCalls(content).some(({ id }) => this.#pendingCalls.has(id));
  }

  #addResults(
    { timestamp }: AssistantMessage,
    { calls, index }: { readonly calls: readonly ToolCallBlock[]; readonly index: number },
  ): void {
    let nextIndex = index + 1;
    calls.forEach(({ id, name }, order) => {
      const result = this.#callsByIndex.get(index)?.[order]?.result;
      if (!result) {
        this.#addRepair("missing_result_added", index, id);
        this.#messages.push(createLostResult(id, name, timestamp));
        return;
      }
      if (result.index === nextIndex) nextIndex++;
      else this.#addRepair("result_moved", result.index, id);
      const { message } = result;
      this.#messages.push(message.toolCallId === id ? message : { ...message, toolCallId: id });
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

/** Returns the calls of each assistant message by its index, with their results. */
function matchResults(history: readonly AgentMessage[]): Map<number, readonly MatchedCall[]> {
  const callsByIndex = new Map<number, readonly MatchedCall[]>();
  // Calls without a result by id; the last one gets the next result.
  const unanswered = new Map<string, MatchedCall[]>();
  history.forEach((message, index) => {
    if (message.role === "assistant") {
      const calls = extractToolCalls(message.content).map((call): MatchedCall => ({ call }));
      if (calls.length > 0) callsByIndex.set(index, calls);
      for (const matched of calls.toReversed()) {
        const sameId = unanswered.get(matched.call.id);
        if (sameId) sameId.push(matched);
        else unanswered.set(matched.call.id, [matched]);
      }
    } else if (message.role === "tool_result") {
      const matched = unanswered.get(message.toolCallId)?.pop();
      if (matched) matched.result = { message, index };
    }
  });
  return callsByIndex;
}

/** Creates the result of a lost call without `createResultMessage()`, whose imports would load with each agent. */
function createLostResult(
  toolCallId: string,
  toolName: string,
  timestamp: number,
): ToolResultMessage {
  const content: ContentBlock[] = [{ type: "text", text: LOST_RESULT_TEXT }];
  return { role: "tool_result", toolCallId, toolName, content, isError: true, timestamp };
}
