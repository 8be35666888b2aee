/**
 * What the path of a session holds of an agent, so that only what is new is recorded.
 *
 * @module
 */

import type { AgentMessage } from "../../core/message.ts";
import type { ModelSpec } from "../../core/model.ts";
import type { Session } from "../../core/session.ts";
import type { AgentTool } from "../../core/tool.ts";
import { jsonText } from "../store/json_text.ts";

/** The path of a session as the recorder of an agent sees it. */
export class LoggedPath {
  readonly #session: Session;
  readonly #ids = new WeakMap<AgentMessage, string>();
  #messages: AgentMessage[] = [];
  #model: string | undefined;
  #toolNames: string | undefined;
  /** How many entries were looked at for moves of the leaf by others. */
  #seen = 0;

  /** Takes a session; nothing is known of it until it is read. */
  constructor(session: Session) {
    this.#session = session;
  }

  /** Learns what the path holds. */
  async read(): Promise<void> {
    const path = await this.#session.path();
    this.#forget(0);
    for (const entry of path) {
      if (entry.type === "message") {
        this.#ids.set(entry.message, entry.id);
        this.#messages.push(entry.message);
      } else if (entry.type === "model_changed") this.#model = jsonText(entry.model);
      else if (entry.type === "tools_changed") this.#toolNames = jsonText(entry.names);
    }
    this.#seen = this.#session.outline.length;
  }

  /** Whether somebody else has moved the leaf since the last look. */
  hasMoved(): boolean {
    const news = this.#session.outline.slice(this.#seen);
    this.#seen = this.#session.outline.length;
    return news.some(({ type }) => type === "leaf_moved");
  }

  /** The entry of a message. */
  idOf(message: AgentMessage | undefined): string | null {
    return message === undefined ? null : this.#ids.get(message) ?? null;
  }

  /** Brings the path to what the history is: goes back to where they part, and records the rest. */
  follow(history: readonly AgentMessage[]): void {
    const parting = history.findIndex((message, at) => message !== this.#messages[at]);
    const common = parting < 0 ? history.length : parting;
    if (common < this.#messages.length) {
      this.#session.moveLeaf(this.idOf(this.#messages[common - 1]));
      this.#seen = this.#session.outline.length;
      this.#forget(common);
    }
    for (const message of history.slice(common)) this.say(message);
  }

  /** Records a message; gives the id of its entry. */
  say(message: AgentMessage): string {
    const { id } = this.#session.append({ type: "message", message });
    this.#ids.set(message, id);
    this.#messages.push(message);
    return id;
  }

  /** Records the model, if it is another. */
  useModel(model: ModelSpec): void {
    if (this.#model === jsonText(model)) return;
    this.#model = jsonText(model);
    this.#session.append({ type: "model_changed", model });
  }

  /** Records the tools, if they are others. */
  useTools(tools: readonly AgentTool[]): void {
    const names = tools.map(({ name }) => name);
    if (this.#toolNames === jsonText(names)) return;
    this.#toolNames = jsonText(names);
    this.#session.append({ type: "tools_changed", names });
  }

  /** What was set before may not be on the path any more. */
  #forget(kept: number): void {
    this.#messages.length = kept;
    this.#model = undefined;
    this.#toolNames = undefined;
  }
}
