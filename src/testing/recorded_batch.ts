/**
 * Records the events of tool calls whose reply is not known yet.
 *
 * @module
 */

import type { ToolResultMessage } from "../core/messages/message.ts";
import type { BatchEvent, ToolsGrammar } from "./tools_grammar.ts";

/**
 * Records the events and results of the calls of an earlier reply, so that they can be checked when the end of the turn
 * repeats the reply.
 */
export class RecordedBatch {
  readonly #steps: ((tools: ToolsGrammar) => void)[] = [];

  /** Records an event. */
  accept(event: BatchEvent): void {
    this.#steps.push((tools) => tools.accept(event));
  }

  /** Records the start of a result message. */
  acceptResult(message: ToolResultMessage): void {
    this.#steps.push((tools) => tools.acceptResult(message));
  }

  /** Checks everything that was recorded; returns the grammar. */
  replay(tools: ToolsGrammar): ToolsGrammar {
    for (const check of this.#steps) check(tools);
    return tools;
  }
}
