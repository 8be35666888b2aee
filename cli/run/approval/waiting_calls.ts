/**
 * The calls of a reply that wait for the user's approval.
 *
 * @module
 */

import {
  type AgentMessage,
  type AgentTool,
  type ExplainingApprove,
  extractToolCalls,
  type ToolCallBlock,
} from "../../../mod.ts";
import type { GateRequest } from "../../../src/tools/mod.ts";
import type { QuestionPosition } from "./call_details.ts";

/** Options for {@linkcode WaitingCalls}. */
export interface WaitingCallsOptions {
  /** The tools of the run. */
  readonly tools: readonly AgentTool[];
  /** Returns the messages of the conversation. */
  readonly getMessages: () => readonly AgentMessage[];
  /** Returns what the gate would decide about a call. */
  readonly explain: ExplainingApprove["explain"];
}

/** Counts the questions of a reply. */
export class WaitingCalls {
  readonly #options: WaitingCallsOptions;
  /** Ids of the calls that the user has been asked about. */
  readonly #asked = new Set<string>();

  constructor(options: WaitingCallsOptions) {
    this.#options = options;
  }

  /** Counts the question about a call, and those that follow it unless the user approves all calls of a tool. */
  async countQuestion({ toolCallId }: Pick<GateRequest, "toolCallId">): Promise<QuestionPosition> {
    this.#asked.add(toolCallId);
    const calls = this.#getCalls();
    const number = calls.filter(({ id }) => this.#asked.has(id)).length;
    const index = calls.findIndex(({ id }) => id === toolCallId);
    // The call of another agent.
    if (index === -1) return { number: 1, total: 1 };
    const later = await Promise.all(calls.slice(index + 1).map((call) => this.#isAsked(call)));
    return { number, total: number + later.filter((isAsked) => isAsked).length };
  }

  /** Returns the calls of the last reply. */
  #getCalls(): readonly ToolCallBlock[] {
    const reply = this.#options.getMessages().findLast((message) => message.role === "assistant");
    return reply ? extractToolCalls(reply.content) : [];
  }

  async #isAsked({ name, arguments: args }: ToolCallBlock): Promise<boolean> {
    const { tools, explain } = this.#options;
    const tool = tools.find((candidate) => candidate.name === name);
    if (!tool) return false;
    return (await explain({ name, arguments: args, tool })).decision.type === "asked";
  }
}
