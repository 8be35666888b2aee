/**
 * The status of a conversation: model, modes, usage and context window.
 *
 * @module
 */

import { importLate } from "../../host/import_late.ts";
import { describeNet } from "../../render/describe_net.ts";
import { formatModel } from "../../render/format_model.ts";
import type { RunSandbox } from "../../render/reporter.ts";
import type { StatusView } from "../../render/status/status_view.ts";
import type { AgentSetup } from "../../run/agent/setup_agent.ts";
import type { ConversationOutput } from "./conversation_output.ts";
import type { RecordedConversation } from "./recorded_conversation.ts";

/** Options for {@linkcode ConversationStatus}. */
export interface ConversationStatusOptions {
  /** The agent. */
  readonly setup: AgentSetup;
  /** Tokens and cost. */
  readonly record: Pick<RecordedConversation, "total">;
  /** The activity and the turn. */
  readonly output: Pick<ConversationOutput, "activity" | "turns">;
  /** Returns the current time in milliseconds. */
  readonly now: () => number;
  /** Called when the status has changed without an event of the agent. */
  readonly onChange: () => void;
}

/** Collects the status. */
export class ConversationStatus {
  readonly #options: ConversationStatusOptions;
  #sandbox: RunSandbox | undefined;
  /** Tokens of the next request. */
  #used: number | undefined;
  #startedAt: number | undefined;

  constructor(options: ConversationStatusOptions) {
    this.#options = options;
  }

  /** Sets the confinement of commands. */
  setSandbox(sandbox: RunSandbox): void {
    this.#sandbox = sandbox;
    this.#options.onChange();
  }

  /** Sets whether a run is active. */
  setRunning(isRunning: boolean): void {
    this.#startedAt = isRunning ? this.#startedAt ?? this.#options.now() : undefined;
  }

  /** Counts the tokens of the context window without waiting. The last value stays if code for that cannot be loaded. */
  refreshGauge(): void {
    this.updateGauge().catch(() => {});
  }

  /** Counts the tokens of the context window, after a turn. */
  async updateGauge(): Promise<void> {
    const { setup: { agent, controls: { transform, loadModelFacts } }, onChange } = this.#options;
    // The first request of a new conversation loads them, too.
    if (agent.state.messages.length > 0) await loadModelFacts();
    const { contextGauge } = await importLate<typeof import("../../../src/memory/mod.ts")>(
      "../../../src/memory/mod.ts",
      import.meta.url,
    );
    this.#used = contextGauge(agent, { transform }).used;
    onChange();
  }

  /** The status at the moment. */
  get view(): StatusView {
    const { setup, record: { total }, output, now } = this.#options;
    const { agent, planMode, controls: { gate, tools, contextWindow } } = setup;
    const { net } = tools.sandbox;
    const isRunning = this.#startedAt !== undefined;
    const used = this.#used;
    const limit = contextWindow(agent.state.model);
    return {
      model: formatModel(agent.state.model),
      mode: planMode?.isActive ? "plan" : "execute",
      approval: getApprovalName(gate.mode),
      net: describeNet(net, this.#sandbox),
      sandbox: this.#sandbox && describeSandbox(this.#sandbox),
      activity: output.activity.text,
      ...(isRunning && output.turns > 0 && { turn: output.turns }),
      ...(total.usage.total > 0 && { tokens: total.usage.total, cost: total.cost.total }),
      ...(this.#startedAt !== undefined && { elapsedMs: now() - this.#startedAt }),
      ...(used !== undefined && limit !== undefined && { context: { used, limit } }),
    };
  }
}

function describeSandbox({ status, mechanisms }: RunSandbox): string {
  if (status === "off" || status === "unconfined") return "off";
  return mechanisms.join("+") + (status === "confined" ? "" : " (incomplete)");
}

/** Returns the name of an approval mode, as `#approve` takes it. */
function getApprovalName(mode: string): string {
  if (mode === "bypassed") return "off";
  return mode === "smart" ? "smart" : "on";
}
