import { assertEquals } from "@std/assert";
import type { Policy, PreRequestContext, PreRequestVerdict } from "../../src/core/hooks/policy.ts";
import type { ToolChoice } from "../../src/core/streams/stream.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { reply } from "../../src/testing/script.ts";
import { testAgent } from "./test_agent.ts";

/** Returns the choice of a request whose tools `look` and `write` a policy changes. */
async function requestChoice(
  toolChoice: ToolChoice,
  preRequest: (context: PreRequestContext) => PreRequestVerdict,
): Promise<ToolChoice | undefined> {
  const policy: Policy = { name: "choose", preRequest };
  const { agent, streamFn } = testAgent([reply("Done")], {
    tools: [fakeTool({ name: "look" }), fakeTool({ name: "write" })],
    policies: [policy],
    toolChoice,
  });
  await agent.prompt("Go");
  return streamFn.calls[0]?.options.toolChoice;
}

Deno.test("tool choice: becomes auto when a policy leaves the chosen tool out of the request", async () => {
  const change = ({ tools }: PreRequestContext): PreRequestVerdict => ({
    type: "change",
    tools: tools.filter(({ name }) => name !== "write"),
  });
  const hide = ({ tools }: PreRequestContext): PreRequestVerdict => ({
    type: "hide",
    tools: tools.filter(({ name }) => name === "write"),
  });
  for (const preRequest of [change, hide]) {
    assertEquals(await requestChoice({ name: "write" }, preRequest), "auto");
    assertEquals(await requestChoice({ name: "look" }, preRequest), { name: "look" });
    assertEquals(await requestChoice("required", preRequest), "required");
  }
  assertEquals(await requestChoice("required", () => ({ type: "change", tools: [] })), "auto");
});

Deno.test("tool choice: one of a tool that never existed is sent, so that the provider reports it", async () => {
  assertEquals(await requestChoice({ name: "lok" }, () => {}), { name: "lok" });
});

Deno.test("tool choice: one of a tool of the provider stays when a policy leaves others out", async () => {
  const hide = ({ tools }: PreRequestContext): PreRequestVerdict => ({ type: "hide", tools });
  assertEquals(await requestChoice({ name: "web_search" }, hide), { name: "web_search" });
});
