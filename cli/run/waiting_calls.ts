/**
 * The calls of a reply that wait for the user's approval.
 *
 * @module
 */

import type { AgentEvent, AgentTool, JsonObject } from "../../mod.ts";
import { needsApproval } from "../../src/core/tool.ts";
import type { TrustGrant } from "../../src/tools/mod.ts";
import { parseApprovalRule } from "../../src/tools/approval/approval_rules.ts";
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

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
}

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
  countQuestion(toolCallId: string, trusted: readonly TrustGrant[]): QuestionPosition {
    const number = ++this.#askedCount;
    const index = this.#calls.findIndex(({ id }) => id === toolCallId);
    const later = this.#calls.slice(index + 1).filter((call) => this.#needsQuestion(call, trusted));
    return { number, total: number + later.length };
  }

  #needsQuestion({ name, arguments: args }: Call, trusted: readonly TrustGrant[]): boolean {
    const { tools, allow, deny } = this.#options;
    const tool = tools.find((candidate) => candidate.name === name);
    if (!tool || !needsApproval(tool, args)) return false;
    if (trusted.some((grant) => grant.type === "tool" && grant.name === name)) return false;
    const isForbidden = deny.some((rule) => parseApprovalRule(rule).matchesAny(name, args));
    return !isForbidden && !allow.some((rule) => parseApprovalRule(rule).matchesAll(name, args));
  }
}
