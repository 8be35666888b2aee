/**
 * The messages that a client has.
 *
 * @module
 */

import type { AgUiEvent, AgUiMessage, AgUiToolCall } from "./ag_ui_event.ts";

/** Follows the events of a run, of the agent and of its sub-agents, as a client does. */
export class ClientMessages {
  readonly #messages: Map<string, AgUiMessage>;
  /** Ids of the messages with each call. */
  readonly #owners = new Map<string, string>();

  /** Creates it with the messages that the client has before the run. */
  constructor(messages: readonly AgUiMessage[]) {
    this.#messages = new Map(messages.map((message) => [message.id, message]));
  }

  /** The messages, in the order of their start. */
  get list(): readonly AgUiMessage[] {
    return [...this.#messages.values()];
  }

  /** Number of messages. */
  get size(): number {
    return this.#messages.size;
  }

  /** Whether the client has a message. */
  has(id: string): boolean {
    return this.#messages.has(id);
  }

  /** Adds a message that no event shows, such as a prompt. */
  add(message: AgUiMessage): void {
    this.#messages.set(message.id, message);
  }

  /**
   * Takes messages back. Reasoning stays without its text: a client keeps it if a snapshot has none, and the next attempt
   * continues it.
   */
  discard(ids: Iterable<string>): void {
    for (const id of ids) {
      const message = this.#messages.get(id);
      if (message?.role === "reasoning") this.add({ ...message, content: "" });
      else this.#messages.delete(id);
    }
  }

  /** Takes calls back, and messages that have nothing else. */
  discardCalls(ids: readonly string[]): void {
    for (const id of ids) {
      const message = this.#messages.get(this.#owners.get(id) ?? "");
      if (message?.role !== "assistant") continue;
      const { toolCalls = [], ...rest } = message;
      const kept = toolCalls.filter((call) => call.id !== id);
      if (kept.length > 0) this.add({ ...rest, toolCalls: kept });
      else if (rest.content !== undefined) this.add(rest);
      else this.#messages.delete(rest.id);
    }
  }

  /** Does what a client does with an event. */
  apply(event: AgUiEvent): void {
    const agent = event.subagentRunId !== undefined && { subagentRunId: event.subagentRunId };
    switch (event.type) {
      case "TEXT_MESSAGE_START":
      case "REASONING_MESSAGE_START": {
        const { messageId: id, role } = event;
        if (!this.has(id)) this.add({ id, role, content: "", ...agent });
        return;
      }
      case "TEXT_MESSAGE_CONTENT":
      case "REASONING_MESSAGE_CONTENT":
        this.#append(event.messageId, event.delta);
        return;
      case "TOOL_CALL_START": {
        const { toolCallId, toolCallName: name, parentMessageId: id } = event;
        const known = this.#messages.get(id);
        const message = known?.role === "assistant"
          ? known
          : { id, role: "assistant", ...agent } as const;
        const call = {
          id: toolCallId,
          type: "function",
          function: { name, arguments: "" },
        } as const;
        this.#owners.set(toolCallId, id);
        this.add({ ...message, toolCalls: [...message.toolCalls ?? [], call] });
        return;
      }
      case "TOOL_CALL_ARGS":
        this.#appendArguments(event.toolCallId, event.delta);
        return;
      case "TOOL_CALL_RESULT": {
        const { messageId: id, role, toolCallId, content, metadata } = event;
        this.add({ id, role, toolCallId, content, ...agent, ...(metadata && { metadata }) });
        return;
      }
      default:
        return;
    }
  }

  #append(id: string, delta: string): void {
    const message = this.#messages.get(id);
    if (!message || message.role === "tool") return;
    const { content = "" } = message;
    if (typeof content === "string") this.add({ ...message, content: `${content}${delta}` });
  }

  #appendArguments(toolCallId: string, delta: string): void {
    const message = this.#messages.get(this.#owners.get(toolCallId) ?? "");
    if (message?.role !== "assistant") return;
    const append = (call: AgUiToolCall): AgUiToolCall => {
      if (call.id !== toolCallId) return call;
      const { name, arguments: text } = call.function;
      return { ...call, function: { name, arguments: `${text}${delta}` } };
    };
    this.add({ ...message, toolCalls: message.toolCalls?.map(append) ?? [] });
  }
}
