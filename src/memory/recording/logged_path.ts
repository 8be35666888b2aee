/**
 * The part of an agent's state that is already recorded on the path of its session.
 *
 * @module
 */

import { isJsonEqual } from "../../core/json_equal.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { ModelSpec } from "../../core/model.ts";
import type { Session } from "../../core/session.ts";
import type { AgentTool } from "../../core/tool.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** Tracks the agent's state on the path of a session, so that only changes are recorded. */
export class LoggedPath {
  readonly #session: Session;
  readonly #ids = new WeakMap<AgentMessage, string>();
  #messages: AgentMessage[] = [];
  #model: string | undefined;
  #toolNames: string | undefined;
  /** Number of entries that were checked for moves of the leaf. */
  #checkedEntries = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Loads the path. */
  async read(): Promise<void> {
    const path = await this.#session.path();
    this.#truncate(0);
    for (const entry of path) {
      if (entry.type === "message") {
        this.#ids.set(entry.message, entry.id);
        this.#messages.push(entry.message);
      } else if (entry.type === "model_changed") this.#model = safeStringify(entry.model);
      else if (entry.type === "tools_changed") this.#toolNames = safeStringify(entry.names);
    }
    this.#checkedEntries = this.#session.outline.length;
  }

  /** Whether the host has moved the leaf since the last call. */
  hasLeafMoved(): boolean {
    const added = this.#session.outline.slice(this.#checkedEntries);
    this.#checkedEntries = this.#session.outline.length;
    return added.some(({ type }) => type === "leaf_moved");
  }

  /** Returns the id of a message's entry; `null` if it has none. */
  getEntryId(message: AgentMessage | undefined): string | null {
    return message === undefined ? null : this.#ids.get(message) ?? null;
  }

  /** Makes the path match a history: moves the leaf to the last common message and records the rest. */
  syncHistory(history: readonly AgentMessage[]): void {
    const difference = history.findIndex((message, index) => !this.#matches(message, index));
    const common = difference < 0 ? history.length : difference;
    if (common < this.#messages.length) {
      this.#session.moveLeaf(this.getEntryId(this.#messages[common - 1]));
      this.#checkedEntries = this.#session.outline.length;
      this.#truncate(common);
    }
    for (const message of history.slice(common)) this.appendMessage(message);
  }

  /** Whether a message is the one at an index of the path: the same object, or a copy that the log or a host made. */
  #matches(message: AgentMessage, index: number): boolean {
    const recorded = this.#messages[index];
    if (message === recorded) return true;
    if (!recorded || !isJsonEqual(message, recorded)) return false;
    this.#messages[index] = message;
    this.#ids.set(message, this.getEntryId(recorded) ?? "");
    return true;
  }

  /** Records a message; returns the id of its entry. */
  appendMessage(message: AgentMessage): string {
    const { id } = this.#session.append({ type: "message", message });
    this.#ids.set(message, id);
    this.#messages.push(message);
    return id;
  }

  /** Records the model if it has changed. */
  recordModel(model: ModelSpec): void {
    if (this.#model === safeStringify(model)) return;
    this.#model = safeStringify(model);
    this.#session.append({ type: "model_changed", model });
  }

  /** Records the tools if they have changed. */
  recordTools(tools: readonly AgentTool[]): void {
    const names = tools.map(({ name }) => name);
    if (this.#toolNames === safeStringify(names)) return;
    this.#toolNames = safeStringify(names);
    this.#session.append({ type: "tools_changed", names });
  }

  /** Keeps only the first messages. Forgets model and tools, which may no longer be on the path. */
  #truncate(length: number): void {
    this.#messages.length = length;
    this.#model = undefined;
    this.#toolNames = undefined;
  }
}
