/**
 * Approval of the tool calls of a run, whose code is loaded for the first call.
 *
 * @module
 */

import type { Approve } from "../../mod.ts";
import { importLate } from "../host/import_late.ts";
import type { ApprovalOptions } from "./approval.ts";

/** Decides about the tool calls of a run. The first request does not need this code, so it does not wait for it. */
export class CallApproval {
  readonly #options: Omit<ApprovalOptions, "onRefusal">;
  readonly #refused = new Set<string>();
  #approve: Promise<Approve> | undefined;

  constructor(options: Omit<ApprovalOptions, "onRefusal">) {
    this.#options = options;
  }

  /** Names of the tools that were refused because the run is not interactive, in the order of their first refusal. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  /** Decides about a call. */
  readonly approve: Approve = async (request) => (await this.#load())(request);

  /**
   * Checks the rules.
   *
   * @throws {BadRequestError} If a rule is invalid.
   */
  async checkRules(): Promise<void> {
    const { allow, deny } = this.#options;
    if (allow.length + deny.length > 0) await this.#load();
  }

  #load(): Promise<Approve> {
    this.#approve ??= importLate<typeof import("./approval.ts")>("./approval.ts", import.meta.url)
      .then(({ createApproval }) =>
        createApproval({ ...this.#options, onRefusal: (name) => this.#refused.add(name) })
      );
    return this.#approve;
  }
}
