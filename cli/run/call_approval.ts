/**
 * Approval of the tool calls of a run, whose code is loaded for the first call.
 *
 * @module
 */

import type { ApprovalGate } from "../../src/tools/mod.ts";
import type { Approve, ExplainingApprove } from "../../mod.ts";
import { importLate } from "../host/import_late.ts";
import type { ApprovalOptions } from "./approval.ts";

/** Decides about the tool calls of a run. The first request does not need this code, so it does not wait for it. */
export class CallApproval {
  readonly #options: Omit<ApprovalOptions, "onRefusal">;
  readonly #refused = new Set<string>();
  #gate: Promise<ApprovalGate> | undefined;

  constructor(options: Omit<ApprovalOptions, "onRefusal">) {
    this.#options = options;
  }

  /** Names of the tools that were refused because the run is not interactive, in the order of their first refusal. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  /** Decides about a call; `explain` about one of a sub-agent, without asking. */
  readonly approve: ExplainingApprove = Object.assign<Approve, Pick<ExplainingApprove, "explain">>(
    async (request) => (await this.#load())(request),
    { explain: (call) => this.#explain(call) },
  );

  /**
   * Checks the rules.
   *
   * @throws {BadRequestError} If a rule is invalid.
   */
  async checkRules(): Promise<void> {
    const { allow, deny } = this.#options;
    if (allow.length + deny.length > 0) await this.#load();
  }

  /** Decides about a call without asking. What a sub-agent of a script would ask is a refusal of the run. */
  async #explain(
    call: Parameters<ExplainingApprove["explain"]>[0],
  ): ReturnType<ExplainingApprove["explain"]> {
    const { ask, keyboard } = this.#options;
    const explained = await (await this.#load()).explain(call);
    if (explained.decision.type === "asked" && !(ask ?? keyboard)) this.#refused.add(call.name);
    return explained;
  }

  #load(): Promise<ApprovalGate> {
    this.#gate ??= importLate<typeof import("./approval.ts")>("./approval.ts", import.meta.url)
      .then(({ createApproval }) =>
        createApproval({ ...this.#options, onRefusal: (name) => this.#refused.add(name) })
      );
    return this.#gate;
  }
}
