/**
 * The rules, grants and surroundings by which a gate decides.
 *
 * @module
 */

import type { ApprovalMode, TrustGrant } from "../../core/approval/approval.ts";
import type { RiskClass } from "../../core/approval/risk.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { CompiledRules } from "./rules/rule_set.ts";

/** The treatment of the calls of a risk class: approved, submitted to the prompt unless a rule or grant allows them, denied. */
export type ClassGate = "auto" | "ask" | "deny";

/** The parts of a sandbox that a gate uses. */
export type GateSandbox = Pick<Sandbox, "describe"> & Partial<Pick<Sandbox, "files">>;

/** The state of a gate on which its decisions depend. */
export interface GateRules {
  readonly mode: ApprovalMode;
  readonly rules: CompiledRules;
  readonly classes: Readonly<Partial<Record<RiskClass, ClassGate>>>;
  readonly trusted: readonly TrustGrant[];
  /** The definitions by name that tools had when a person trusted them. */
  readonly definitions: ReadonlyMap<string, string>;
  readonly sandbox: GateSandbox | undefined;
  /** Which approved commands may have changed the working directory. */
  readonly moves: ApprovedMoves;
}

/** Which of the approved commands may have changed the directory of a shell. */
export interface ApprovedMoves {
  /** Whether any has. */
  readonly any: boolean;
  /** Whether one has of a tool whose shells are not known, as those of a copy. */
  readonly unknown: boolean;
}
