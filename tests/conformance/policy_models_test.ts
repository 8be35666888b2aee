import { assertEquals } from "@std/assert";
import type { Policy } from "../../src/core/hooks/policy.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "./test_agent.ts";

Deno.test("policies: a policy that changes the model of its context changes neither the agent nor the request", async () => {
  const slots: string[] = [];
  const policy = { name: "renaming" };
  const names = [
    ...["preTurn", "preRequest", "onDelta", "preDispatch", "postDispatch", "postTurn", "postLoop"],
  ];
  for (const name of names) {
    Object.assign(policy, {
      [name]: ({ model, request }: { model: object; request?: { model: object } }) => {
        if (!slots.includes(name)) slots.push(name);
        Object.assign(model, { modelId: "other" });
        if (request) Object.assign(request.model, { modelId: "other" });
      },
    });
  }
  const { agent, streamFn } = testAgent([reply([toolCall("look")]), reply("Done")], {
    tools: [fakeTool({ name: "look" })],
    policies: [policy as Policy],
  });
  await agent.prompt("Go");
  assertEquals(slots, names);
  assertEquals(agent.state.model, modelSpec("test/model"));
  assertEquals(streamFn.calls.map(({ model }) => model.modelId), ["model", "model"]);
});
