/**
 * The gate before every call: what is trusted passes, what is forbidden does not, and for the rest a person is asked.
 *
 * @module
 */

import type { ApprovalDecision, ApprovalMode, ApprovalRequest } from "../../core/approval.ts";
import { needsApproval } from "../../core/tool.ts";
import {
  type ApprovalRule,
  commandHasPrefix,
  parseApprovalRule,
  pathHasPrefix,
} from "./approval_rules.ts";
import { assessCommand, type CommandAssessment } from "./command_assessment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";

/** What the person is asked about. */
export interface GateRequest extends ApprovalRequest {
  /** What the judge says of a `bash` command. */
  readonly assessment?: CommandAssessment;
}

/** Asks a person. */
export type ApprovalPrompt = (
  request: GateRequest,
) => ApprovalDecision | boolean | Promise<ApprovalDecision | boolean>;

/** What {@linkcode approvalGate} is told. */
export interface ApprovalGateOptions {
  /** Which calls are asked about. Default: `"smart"`. */
  readonly mode?: ApprovalMode;
  /** Asks a person. Without it, what would be asked is denied. */
  readonly ask?: ApprovalPrompt;
  /** Calls that pass without a question: `"read_file"`, `"edit_file(src/**)"`, `"bash(npm test)"`. */
  readonly allow?: readonly string[];
  /** Calls that never pass, whatever else is said. A part of a command is enough. */
  readonly deny?: readonly string[];
  /** Whether commands that only look at things pass without a question in `"smart"` mode. Default: `false`. */
  readonly allowHarmless?: boolean;
  /**
   * Where commands run. When they are not confined there, `bash` is not trusted as a whole and no command passes as
   * harmless.
   */
  readonly sandbox?: Pick<Sandbox, "describe">;
}

/** Something that is trusted for the rest of the session. */
export type TrustGrant =
  | { readonly type: "tool"; readonly name: string }
  | { readonly type: "prefix"; readonly name: string; readonly prefix: string };

/** The gate: hand it to an agent as `approve`. */
export interface ApprovalGate {
  /** Decides about a call. */
  (request: ApprovalRequest): Promise<ApprovalDecision>;
  /** Which calls are asked about; may be changed at any time. */
  mode: ApprovalMode;
  /** What a person has trusted so far. */
  readonly trusted: readonly TrustGrant[];
  /** Trusts something from now on. */
  trust(trust: TrustGrant): void;
  /** Forgets what a person has trusted. */
  clearTrust(): void;
}

/**
 * Makes a gate. It keeps what a person trusts for the session, and fails closed: without anybody to ask, and when
 * asking fails, the answer is no.
 *
 * @throws {BadRequestError} When a rule cannot be read.
 *
 * @example
 * ```ts
 * import { approvalGate } from "@swink/agent/tools";
 *
 * const gate = approvalGate({
 *   mode: "smart",
 *   allow: ["bash(deno test *)"],
 *   ask: ({ name, changes }) => confirm(`${name}? ${changes?.map(({ diff }) => diff).join("\n") ?? ""}`),
 * });
 * ```
 */
export function approvalGate(options: ApprovalGateOptions = {}): ApprovalGate {
  const state: GateState = {
    mode: options.mode ?? "smart",
    trusted: [],
    allow: (options.allow ?? []).map(parseApprovalRule),
    deny: (options.deny ?? []).map(parseApprovalRule),
    options,
  };
  const gate = (request: ApprovalRequest) => decideCall(state, request);
  return Object.defineProperties(gate, {
    mode: {
      get: () => state.mode,
      set: (mode: ApprovalMode) => {
        state.mode = mode;
      },
    },
    trusted: { get: () => [...state.trusted] },
    trust: { value: (trust: TrustGrant) => state.trusted.push(trust) },
    clearTrust: { value: () => state.trusted.splice(0) },
  }) as ApprovalGate;
}

interface GateState {
  mode: ApprovalMode;
  readonly trusted: TrustGrant[];
  readonly allow: readonly ApprovalRule[];
  readonly deny: readonly ApprovalRule[];
  readonly options: ApprovalGateOptions;
}

const APPROVED: ApprovalDecision = { type: "approved" };

async function decideCall(state: GateState, request: ApprovalRequest): Promise<ApprovalDecision> {
  const { name, arguments: args, tool } = request;
  const forbidden = state.deny.find((rule) => rule.matchesAny(name, args));
  if (forbidden) return createDenial(`The rule ${forbidden.source} forbids this call.`);
  if (state.mode === "bypassed") return APPROVED;
  if (state.mode === "smart" && !needsApproval(tool, args)) return APPROVED;
  if (state.allow.some((rule) => rule.matchesAll(name, args))) return APPROVED;
  const judgement = name === "bash" && typeof args.command === "string"
    ? assessCommand(args.command)
    : undefined;
  if (isTrusted(state.trusted, request, judgement)) return APPROVED;
  if (await passesAsHarmless(state, judgement)) return APPROVED;
  return await requestApproval(state, judgement ? { ...request, assessment: judgement } : request);
}

/** What somebody trusted in general was not trusted to be dangerous. */
function isTrusted(
  trusted: readonly TrustGrant[],
  { name, arguments: args }: ApprovalRequest,
  judgement: CommandAssessment | undefined,
): boolean {
  if (judgement?.verdict === "dangerous") return false;
  return trusted.some((trust) => {
    if (trust.name !== name) return false;
    if (trust.type === "tool") return true;
    if (typeof args.command === "string") return commandHasPrefix(args.command, trust.prefix);
    return typeof args.path === "string" && pathHasPrefix(args.path, trust.prefix);
  });
}

async function passesAsHarmless(
  { mode, options }: GateState,
  judgement: CommandAssessment | undefined,
): Promise<boolean> {
  if (mode !== "smart" || !options.allowHarmless || judgement?.verdict !== "harmless") return false;
  return await isConfined(options.sandbox);
}

async function isConfined(sandbox: ApprovalGateOptions["sandbox"]): Promise<boolean> {
  return sandbox === undefined || (await sandbox.describe()).confined;
}

async function requestApproval(state: GateState, request: GateRequest): Promise<ApprovalDecision> {
  const { ask, sandbox } = state.options;
  if (!ask) return createDenial("Nobody can be asked, and this call needs an approval.");
  const decision = await promptForDecision(ask, request);
  if (decision.type === "denied") return decision;
  const { scope = "once", prefix } = decision;
  const { name } = request;
  const mayTrustTool = name !== "bash" || await isConfined(sandbox);
  if (scope === "tool" && mayTrustTool) state.trusted.push({ type: "tool", name });
  if (scope === "prefix" && prefix) state.trusted.push({ type: "prefix", name, prefix });
  return decision;
}

async function promptForDecision(
  ask: ApprovalPrompt,
  request: GateRequest,
): Promise<ApprovalDecision> {
  try {
    const answer = await ask(request);
    if (typeof answer !== "boolean") return answer;
    return answer ? APPROVED : { type: "denied" };
  } catch {
    return createDenial("Asking for an approval failed.");
  }
}

function createDenial(reason: string): ApprovalDecision {
  return { type: "denied", reason };
}
