/**
 * Records what was decided on tool calls and which of them ran.
 *
 * @module
 */

import type { AgentTool } from "../../src/core/tools/tool.ts";

/** The decisions on tool calls and their executions; finds calls that ran although they must not. */
export class CallLedger {
  /** Descriptions of the calls that ran although they must not. */
  readonly violations: string[] = [];
  readonly #refusals = new Map<string, string>();
  readonly #approved = new Map<string, string>();
  readonly #executed = new Set<string>();
  readonly #withdrawals = new Set<ReadonlySet<AgentTool>>();

  /** Records that a call must not run, with the reason. */
  refuse(id: string, reason: string): void {
    this.#refusals.set(id, reason);
  }

  /** Records that a call was approved, with the arguments that must run. */
  approve(id: string, args: unknown): void {
    this.#refusals.delete(id);
    this.#approved.set(id, JSON.stringify(args));
  }

  /** Adds the tools that a policy has withdrawn, as a set that the policy changes. */
  watchWithdrawals(tools: ReadonlySet<AgentTool>): void {
    this.#withdrawals.add(tools);
  }

  /** Records that a call of a tool starts. */
  start(id: string, tool: AgentTool): void {
    for (const tools of this.#withdrawals) {
      if (tools.has(tool)) this.violations.push(`call ${id} ran although its tool does not exist`);
    }
  }

  /** Records that a call runs. */
  execute(id: string, args: unknown): void {
    const refusal = this.#refusals.get(id);
    if (refusal) this.violations.push(`call ${id} ran although: ${refusal}`);
    if (this.#executed.has(id)) this.violations.push(`call ${id} ran twice`);
    const approved = this.#approved.get(id);
    const actual = JSON.stringify(args);
    if (approved !== undefined && approved !== actual) {
      this.violations.push(`call ${id} ran with ${actual}, but ${approved} was approved`);
    }
    this.#executed.add(id);
  }

  /** Forgets all calls, whose ids may be used again. */
  clear(): void {
    this.#refusals.clear();
    this.#approved.clear();
    this.#executed.clear();
  }
}
