/**
 * The calls of a reply that wait for the user's approval.
 *
 * @module
 */

import {
  type AgentMessage,
  type AgentTool,
  extractToolCalls,
  type ToolCallBlock,
} from "../../mod.ts";
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
  /** Returns the messages of the conversation. */
  readonly getMessages: () => readonly AgentMessage[];
}

/** Counts the questions of a reply. */
export class WaitingCalls {
  readonly #options: WaitingCallsOptions;
  /** Ids of the calls that the user has been asked about. */
  readonly #asked = new Set<string>();

  constructor(options: WaitingCallsOptions) {
    this.#options = options;
  }

  /** Counts the question about a call, and those that follow it unless the user has trusted their tools. */
  async countQuestion(
    request: GateRequest,
    trusted: readonly TrustGrant[],
  ): Promise<QuestionPosition> {
    this.#asked.add(request.toolCallId);
    const calls = this.#getCalls();
    const number = calls.filter(({ id }) => this.#asked.has(id)).length;
    const index = calls.findIndex(({ id }) => id === request.toolCallId);
    const later = await this.#countQuestions(calls.slice(index + 1), request, trusted);
    return { number, total: number + later };
  }

  /** Returns the calls of the last reply. */
  #getCalls(): readonly ToolCallBlock[] {
    const reply = this.#options.getMessages().findLast((message) => message.role === "assistant");
    return reply ? extractToolCalls(reply.content) : [];
  }

  /** Counts the calls about which a gate with the same rules and grants would ask. */
  async #countQuestions(
    calls: readonly ToolCallBlock[],
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
