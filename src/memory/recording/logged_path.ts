/**
 * What the path of a session holds of an agent, so that only what is new is recorded.
 *
 * @module
 */

import type { AgentMessage } from "../../core/message.ts";
import type { ModelSpec } from "../../core/model.ts";
import type { Session } from "../../core/session.ts";
import type { AgentTool } from "../../core/tool.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** The path of a session as the recorder of an agent sees it. */
export class LoggedPath {
  readonly #session: Session;
  readonly #ids = new WeakMap<AgentMessage, string>();
  #messages: AgentMessage[] = [];
  #model: string | undefined;
  #toolNames: string | undefined;
  /** How many entries were looked at for moves of the leaf by others. */
  #checkedEntries = 0;

  /** Takes a session; nothing is known of it until it is read. */
  constructor(session: Session) {
    this.#session = session;
  }

  /** Learns what the path holds. */
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

  /** Whether somebody else has moved the leaf since the last look. */
  hasLeafMoved(): boolean {
    const news = this.#session.outline.slice(this.#checkedEntries);
    this.#checkedEntries = this.#session.outline.length;
    return news.some(({ type }) => type === "leaf_moved");
  }

  /** The entry of a message. */
  getEntryId(message: AgentMessage | undefined): string | null {
    return message === undefined ? null : this.#ids.get(message) ?? null;
  }

  /** Brings the path to what the history is: goes back to where they part, and records the rest. */
  syncHistory(history: readonly AgentMessage[]): void {
    const parting = history.findIndex((message, at) => message !== this.#messages[at]);
    const common = parting < 0 ? history.length : parting;
    if (common < this.#messages.length) {
      this.#session.moveLeaf(this.getEntryId(this.#messages[common - 1]));
      this.#checkedEntries = this.#session.outline.length;
      this.#truncate(common);
    }
    for (const message of history.slice(common)) this.appendMessage(message);
  }

  /** Records a message; gives the id of its entry. */
  appendMessage(message: AgentMessage): string {
    const { id } = this.#session.append({ type: "message", message });
    this.#ids.set(message, id);
    this.#messages.push(message);
    return id;
  }

  /** Records the model, if it is another. */
  recordModel(model: ModelSpec): void {
    if (this.#model === safeStringify(model)) return;
    this.#model = safeStringify(model);
    this.#session.append({ type: "model_changed", model });
  }

  /** Records the tools, if they are others. */
  recordTools(tools: readonly AgentTool[]): void {
    const names = tools.map(({ name }) => name);
    if (this.#toolNames === safeStringify(names)) return;
    this.#toolNames = safeStringify(names);
    this.#session.append({ type: "tools_changed", names });
  }

  /** What was set before may not be on the path any more. */
  #truncate(kept: number): void {
    this.#messages.length = kept;
    this.#model = undefined;
    this.#toolNames = undefined;
  }
}
