/**
 * The prefix of a call that the user can approve.
 *
 * @module
 */

import { approvalGate, type GateRequest, type Sandbox } from "../../../src/tools/mod.ts";
import { suggestPrefix } from "./approval_question.ts";

/** Returns the prefix that covers a call and probably similar ones; `undefined` if none covers it, as for a dangerous command. */
export async function findPrefix(
  { name, arguments: args, tool, path }: Pick<GateRequest, "name" | "arguments" | "tool" | "path">,
  sandbox: Pick<Sandbox, "describe">,
): Promise<string | undefined> {
  const suggested = suggestPrefix({ arguments: args });
  if (suggested === undefined || typeof args.command !== "string") return suggested;
  // The beginning of the command may leave open what some of its arguments change.
  for (const prefix of [suggested, args.command.trim()]) {
    const gate = approvalGate({ sandbox });
    gate.trust({ type: "prefix", name, prefix });
    const { decision } = await gate.explain({ name, arguments: args, tool, ...(path && { path }) });
    if (decision.type === "approved" && decision.ruleSource === "session") return prefix;
  }
  return undefined;
}
