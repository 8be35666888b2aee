/**
 * Approval of the tool calls of a run, whose code is loaded for the first call.
 *
 * @module
 */

import type { ApprovalMode, Approve, ExplainingApprove } from "../../../mod.ts";
import { needsApproval } from "../../../src/core/tools/needs_approval.ts";
import type { ApprovalGate, ApprovalGateState, TrustGrant } from "../../../src/tools/mod.ts";
import { importLate } from "../../host/import_late.ts";
import type { ApprovalOptions } from "./approval.ts";

/** A gate with the mode and the grants of the session. */
export interface LateApprovalGate extends ExplainingApprove, ApprovalGateState {}

/** Decides about the tool calls of a run. The first request does not need this code, so it does not wait for it. */
export class CallApproval {
  readonly #options: Omit<ApprovalOptions, "onRefusal">;
  readonly #refused = new Set<string>();
  #loading: Promise<ApprovalGate> | undefined;
  #loaded: ApprovalGate | undefined;
  /** The loaded gate, or the state that it will have. */
  #state: ApprovalGateState;

  constructor(options: Omit<ApprovalOptions, "onRefusal">) {
    this.#options = options;
    this.#state = new InitialState(options.mode);
  }

  /** Names of the tools that were refused because the run is not interactive, in the order of their first refusal. */
  get refused(): readonly string[] {
    return [...this.#refused];
  }

  /** Decides about a call; `explain` about one of a sub-agent, without asking. */
  readonly approve: ExplainingApprove = Object.assign<
    Approve,
    Required<Pick<ExplainingApprove, "explain" | "onApproved">>
  >(
    async (request) => (await this.#load())(request),
    {
      explain: (call) => this.#explain(call),
      // The gate is loaded: a call that was approved later is explained first.
      onApproved: (call, decision) => this.#loaded?.onApproved(call, decision),
    },
  );

  /** Decides about a call, with a mode that can be changed, and with grants that a session keeps. */
  readonly gate: LateApprovalGate = this.#createGate();

  /**
   * Checks the rules.
   *
   * @throws {BadRequestError} If a rule is invalid.
   */
  async checkRules(): Promise<void> {
    const { allow, deny } = this.#options;
    if (allow.length + deny.length > 0) await this.#load();
  }

  #createGate(): LateApprovalGate {
    const approve: Approve = (request) => this.approve(request);
    return Object.defineProperties(approve, {
      explain: { value: this.approve.explain },
      onApproved: { value: this.approve.onApproved },
      mode: {
        get: () => this.#state.mode,
        set: (mode: ApprovalMode) => {
          this.#state.mode = mode;
        },
      },
      trusted: { get: () => this.#state.trusted },
      trust: { value: (grant: TrustGrant) => this.#state.trust(grant) },
      clearTrust: { value: () => this.#state.clearTrust() },
    }) as LateApprovalGate;
  }

  /** Decides about a call without asking. What a sub-agent of a script would ask is a refusal of the run. */
  async #explain(
    call: Parameters<ExplainingApprove["explain"]>[0],
  ): ReturnType<ExplainingApprove["explain"]> {
    const { ask, keyboard } = this.#options;
    // The code of the rules takes 5 MB.
    if (this.#canRunUnasked(call)) return { decision: { type: "approved", origin: "mode" } };
    const explained = await (await this.#load()).explain(call);
    if (explained.decision.type === "asked" && !(ask ?? keyboard)) this.#refused.add(call.name);
    return explained;
  }

  /** Whether the mode approves a call that no rule can concern. A command may be dangerous, which the rules find out. */
  #canRunUnasked(
    { name, tool, arguments: args }: Parameters<ExplainingApprove["explain"]>[0],
  ): boolean {
    const { deny } = this.#options;
    if (name === "bash" || deny.length > 0 || this.#state.mode !== "smart") return false;
    // As the gate reads it: what returns no boolean needs an approval.
    const required: unknown = needsApproval(tool, args);
    return required === false;
  }

  #load(): Promise<ApprovalGate> {
    this.#loading ??= this.#loadGate();
    return this.#loading;
  }

  async #loadGate(): Promise<ApprovalGate> {
    const { createApproval } = await importLate<typeof import("./approval.ts")>(
      "./approval.ts",
      import.meta.url,
    );
    const onRefusal = (name: string) => void this.#refused.add(name);
    const gate = createApproval({ ...this.#options, onRefusal });
    const { mode, trusted } = this.#state;
    gate.mode = mode;
    for (const grant of trusted) gate.trust(grant);
    this.#state = gate;
    this.#loaded = gate;
    return gate;
  }
}

/** The state of a gate that is not loaded. */
class InitialState implements ApprovalGateState {
  mode: ApprovalMode;
  #trusted: readonly TrustGrant[] = [];

  constructor(mode: ApprovalMode) {
    this.mode = mode;
  }

  get trusted(): readonly TrustGrant[] {
    return this.#trusted;
  }

  trust(grant: TrustGrant): void {
    this.#trusted = [...this.#trusted, grant];
  }

  clearTrust(): void {
    this.#trusted = [];
  }
}
