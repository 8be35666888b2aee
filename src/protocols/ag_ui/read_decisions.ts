/**
 * The answers of a client to interrupts.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import {
  findChangedIntegers,
  findLostDigits,
  restoreIntegers,
} from "../../core/json/parsed_problem.ts";
import { checkReadable, readList, readText } from "../web_client/client_json.ts";

/** Returns the decisions of the user; of two for the same call, neither is certain. */
export function readDecisions(input: JsonObject, text: string): Record<string, ApprovalDecision> {
  const integers = findChangedIntegers(text);
  const decisions = new Map<string, ApprovalDecision>();
  for (const [index, entry] of readList(input, "resume").entries()) {
    const [id, decision] = toDecision(entry, { index, integers });
    if (decisions.has(id)) {
      throw new BadRequestError(`resume[${index}].interruptId is that of an earlier answer`);
    }
    decisions.set(id, decision);
  }
  return Object.fromEntries(decisions);
}

/** Where an answer is. */
interface AnswerPosition {
  /** Its index in the list. */
  readonly index: number;
  /** The integers of the request that `JSON.parse` has changed. */
  readonly integers: ReadonlyMap<string, string>;
}

/** An answer without `approved` is a refusal. */
function toDecision(
  entry: JsonObject,
  { index, integers }: AnswerPosition,
): [string, ApprovalDecision] {
  const id = readText(entry, "interruptId", `resume[${index}].`);
  const answer = isJsonObject(entry["payload"]) ? entry["payload"] : {};
  const { approved, reason } = answer;
  if (entry["status"] === "resolved" && approved === true) {
    return [id, { type: "approved", ...readEdits(answer, { index, integers }) }];
  }
  return [id, { type: "denied", ...(typeof reason === "string" && { reason }) }];
}

/** Names of the arguments with the changes of the user. */
const EDITS = ["editedArgs", "arguments"];

/**
 * Returns the arguments with which a call is approved; none if the user has not changed them.
 *
 * @throws {BadRequestError} If they are invalid: the call must not run as the user did not want it.
 */
function readEdits(
  answer: JsonObject,
  { index, integers }: AnswerPosition,
): { readonly arguments?: JsonObject } {
  const name = EDITS.find((name) => (answer[name] ?? undefined) !== undefined);
  if (name === undefined) return {};
  const path = `resume[${index}].payload.${name}`;
  const { [name]: edits } = answer;
  if (!isJsonObject(edits)) throw new BadRequestError(`${path} must be an object`);
  checkReadable(edits, path);
  const problem = findLostDigits(restoreIntegers(JSON.stringify(edits), integers));
  if (problem !== undefined) throw new BadRequestError(`${path}: ${problem}`);
  return { arguments: edits };
}
