/**
 * The ids of the messages of a run.
 *
 * @module
 */

import type { AgentMessage } from "../core/messages/message.ts";
import { assertRule } from "./event_violation.ts";

/** Checks that every message of a run has an id of its own. */
export class MessageIds {
  readonly #ids = new Set<string>();

  /** Checks a message that starts. */
  add({ id }: AgentMessage): void {
    assertRule(id !== undefined && id !== "", "message", "the message has no id");
    assertRule(!this.#ids.has(id), "message", `an earlier message has the id ${id}`);
    this.#ids.add(id);
  }
}
