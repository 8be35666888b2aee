/**
 * The history of one run.
 *
 * @module
 */

import { CallIds } from "../core/call_ids.ts";
import { extractToolCalls } from "../core/content.ts";
import { hasContent, repairHistory } from "../core/history.ts";
import type { AgentMessage } from "../core/message.ts";
import type { RunEvents } from "./run_events.ts";

/** Options for `new RunHistory()`. */
export interface RunHistoryOptions {
  /** The messages before the run; must be valid. */
  readonly messages: readonly AgentMessage[];
  /** Emits the messages that are appended. */
  readonly events: RunEvents;
  /** Creates an id for a tool call that has none. */
  readonly newCallId: () => string;
}

/** The history of a run. Only this class appends to it. */
export class RunHistory {
  /** All messages: those before the run and those it appended. */
  readonly messages: AgentMessage[];
  readonly #initialLength: number;
  readonly #events: RunEvents;
  readonly #newCallId: () => string;
  #callIds: CallIds | undefined;

  constructor({ messages, events, newCallId }: RunHistoryOptions) {
    this.messages = [...messages];
    this.#initialLength = messages.length;
    this.#events = events;
    this.#newCallId = newCallId;
  }

  /** The messages that this run appended. */
  get newMessages(): readonly AgentMessage[] {
    return this.messages.slice(this.#initialLength);
  }

  /** Appends a message; an assistant message without content is omitted. */
  append(message: AgentMessage): void {
    if (message.role === "assistant" && !hasContent(message.content)) return;
    this.messages.push(message);
  }

  /** Appends a complete message and emits its start and end. */
  async emitMessage(message: AgentMessage): Promise<void> {
    this.append(message);
    await this.#events.emit({ type: "message_start", message });
    await this.#events.emit({ type: "message_end", message });
  }

  /** Appends and emits prompts, queued and injected messages; repairs those that would make the history invalid. */
  async emitRepaired(messages: readonly AgentMessage[]): Promise<void> {
    const isValid = messages.every(({ role }) => role === "user" || role === "custom");
    const valid = isValid ? messages : await this.#repair(messages);
    for (const message of valid) await this.emitMessage(message);
  }

  async #repair(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const { messages: valid, repairs } = repairHistory([...this.messages, ...messages]);
    if (repairs.length > 0) {
      const text = "New messages were invalid and were repaired";
      await this.#events.warn("history_repaired", text, repairs);
    }
    this.#callIds = undefined;
    return valid.slice(this.messages.length);
  }

  /** Returns a call id that is unique in the history: `id` itself if it is free. */
  claimCallId(id: string): string {
    this.#callIds ??= collectCallIds(this.messages);
    return this.#callIds.claim(id === "" ? this.#newCallId() : id);
  }

  /** Releases the ids of calls that do not enter the history. */
  releaseCallIds(ids: readonly string[]): void {
    for (const id of ids) this.#callIds?.release(id);
  }
}

function collectCallIds(messages: readonly AgentMessage[]): CallIds {
  const ids = new CallIds();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const { id } of extractToolCalls(message.content)) ids.claim(id);
  }
  return ids;
}
