/**
 * The outcome of a run for a client.
 *
 * @module
 */

import type { PendingApproval } from "../../core/approval/approval.ts";
import type { AgentEndEvent } from "../../core/events/event.ts";
import { extractText } from "../../core/messages/content.ts";
import { listClientCalls } from "../web_client/client_tools.ts";
import type { AgUiInterrupt, AgUiOutcome } from "./ag_ui_event.ts";

/** JSON Schema of the answer to an approval. */
const ANSWER_SCHEMA = {
  type: "object",
  properties: {
    approved: { type: "boolean" },
    reason: { type: "string" },
    editedArgs: { type: "object", description: "The arguments with changes, all of them" },
  },
  required: ["approved"],
};

/** Returns the outcome of a run that has not failed: what it waits for, or how it has ended. */
export function getOutcome(event: AgentEndEvent, clientTools: readonly string[]): AgUiOutcome {
  const { stopReason, pendingApprovals = [] } = event;
  const pendingToolCallIds = listClientCalls(event, clientTools);
  if (pendingApprovals.length > 0) return createInterrupts(pendingApprovals);
  if (pendingToolCallIds.length > 0) return { type: "success", pendingToolCallIds };
  return { type: stopReason === "aborted" ? "cancelled" : "success" };
}

/** Returns the answer of a run: the text of its last reply. */
export function getResult({ messages }: AgentEndEvent): string {
  const reply = messages.findLast(({ role }) => role === "assistant");
  return reply?.role === "assistant" ? extractText(reply.content) : "";
}

/** Returns the outcome of a run that waits for approvals. */
export function createInterrupts(pendingApprovals: readonly PendingApproval[]): AgUiOutcome {
  return { type: "interrupt", interrupts: pendingApprovals.map(toInterrupt) };
}

function toInterrupt({ toolCallId, name, arguments: args }: PendingApproval): AgUiInterrupt {
  return {
    id: toolCallId,
    reason: "tool_call",
    message: `The tool ${name} needs an approval`,
    toolCallId,
    responseSchema: ANSWER_SCHEMA,
    metadata: { name, arguments: args },
  };
}
