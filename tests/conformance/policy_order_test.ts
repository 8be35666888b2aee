import { assertEquals } from "@std/assert";
import type { AgentOptions } from "../../src/agent/options.ts";
import type { StopVerdict } from "../../src/core/hooks/policy.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { ManualClock } from "../../src/testing/manual_clock.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { hang, reply } from "../../src/testing/script.ts";
import { outlineMessages } from "./outline.ts";
import { scriptedPorts } from "./ports.ts";
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

/** Runs a prompt until a hook or the first call pauses, stops it with `onDelta` then, and returns the policy that stopped it. */
async function stopDuringPause(
  createOptions: (pause: () => Promise<void>) => Partial<AgentOptions>,
): Promise<string | undefined> {
  const paused = Promise.withResolvers<void>();
  const clock = new ManualClock();
  let pauses = 0;
  const pause = async (): Promise<void> => {
    if (++pauses > 1) return;
    paused.resolve();
    await clock.sleep(250);
  };
  const options = createOptions(pause);
  const { agent } = testAgent([reply([toolCall("look")])], {
    ...scriptedPorts(clock),
    tools: [look()],
    ...options,
    policies: [...(options.policies ?? []), {
      name: "onDelta",
      onDelta: ({ elapsedMs }) =>
        elapsedMs >= 250 ? { type: "stop", reason: "too late" } : undefined,
    }],
  });
  agent.subscribe(({ type }) => type === "tool_execution_start" ? pause() : undefined);
  const running = agent.prompt("Look");
  await paused.promise;
  clock.advance(250);
  return (await running).stoppedBy?.policy;
}

const stop: StopVerdict = { type: "stop", reason: "not now" };

Deno.test("policies: a preDispatch stop wins over an onDelta stop that follows it", async () => {
  const policies = [{ name: "preDispatch", preDispatch: () => stop }];
  assertEquals(await stopDuringPause(() => ({ policies })), "preDispatch");
});

for (const slot of ["preRequest", "preDispatch"] as const) {
  Deno.test(`policies: an onDelta stop wins over a ${slot} stop that follows it`, async () => {
    const stoppedBy = await stopDuringPause((pause) => ({
      policies: [{ name: slot, [slot]: () => pause().then(() => stop) }],
    }));
    assertEquals(stoppedBy, "onDelta");
  });
}

Deno.test("policies: every slot has the model of its turn, postLoop that of the next one", async () => {
  const models: string[] = [];
  const { agent } = testAgent([reply([toolCall("look")]), reply("Seen")], {
    tools: [look()],
    policies: [{
      name: "watch",
      preTurn: ({ model }) => void models.push(`preTurn ${model.modelId}`),
      postTurn: ({ model, turn }) => {
        models.push(`postTurn ${model.modelId}`);
        agent.setModel(`test/after-${turn}`);
      },
      postLoop: ({ model }) => void models.push(`postLoop ${model.modelId}`),
    }],
  });
  await checkEvents(agent.promptStream("Look"));
  assertEquals(models, [
    "preTurn model",
    "postTurn model",
    "preTurn after-1",
    "postTurn after-1",
    "postLoop after-2",
  ]);
});
