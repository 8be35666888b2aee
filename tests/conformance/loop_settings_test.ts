import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../src/core/errors/errors.ts";
import { userMessage } from "../../src/core/messages/message.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { agentLoop, agentLoopContinue } from "../../src/loop/loop.ts";
import type { AgentLoopConfig, TurnSettings } from "../../src/loop/run/config.ts";
import { checkEvents } from "../../src/testing/event_grammar.ts";
import { fakeTool } from "../../src/testing/fake_tool.ts";
import { assistantMessage, toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { eventsOfType, outlineMessages } from "./outline.ts";

const model = modelSpec("test/model");
const empty = { systemPrompt: "", messages: [], tools: [] };
const prompt = [userMessage("Go", 0)];

const INVALID: readonly (readonly [name: string, settings: () => unknown, problem: string])[] = [
  ["throws", () => {
    throw new Error("no settings");
  }, "settings failed: no settings"],
  ["returns a promise", () => Promise.resolve({ model, ...empty }), "settings returned a promise"],
  ["returns no model", () => empty, "A model must have a provider and a modelId"],
  ["returns no prompt", () => ({ model, tools: [] }), "systemPrompt must be a string"],
  ["returns a tool that is none", () => ({ ...empty, model, tools: [5] }), "A tool must be an"],
];

for (const [name, settings, problem] of INVALID) {
  Deno.test(`settings of agentLoop(): a function that ${name} ends the run in an error, without a request`, async () => {
    let calls = 0;
    for (const isFirst of [true, false]) {
      const streamFn = scriptedStream([reply([toolCall("look")]), reply("Seen")]);
      const tools = [fakeTool({ name: "look" })];
      const config = {
        model,
        streamFn,
        settings: () => (isFirst || calls++ > 0) ? settings() : { model, systemPrompt: "", tools },
      } as unknown as AgentLoopConfig;
      const events = await checkEvents(agentLoop(prompt, { ...empty, tools }, config));
      const [end] = eventsOfType(events, "agent_end");
      assertEquals(end?.stopReason, "error");
      assertEquals(end?.error?.message.includes(problem), true, end?.error?.message);
      assertEquals(streamFn.calls.length, isFirst ? 0 : 1);
    }
  });
}

Deno.test("settings of agentLoop(): a function that fails runs no pending tool call", async () => {
  const tool = fakeTool({ name: "look" });
  const call = toolCall("look", {}, { id: "c1" });
  const pending = { pendingApprovals: [{ toolCallId: "c1", name: "look", arguments: {} }] };
  const context = { ...empty, tools: [tool], messages: [...prompt, assistantMessage([call])] };
  const settings = (): TurnSettings => {
    throw new Error("no settings");
  };
  const config = { model, streamFn: scriptedStream([]), settings };
  const options = { pending, approvals: { c1: true } };
  const events = await checkEvents(agentLoopContinue(context, config, options));
  const [end] = eventsOfType(events, "agent_end");
  assertEquals([end?.stopReason, tool.calls.length], ["error", 0]);
  assertEquals(outlineMessages(end?.messages ?? []), [
    "tool_result: Tool call failed: settings failed: no settings",
  ]);
});

Deno.test("settings of agentLoop(): null and undefined are those of the context", async () => {
  for (const returned of [null, undefined]) {
    const streamFn = scriptedStream([reply("Hello")]);
    const config = { model, streamFn, settings: () => returned as never };
    await checkEvents(agentLoop(prompt, { ...empty, systemPrompt: "Be brief" }, config));
    assertEquals(streamFn.calls[0]?.context.systemPrompt, "Be brief");
  }
});

Deno.test("agentLoop() and agentLoopContinue() throw for a signal that is none", () => {
  const config = { model, streamFn: scriptedStream([]) };
  const context = { ...empty, messages: prompt };
  for (const signal of [5, {}, new AbortController(), { addEventListener() {} }]) {
    const options = { signal: signal as unknown as AbortSignal };
    assertThrows(
      () => agentLoop(prompt, empty, config, options),
      BadRequestError,
      "signal must be an AbortSignal",
    );
    assertThrows(() => agentLoopContinue(context, config, options), BadRequestError);
  }
});

Deno.test("agentLoop(): a context without a system prompt has none, and one that is no string is refused", async () => {
  const streamFn = scriptedStream([reply("Hello"), reply("Hello")]);
  const config = { model, streamFn };
  const { systemPrompt: _none, ...untyped } = empty;
  await checkEvents(agentLoop(prompt, untyped as never, config));
  await checkEvents(agentLoopContinue({ ...untyped, messages: prompt } as never, config));
  assertEquals(streamFn.calls.map(({ context }) => context.systemPrompt), ["", ""]);
  for (const systemPrompt of [null, 5, ["Be brief"]]) {
    assertThrows(
      () => agentLoop(prompt, { ...empty, systemPrompt } as never, config),
      BadRequestError,
      "systemPrompt must be a string",
    );
  }
});
