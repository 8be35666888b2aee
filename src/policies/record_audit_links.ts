/**
 * Records the last line of an audit log in the session of an agent.
 *
 * @module
 */

import type { Agent } from "../agent/agent.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import type { AuditChain } from "./audit_chain.ts";

/** Name of the events, and of the entries of the session. */
const EVENT_NAME = "audit_log";

/**
 * Emits the last line of a chain as a `custom` event at the end of every turn and run, so that the session of the agent
 * records it: an entry of type `custom` with the name `audit_log`, whose data is the `expected` of `verifyAuditLog()`.
 * Returns a function that ends this.
 *
 * @throws {BadRequestError} If the arguments are no agent and no chain.
 */
export function recordAuditLinks<Tool extends AgentTool<never>>(
  agent: Agent<Tool>,
  chain: Pick<AuditChain, "last">,
): () => void {
  if (typeof agent?.subscribe !== "function") {
    throw new BadRequestError(`Pass an agent and a chain, not ${describeValue(agent)}`);
  }
  checkObject(chain, "Pass the chain of auditChain()");
  let recorded = chain.last?.hash;
  return agent.subscribe(({ type }) => {
    const { last } = chain;
    if ((type !== "turn_end" && type !== "agent_end") || !last || last.hash === recorded) return;
    recorded = last.hash;
    agent.emitCustom(EVENT_NAME, last);
  });
}
