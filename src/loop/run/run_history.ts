/**
 * The history of one run.
 *
 * @module
 */

import { InvalidContinueError } from "../../core/errors/errors.ts";
import { freezeJson } from "../../core/json/freeze_json.ts";
import { cloneJson } from "../../core/json/json.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import { copyMessage } from "../../core/messages/copy_message.ts";
import { hasContent, repairHistory } from "../../core/messages/history.ts";
import type { AgentMessage, AssistantMessage, LlmMessage } from "../../core/messages/message.ts";
import { UniqueIds } from "../../core/messages/unique_ids.ts";
import { defaultPorts, type Ports } from "../../core/ports/ports.ts";
import type { EventPipe } from "../events/event_pipe.ts";

/** Options for `new RunHistory()`. */
export interface RunHistoryOptions {
  /** The messages before the run, which must be valid; the history appends to this array. */
  readonly messages: AgentMessage[];
  /** Ids of calls of the last reply that wait for an approval. */
  readonly pendingCalls: ReadonlySet<string>;
  /** Emits the messages that are appended. */
  readonly events: EventPipe;
  /** Creates the ids of tool calls and messages that have none. */
  readonly newId: Ports["newId"];
  /** Returns the time of messages that have none. */
  readonly now: Ports["now"];
}

/**
 * The history of a run. Only this class appends to it. Events get copies of its messages, so that a listener cannot
 * change what is sent.
 */
export class RunHistory {
  /** All messages: those before the run and those it appended. */
  readonly messages: AgentMessage[];
  /** The messages that this run appended. */
  readonly newMessages: AgentMessage[] = [];
  readonly #options: RunHistoryOptions;
  /** Frozen copies by message, made when code of the application first reads them. */
  readonly #copies = new WeakMap<AgentMessage, AgentMessage>();
  /** The copies of the first messages, which a long run would otherwise look up again for each snapshot. */
  readonly #copied: AgentMessage[] = [];
  #snapshot: readonly AgentMessage[] = Object.freeze([]);
  #callIds: UniqueIds | undefined;
  #messageIds: UniqueIds | undefined;

  constructor(options: RunHistoryOptions) {
    this.messages = options.messages;
    this.#options = options;
  }

  /** Appends a message and returns the copy for its events; an assistant message without content is not appended. */
  append<Message extends AgentMessage>(message: Message): Message {
    if (message.role !== "assistant" || hasContent(message.content)) {
      this.messages.push(message);
      this.newMessages.push(message);
    }
    return copyMessage(message);
  }

  /** Returns a frozen copy of the first messages, by default of all; the same one until another number is copied. */
  snapshot(count: number = this.messages.length): readonly AgentMessage[] {
    if (this.#snapshot.length !== count) {
      this.#copyFirst(count);
      this.#snapshot = Object.freeze(this.#copied.slice(0, count));
    }
    return this.#snapshot;
  }

  /** Returns a frozen list of frozen copies, which code of the application cannot change. */
  copyAll<Message extends AgentMessage>(messages: readonly Message[]): readonly Message[] {
    return Object.freeze(messages.map((message) => this.copy(message)));
  }

  /** Returns frozen copies of a request, which usually begins with the history. */
  copyRequest(messages: readonly LlmMessage[]): readonly LlmMessage[] {
    const history = this.messages;
    this.#copyFirst(history.length);
    let count = 0;
    while (count < messages.length && messages[count] === history[count]) count++;
    // A list of copies saves looking up each of them, and they have the type of the messages.
    const copies = this.#copied.slice(0, count) as LlmMessage[];
    for (const message of messages.slice(count)) copies.push(this.copy(message));
    return Object.freeze(copies);
  }

  #copyFirst(count: number): void {
    const uncopied = this.messages.slice(this.#copied.length, count);
    for (const message of uncopied) this.#copied.push(this.copy(message));
  }

  /** Returns a frozen copy of a message; the same one for the same message. */
  copy<Message extends AgentMessage>(message: Message): Message {
    const known = this.#copies.get(message);
    // A copy has the type of its message.
    if (known) return known as Message;
    const copy = freezeJson(copyMessage(message));
    this.#copies.set(message, copy);
    return copy;
  }

  /** Emits the start and the end of a complete message; returns a promise if the caller should wait. */
  emitCopy(message: AgentMessage): Promise<void> | undefined {
    const { events } = this.#options;
    void events.emit({ type: "message_start", message });
    return events.emit({ type: "message_end", message });
  }

  /**
   * Returns a copy of the last reply.
   *
   * @throws {InvalidContinueError} If there is none.
   */
  getLastReply(): AssistantMessage {
    const reply = this.messages.findLast((message) => message.role === "assistant");
    if (reply) return cloneJson(reply);
    throw new InvalidContinueError(
      "There is no reply whose tool calls could run: pass the messages that end with it",
    );
  }

  /** Appends and emits prompts, queued and injected messages; repairs those that would make the history invalid. */
  async emitRepaired(messages: readonly AgentMessage[]): Promise<void> {
    const isValid = messages.every(({ role }) => role === "user" || role === "custom");
    const valid = isValid ? messages : await this.#repair(messages);
    // Copies, since the caller may change its messages later.
    for (const message of valid) {
      await this.emitCopy(this.append(this.withId(this.#withTimestamp(cloneJson(message)))));
    }
  }

  /** Returns the message with a timestamp, which an untyped policy or queue may omit. */
  #withTimestamp(message: AgentMessage): AgentMessage {
    return typeof message.timestamp === "number"
      ? message
      : { ...message, timestamp: this.#options.now() };
  }

  async #repair(messages: readonly AgentMessage[]): Promise<readonly AgentMessage[]> {
    const { pendingCalls, events } = this.#options;
    const history = [...this.messages, ...messages];
    const { messages: valid, repairs } = repairHistory(history, { pendingCalls });
    if (repairs.length > 0) {
      const text = "New messages were invalid and were repaired";
      await events.warn("history_repaired", text, repairs);
    }
    this.#callIds = undefined;
    return valid.slice(this.messages.length);
  }

  /** Returns a call id that is unique in the history: `id` itself if it is free. */
  claimCallId(id: string): string {
    this.#callIds ??= collectCallIds(this.messages);
    return this.#callIds.claim(id === "" ? this.#options.newId("call") : id);
  }

  /** Releases the ids of calls that do not enter the history. */
  releaseCallIds(ids: readonly string[]): void {
    for (const id of ids) this.#callIds?.release(id);
  }

  /** Returns a message id that is unique in the history: `id` itself if it is free. Default of `id`: a new one. */
  claimMessageId(id?: string): string {
    const { newId } = this.#options;
    // A random id is unique, so that ids are collected only once one is given that a message may have already.
    const isRandom = id === undefined && newId === defaultPorts.newId;
    if (isRandom && !this.#messageIds) return newId("message");
    this.#messageIds ??= collectMessageIds(this.messages);
    return this.#messageIds.claim(id ?? newId("message"));
  }

  /** Returns the message with an id that is unique in the history. */
  withId<Message extends AgentMessage>(message: Message): Message {
    const id = this.claimMessageId(message.id);
    return id === message.id ? message : { ...message, id };
  }
}

function collectMessageIds(messages: readonly AgentMessage[]): UniqueIds {
  const ids = new UniqueIds();
  for (const { id } of messages) if (id !== undefined) ids.claim(id);
  return ids;
}

function collectCallIds(messages: readonly AgentMessage[]): UniqueIds {
  const ids = new UniqueIds();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const { id } of extractToolCalls(message.content)) ids.claim(id);
  }
  return ids;
}
