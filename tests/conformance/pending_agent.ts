/**
 * Creates agents whose tool calls wait for an approval.
 *
 * @module
 */

import type { AgentOptions } from "../../src/agent/options.ts";
import type { ApprovalAnswer, Approve } from "../../src/core/hooks/approve.ts";
import { type FakeTool, fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply, type ScriptedStep } from "../../src/testing/script.ts";
import { type TestAgent, testAgent } from "./test_agent.ts";

/** Answers by the id of the call; `undefined` approves. */
function answering(answers: Readonly<Record<string, ApprovalAnswer>>): Approve {
  return ({ toolCallId }) => answers[toolCallId] ?? true;
}

/** The answer that ends the run until a decision comes. */
export const pending = { type: "pending" } as const;

/** A reply with a read-only call, two calls of `write`, and one of an unknown tool. */
export const BATCH = reply([
  toolCall("look"),
  toolCall("write", { path: "a" }),
  toolCall("write", { path: "b" }),
  toolCall("lok"),
]);

/** An agent with its two tools. */
export interface PendingTest extends TestAgent {
  readonly look: FakeTool;
  readonly write: FakeTool;
}

/** Creates an agent whose first batch has a pending, an approved, a denied and an unknown call. */
export function pendingAgent(
  steps: readonly ScriptedStep[] = [BATCH, reply("Done")],
  options: Partial<AgentOptions> = {},
): PendingTest {
  const look = fakeTool({ name: "look", readOnly: true });
  const write = fakeTool({
    name: "write",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  });
  const test = testAgent(steps, {
    tools: [look, write],
    approve: answering({ call_2: pending, call_3: { type: "denied", reason: "not b" } }),
    ...options,
  });
  return { ...test, look, write };
}

/** Returns the ids of the calls that ran, in the order of the tools. */
export function ranCalls({ look, write }: PendingTest): string[] {
  return [...look.calls, ...write.calls].map(({ toolCallId }) => toolCallId);
}

/** The call of {@linkcode BATCH} that is pending. */
export const PENDING = [{ toolCallId: "call_2", name: "write", arguments: { path: "a" } }];
