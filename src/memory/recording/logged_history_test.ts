import { assertEquals } from "@std/assert";
import { userMessage } from "../../core/messages/message.ts";
import { assistantMessage, toolCall, toolResultMessage } from "../../testing/messages.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { readLoggedHistory } from "./logged_history.ts";

Deno.test("readLoggedHistory(): a call has no sub-agents of a call with the same id in an earlier reply", async () => {
  const call = toolCall("delegate", {}, { id: "call_0" });
  await using session = await new InMemorySessionStore().create();
  session.append({ type: "message", message: userMessage("go", 1) });
  session.append({ type: "message", message: assistantMessage([call]) });
  const spawned = { type: "sub_agent_spawned", toolCallId: "call_0", prompt: "Look" } as const;
  session.append({ ...spawned, subAgentId: "first" });
  session.append({ type: "message", message: toolResultMessage(call, "Done") });
  const reply = session.append({ type: "message", message: assistantMessage([call]) });
  session.append({
    type: "tool_started",
    messageId: reply.id,
    toolCallId: "call_0",
    name: "delegate",
    arguments: {},
    sideEffect: "none",
    idempotencyKey: "run_1:call_0",
  });
  session.append({ ...spawned, subAgentId: "second" });
  const { open } = await readLoggedHistory(session, await session.path());
  const ids = open?.calls.map((call) =>
    call.type === "started" ? call.subAgents.map(({ subAgentId }) => subAgentId) : []
  );
  assertEquals(ids, [["second"]]);
});
