/**
 * The rules of a valid history, and the repair of a broken one.
 *
 * A provider refuses a conversation in which a tool call has no result, a result has no call, or an
 * assistant says nothing; one such message would spoil every later request.
 *
 * @module
 */

import { type ContentBlock, type ToolCallBlock, toolCallsOf } from "./content.ts";
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
 * call order; call ids are unique; no assistant message is empty; no scratch field is left.
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
  const repair = new Repair(history);
  history.forEach((message, index) => repair.take(message, index));
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

interface ResultAt {
  readonly result: ToolResultMessage;
  readonly index: number;
}

/** One pass over a history; results are looked up by call, so that late ones find their place. */
class Repair {
  readonly #given: readonly AgentMessage[];
  readonly #results = new Map<string, ResultAt[]>();
  readonly #usedIds = new Set<string>();
  readonly #expected = new Set<number>();
  readonly #messages: AgentMessage[] = [];
  readonly #repairs: HistoryRepair[] = [];

  constructor(history: readonly AgentMessage[]) {
    this.#given = history;
    history.forEach((message, index) => {
      if (message.role !== "tool_result") return;
      const known = this.#results.get(message.toolCallId) ?? [];
      known.push({ result: message, index });
      this.#results.set(message.toolCallId, known);
    });
  }

  take(message: AgentMessage, index: number): void {
    switch (message.role) {
      case "assistant":
        return this.#takeAssistant(message, index);
      case "tool_result":
        if (!this.#expected.has(index)) {
          this.#note("orphan_result_dropped", index, message.toolCallId);
        }
        return;
      case "user":
      case "custom":
        this.#messages.push(message);
    }
  }

  finish(): RepairedHistory {
    const messages = this.#repairs.length === 0 ? this.#given : this.#messages;
    return { messages, repairs: this.#repairs };
  }

  #takeAssistant(message: AssistantMessage, index: number): void {
    if (!hasContent(message.content)) return this.#note("empty_assistant_dropped", index);
    const calls = toolCallsOf(message.content);
    const ids = new Map(calls.map((call) => [call, this.#freeId(call, index)]));
    const content = message.content.map((block) =>
      block.type === "tool_call" ? this.#cleanCall(block, ids.get(block) ?? block.id, index) : block
    );
    const isSame = content.every((block, at) => block === message.content[at]);
    this.#messages.push(isSame ? message : { ...message, content });
    calls.forEach((call, order) =>
      this.#takeResult(message, { call, id: ids.get(call) ?? call.id, index, order })
    );
  }

  #takeResult(
    message: AssistantMessage,
    at: {
      readonly call: ToolCallBlock;
      readonly id: string;
      readonly index: number;
      readonly order: number;
    },
  ): void {
    const { call, id, index, order } = at;
    const waiting = this.#results.get(call.id) ?? [];
    const position = waiting.findIndex((entry) => entry.index > index);
    const [found] = position < 0 ? [] : waiting.splice(position, 1);
    if (!found) {
      this.#note("missing_result_added", index, id);
      this.#messages.push(lostResult(id, call.name, message.timestamp));
      return;
    }
    this.#expected.add(found.index);
    if (found.index !== index + 1 + order) this.#note("result_moved", found.index, id);
    const { result } = found;
    this.#messages.push(result.toolCallId === id ? result : { ...result, toolCallId: id });
  }

  #freeId(call: ToolCallBlock, index: number): string {
    const id = uniqueId(call.id, this.#usedIds);
    this.#usedIds.add(id);
    if (id !== call.id) this.#note("duplicate_call_renamed", index, id);
    return id;
  }

  #cleanCall(block: ToolCallBlock, id: string, index: number): ToolCallBlock {
    if (block.id === id && block.partialJson === undefined) return block;
    if (block.partialJson !== undefined) this.#note("scratch_field_dropped", index, id);
    const { partialJson: _scratch, ...rest } = block;
    return { ...rest, id };
  }

  #note(type: HistoryRepair["type"], index: number, toolCallId?: string): void {
    this.#repairs.push(toolCallId === undefined ? { type, index } : { type, index, toolCallId });
  }
}

/** An id that is not empty and not yet used: the given one if possible, else with a number behind it. */
export function uniqueId(id: string, used: { has(id: string): boolean }): string {
  const wanted = id === "" ? "call" : id;
  if (id !== "" && !used.has(id)) return id;
  let number = 1;
  while (used.has(`${wanted}_${number}`)) number++;
  return `${wanted}_${number}`;
}

function lostResult(toolCallId: string, toolName: string, timestamp: number): ToolResultMessage {
  const content: ContentBlock[] = [{ type: "text", text: LOST_RESULT_TEXT }];
  return { role: "tool_result", toolCallId, toolName, content, isError: true, timestamp };
}
