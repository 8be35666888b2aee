import { assert, assertEquals } from "@std/assert";
import { userMessage } from "../../mod.ts";
import { createFixture, toReply, WEATHER } from "./local_fixture.ts";
import { llama } from "./tiny_models.ts";

const ignore = llama === undefined;

Deno.test({
  name: "createLocal(): two conversations that take turns keep their contexts with parallel: 2",
  ignore,
}, async () => {
  await using fixture = await createFixture({ parallel: 2 });
  const prompts = ["You are an agent that answers.", "You are a helper that searches files."];
  const messages = prompts.map(() => [userMessage("!hello", 0)]);
  for (let turn = 0; turn < 3; turn++) {
    for (const [index, systemPrompt] of prompts.entries()) {
      const conversation = messages[index] ?? [];
      const reply = await fixture.ask(conversation, { systemPrompt });
      assertEquals(reply.text, "Hello world, dear user");
      const { input = 0, cacheRead = 0 } = reply.usage ?? {};
      assert(turn === 0 ? cacheRead < 25 : input < 40, `${turn}: ${input} and ${cacheRead}`);
      conversation.push(toReply(reply) as never, userMessage(`!hello ${turn}`, 0));
    }
  }
});

Deno.test({
  name:
    "createLocal(): conversations with the same system prompt keep their contexts with parallel: 2",
  ignore,
}, async () => {
  await using fixture = await createFixture({ parallel: 2, contextSize: 1_536 });
  const systemPrompt = "You are an agent that answers questions about files. ".repeat(8);
  const first = [userMessage(`!hello ${"Read all of these files. ".repeat(20)}`, 0)];
  const second = [userMessage("!hello Two", 0)];
  for (let turn = 0; turn < 4; turn++) {
    for (const [index, conversation] of [first, second].entries()) {
      const reply = await fixture.ask(conversation, { systemPrompt });
      const { input = 0 } = reply.usage ?? {};
      assert(turn === 0 || input < 60, `turn ${turn} of conversation ${index}: ${input}`);
      conversation.push(toReply(reply) as never, userMessage(`!hello ${turn}`, 0));
    }
  }
});

Deno.test({
  name: "createLocal(): the choice of one tool evaluates no earlier message again",
  ignore,
}, async () => {
  await using fixture = await createFixture();
  const tools = [{ ...WEATHER, name: "climate" }, WEATHER];
  const first = await fixture.ask("!hello", { tools });
  const messages = [userMessage("!hello", 0), toReply(first), userMessage("!hello", 0)];
  const toolChoice = { name: "weather" };
  const { content, usage } = await fixture.ask(messages, { tools, toolChoice });
  assertEquals(content.map((block) => block.type === "tool_call" && block.name), ["weather"]);
  assert((usage?.input ?? 1_000) < 40, `${usage?.input} tokens were evaluated`);
});
