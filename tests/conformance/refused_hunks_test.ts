import { assertEquals, assertStringIncludes } from "@std/assert";
import type { AgentTool } from "../../src/core/tools/tool.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { type FakeTool, fakeTool } from "../../src/testing/fake_tool.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";
import { testAgent } from "./test_agent.ts";

/** A tool that writes a text, whose lines are the hunks of its change. */
function hunkTool(options: Partial<AgentTool> = {}): FakeTool {
  return {
    ...fakeTool({ name: "write" }),
    omitHunks: (args, { refused }) => {
      const hunks = refused.flatMap(({ hunks }) => hunks);
      return Promise.resolve({
        text: String(args["text"]).split(" ").filter((line) => !hunks.includes(line)).join(" "),
      });
    },
    ...options,
  };
}

const refuseHunks = (hunks: unknown, path = "a.txt") => () =>
  ({ type: "approved", refusedHunks: [{ path, hunks }] }) as never;

Deno.test("refused hunks: the call runs without them, checked by policies, and the model reads which", async () => {
  const write = hunkTool();
  const checked: unknown[] = [];
  const { agent, streamFn } = testAgent(
    [reply([toolCall("write", { text: "one two three" })]), reply("Done")],
    {
      tools: [write],
      approve: refuseHunks(["two"]),
      policies: [{
        name: "watch",
        preDispatch: ({ arguments: args }) => void checked.push({ ...args }),
      }],
    },
  );
  const events = await checkEvents(agent.promptStream("Go"));
  assertEquals(checked, [{ text: "one two three" }, { text: "one three" }]);
  assertEquals(write.calls.map((call) => call.arguments), [{ text: "one three" }]);
  assertEquals(eventsOfType(events, "tool_execution_start")[0]?.arguments, { text: "one three" });
  assertEquals(eventsOfType(events, "tool_approval_resolved")[0]?.decision, {
    type: "approved",
    refusedHunks: [{ path: "a.txt", hunks: ["two"] }],
  });
  const request = outlineMessages(streamFn.calls[1]?.context.messages ?? []);
  assertStringIncludes(
    request[2] ?? "",
    "These parts of the changes were refused, and not made:\na.txt\ntwo",
  );
});

const partRefused = "a part of its changes is refused, and ";
for (
  const [kind, tool, approve, words] of [
    [
      "the tool makes all of its changes",
      { omitHunks: undefined },
      refuseHunks(["two"]),
      `${partRefused}the tool "write" can only make all of them`,
    ],
    [
      "the tool does not leave them out",
      {},
      refuseHunks(["four"]),
      `${partRefused}the tool "write" did not leave them out`,
    ],
    [
      "the tool fails",
      { omitHunks: () => Promise.reject(new Error("no such hunk")) },
      refuseHunks(["two"]),
      `${partRefused}the others cannot be made alone: no such hunk`,
    ],
    [
      "the tool returns no arguments",
      { omitHunks: () => Promise.resolve("x" as never) },
      refuseHunks(["two"]),
      "the arguments are not an object",
    ],
    [
      "they are no texts",
      {},
      refuseHunks([2]),
      "refusedHunks must be a list",
    ],
    [
      "they are no list",
      {},
      (() => ({ type: "approved", refusedHunks: "two" })) as never,
      "refusedHunks must be a list",
    ],
    [
      "the arguments are edited too",
      {},
      () => ({ type: "approved", arguments: {}, refusedHunks: [] } as const),
      "refusedHunks must be a list",
    ],
  ] as const
) {
  Deno.test(`refused hunks: the call does not run when ${kind}`, async () => {
    const write = hunkTool(tool);
    const { agent } = testAgent([reply([toolCall("write", { text: "one two" })]), reply("Done")], {
      tools: [write],
      approve,
    });
    await checkEvents(agent.promptStream("Go"));
    assertEquals(write.calls, []);
    assertStringIncludes(outlineMessages(agent.state.messages)[2] ?? "", words);
  });
}

Deno.test("refused hunks: an approval without any runs the call as it is", async () => {
  const write = hunkTool({ omitHunks: undefined });
  const { agent } = testAgent([reply([toolCall("write", { text: "one" })]), reply("Done")], {
    tools: [write],
    approve: refuseHunks([]),
  });
  await checkEvents(agent.promptStream("Go"));
  assertEquals(write.calls.map((call) => call.arguments), [{ text: "one" }]);
});

Deno.test("refused hunks: an abort ends a tool that never returns the arguments", async () => {
  const write = hunkTool({ omitHunks: () => new Promise(() => {}) });
  const { agent } = testAgent([reply([toolCall("write", { text: "one" })])], {
    tools: [write],
    approve: () => {
      queueMicrotask(() => agent.abort());
      return refuseHunks(["one"])();
    },
  });
  const { stopReason } = await agent.prompt("Go");
  assertEquals([stopReason, write.calls], ["aborted", []]);
});
