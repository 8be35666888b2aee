/**
 * The calls of a reply that wait for the user's approval.
 *
 * @module
 */

import type { AgentEvent, AgentTool } from "../../mod.ts";
import { approvalGate, type GateRequest, type TrustGrant } from "../../src/tools/mod.ts";
import type { QuestionPosition } from "./call_details.ts";

/** Options for {@linkcode WaitingCalls}. */
export interface WaitingCallsOptions {
  /** The tools of the run. */
  readonly tools: readonly AgentTool[];
  /** Rules for calls that need no approval. */
  readonly allow: readonly string[];
  /** Rules for calls that are forbidden. */
  readonly deny: readonly string[];
}

type Call = Pick<GateRequest, "name" | "arguments"> & { readonly id: string };

/** Counts the questions of a reply. */
export class WaitingCalls {
  readonly #options: WaitingCallsOptions;
  #calls: readonly Call[] = [];
  #askedCount = 0;

  constructor(options: WaitingCallsOptions) {
    this.#options = options;
  }

  /** Reads the calls of each reply. */
  onEvent(event: AgentEvent): void {
    if (event.type !== "message_end" || event.message.role !== "assistant") return;
    this.#calls = event.message.content.filter((block) => block.type === "tool_call");
    this.#askedCount = 0;
  }

  /** Counts the question about a call, and those that follow it unless the user has trusted their tools. */
  async countQuestion(
    request: GateRequest,
    trusted: readonly TrustGrant[],
  ): Promise<QuestionPosition> {
    const number = ++this.#askedCount;
    const index = this.#calls.findIndex(({ id }) => id === request.toolCallId);
    const later = await this.#countQuestions(this.#calls.slice(index + 1), request, trusted);
    return { number, total: number + later };
  }

  /** Counts the calls about which a gate with the same rules and grants would ask. */
  async #countQuestions(
    calls: readonly Call[],
    request: GateRequest,
    trusted: readonly TrustGrant[],
  ): Promise<number> {
    const { tools, allow, deny } = this.#options;
    let count = 0;
    const gate = approvalGate({
      allow,
      deny,
      ask() {
        count++;
        return { type: "pending" };
      },
    });
    for (const grant of trusted) gate.trust(grant);
    for (const { id: toolCallId, name, arguments: args } of calls) {
      const tool = tools.find((candidate) => candidate.name === name);
      if (tool) await gate({ ...request, toolCallId, name, arguments: args, tool });
    }
    return count;
  }
}
