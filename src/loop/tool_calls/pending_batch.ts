/**
 * Checks a pending batch of tool calls from an earlier result, and adds the decisions on its approvals.
 *
 * @module
 */

import type {
  ApprovalDecision,
  ApprovalDecisions,
  PendingBatch,
} from "../../core/approval/approval.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { findContentProblem } from "../../core/messages/check_message.ts";
import { extractToolCalls } from "../../core/messages/content.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { ResumedBatch } from "../run/resumed_batch.ts";
import { toDecision } from "./to_decision.ts";

/**
 * Adds the decisions to a pending batch.
 *
 * @throws {BadRequestError} If a decision is missing or invalid, or belongs to no pending call.
 */
export function resolveApprovals(batch: PendingBatch, approvals: ApprovalDecisions): ResumedBatch {
  const pendingIds = batch.pendingApprovals.map(({ toolCallId }) => toolCallId);
  if (pendingIds.length === 0) throw new BadRequestError("No approvals are pending");
  for (const id of Object.keys(approvals)) {
    if (pendingIds.includes(id)) continue;
    throw new BadRequestError(
      `No approval is pending for the tool call "${id}"; pending: ${pendingIds.join(", ")}`,
    );
  }
  const decisions = new Map<string, ApprovalDecision>();
  for (const id of pendingIds) {
    const answer = Object.hasOwn(approvals, id) ? approvals[id] : undefined;
    decisions.set(id, parseDecision(id, answer));
  }
  return { ...batch, decisions };
}

function parseDecision(id: string, answer: unknown): ApprovalDecision {
  if (!isValidDecision(answer)) {
    throw new BadRequestError(
      `Decide the tool call "${id}": pass true, false, or an ApprovalDecision`,
    );
  }
  try {
    return toDecision(answer);
  } catch (cause) {
    throw new BadRequestError(
      `The decision for the tool call "${id}" is invalid: ${getErrorMessage(cause)}`,
      { cause },
    );
  }
}

/** Whether an answer is a decision whose arguments, if it has any, are an object. */
function isValidDecision(answer: unknown): boolean {
  if (typeof answer === "boolean") return true;
  if (!isJsonObject(answer)) return false;
  const { type, arguments: args } = answer;
  return type === "denied" || (type === "approved" && (args === undefined || isJsonObject(args)));
}

/**
 * Checks that a batch is one of an earlier result, and belongs to the last reply of a history. Returns a copy, or
 * `undefined` if it has no calls to wait for.
 *
 * @throws {BadRequestError} If it is not, or does not.
 */
export function checkPending(
  batch: PendingBatch | undefined,
  history: readonly AgentMessage[],
): PendingBatch | undefined {
  if (batch === undefined) return undefined;
  checkObject(batch, "Pass the pendingApprovals of an earlier result");
  const { pendingApprovals, decidedCalls = [], interruptedCalls = [] } = batch;
  checkCalls("pendingApprovals", pendingApprovals, isCall);
  checkCalls("decidedCalls", decidedCalls, isDecidedCall);
  checkCalls("interruptedCalls", interruptedCalls, isInterruptedCall);
  const waiting = listCalls(batch);
  if (waiting.length === 0) return undefined;
  const last = history.findLast(({ role }) => role !== "custom");
  const calls = last?.role === "assistant" ? extractToolCalls(last.content) : [];
  const unknown = waiting.find(({ toolCallId }) => !calls.some(({ id }) => id === toolCallId));
  // A copy: the batch may be the state of the agent that keeps it.
  if (!unknown) return { pendingApprovals, decidedCalls, interruptedCalls };
  throw new BadRequestError(
    `The last message does not make the pending tool call "${unknown.toolCallId}": pass the messages that end with it`,
  );
}

function checkCalls(name: string, calls: unknown, isValid: (call: JsonObject) => boolean): void {
  const isKnown = (call: unknown): boolean =>
    isJsonObject(call) && typeof call["toolCallId"] === "string" && isValid(call);
  if (Array.isArray(calls) && calls.every(isKnown)) return;
  throw new BadRequestError(`${name} must be the ${name} of an earlier result`);
}

function isCall({ name, arguments: args }: JsonObject): boolean {
  return typeof name === "string" && isJsonObject(args);
}

/** Whether a call has a decision, since one of an unknown type would run. */
function isDecidedCall(call: JsonObject): boolean {
  const { decision } = call;
  return isCall(call) && isJsonObject(decision) && isValidDecision(decision);
}

function isInterruptedCall({ result }: JsonObject): boolean {
  return isJsonObject(result) && findContentProblem(result["content"]) === undefined;
}

/** Returns the ids of the calls that wait for an approval or were interrupted. */
export function getPendingIds(batch: PendingBatch | undefined): ReadonlySet<string> {
  return new Set(batch && listCalls(batch).map(({ toolCallId }) => toolCallId));
}

function listCalls(
  { pendingApprovals, interruptedCalls = [] }: PendingBatch,
): readonly { readonly toolCallId: string }[] {
  return [...pendingApprovals, ...interruptedCalls];
}
