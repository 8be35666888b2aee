import { assertEquals } from "@std/assert";
import { agentLoop } from "../../loop/loop.ts";
import { reply } from "../../testing/script.ts";
import { scriptedStream } from "../../testing/scripted_stream.ts";
import { userMessage } from "../messages/message.ts";
import { modelSpec } from "../models/model.ts";

Deno.test("StreamOptions: a model call sets no temperature, maxTokens or transport by default [2.12]", async () => {
  const streamFn = scriptedStream([reply("Hi")]);
  const context = { systemPrompt: "", messages: [], tools: [] };
  const config = { model: modelSpec("test/model"), streamFn };
  await Array.fromAsync(agentLoop([userMessage("Hi", 0)], context, config));
  assertEquals(streamFn.calls.map(({ options }) => options), [{}]);
});
