import { assertEquals } from "@std/assert";
import { userMessage } from "../../src/core/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

const look = () => fakeTool({ name: "look" });
const note = (words: string) => userMessage(words, 0);

Deno.test("policies: messages that preDispatch injects come before those that postTurn injects", async () => {
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look()],
    policies: [{
      name: "hint",
      preDispatch: () => ({ type: "inject", messages: [note("before")] }),
      postTurn: ({ turn }) =>
        turn === 1 ? { type: "inject", messages: [note("after")] } : undefined,
    }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(outlineMessages(agent.state.messages).slice(2), [
    "tool_result: ok",
    "user: before",
    "user: after",
    "assistant: Seen",
  ]);
});

Deno.test("policies: a preDispatch stop wins over a postTurn stop of the same turn", async () => {
  const { agent } = testAgent([reply([toolCall("look")])], {
    tools: [look()],
    policies: [{
      name: "late",
      postTurn: () => ({ type: "stop", reason: "after the turn" }),
    }, {
      name: "early",
      preDispatch: () => ({ type: "stop", reason: "before the call" }),
    }],
  });
  const { stoppedBy } = await agent.prompt("Look");
  assertEquals(stoppedBy, { policy: "early", reason: "before the call" });
});

Deno.test("policies: an onDelta stop wins over a postTurn stop of the same turn", async () => {
  const { agent } = testAgent([hang({ after: "Half" })], {
    policies: [{
      name: "late",
      postTurn: () => ({ type: "stop", reason: "after the turn" }),
    }, {
      name: "early",
      onDelta: () => ({ type: "stop", reason: "during the reply" }),
    }],
  });
  const { stoppedBy } = await agent.prompt("Hi");
  assertEquals(stoppedBy, { policy: "early", reason: "during the reply" });
});
