import { assertEquals } from "@std/assert";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { pendingAgent } from "./pending_agent.ts";

/** Policies of which the first one notes the calls, and the second one stops the run at one of them. */
function noteCalls(stopAt: () => string) {
  const checked: string[] = [];
  const refused: string[] = [];
  const policies: Policy[] = [{
    name: "note",
    preDispatch: ({ toolCallId }) => void checked.push(toolCallId),
    onRefused: ({ toolCallId }) => void refused.push(toolCallId),
  }, {
    name: "guard",
    preDispatch: ({ toolCallId }) =>
      toolCallId === stopAt() ? { type: "stop", reason: "over" } : undefined,
  }];
  return { checked, refused, policies };
}

Deno.test("onRefused: is called for every valid call of a batch that a policy stops", async () => {
  const { checked, refused, policies } = noteCalls(() => "call_2");
  const { agent } = pendingAgent(undefined, { approve: () => true, policies });
  assertEquals((await agent.prompt("Go")).stoppedBy?.policy, "guard");
  assertEquals([checked, refused], [["call_1", "call_2"], ["call_1", "call_2", "call_3"]]);
});

Deno.test("onRefused: is called for the checked calls of a batch that a policy stops after its approvals", async () => {
  let stopAt = "none";
  const { checked, refused, policies } = noteCalls(() => stopAt);
  const { agent } = pendingAgent(undefined, { approve: () => ({ type: "pending" }), policies });
  await agent.prompt("Go");
  assertEquals([checked.splice(0), refused], [["call_1", "call_2", "call_3"], []]);
  stopAt = "call_2";
  const approvals = { call_1: true, call_2: true, call_3: true };
  assertEquals((await agent.continue({ approvals })).stoppedBy?.policy, "guard");
  assertEquals([checked, refused], [["call_1", "call_2"], ["call_1", "call_2"]]);
});
