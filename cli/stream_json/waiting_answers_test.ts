import { assertEquals } from "@std/assert";
import { WaitingAnswers } from "./waiting_answers.ts";

const { signal } = new AbortController();
const APPROVED = { type: "approved" } as const;

Deno.test("WaitingAnswers: the first decision about a call counts", async () => {
  const answers = new WaitingAnswers();
  const asked = answers.ask({ toolCallId: "a", name: "bash", signal });
  assertEquals(answers.answer("a", APPROVED), true);
  assertEquals(answers.answer("a", { type: "denied" }), false);
  assertEquals(await asked, APPROVED);
  assertEquals(answers.takeRefused(), []);
});

Deno.test("WaitingAnswers: no call waits after the end of the run", () => {
  const answers = new WaitingAnswers();
  const call = { type: "tool_approval_requested", id: "a", name: "bash", arguments: {} } as const;
  answers.onEvent(call);
  answers.onEvent({
    type: "agent_end",
    messages: [],
    stopReason: "stop",
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  });
  assertEquals(answers.answer("a", APPROVED), false);
});

Deno.test("WaitingAnswers: a call after the end of the input is denied and counts once as refused", async () => {
  const answers = new WaitingAnswers();
  answers.close();
  const { type } = await answers.ask({ toolCallId: "a", name: "bash", signal });
  assertEquals([type, answers.takeRefused()], ["denied", ["bash"]]);
  assertEquals(answers.takeRefused(), []);
});

Deno.test("WaitingAnswers: a call that is aborted is denied and not refused", async () => {
  const answers = new WaitingAnswers();
  const stop = new AbortController();
  const asked = answers.ask({ toolCallId: "a", name: "bash", signal: stop.signal });
  stop.abort();
  assertEquals([(await asked).type, answers.takeRefused()], ["denied", []]);
});
