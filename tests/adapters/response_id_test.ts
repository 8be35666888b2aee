import { assertEquals } from "@std/assert";
import { createAnthropic } from "../../adapters/anthropic/mod.ts";
import { createGoogle } from "../../adapters/google/mod.ts";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { replayFetch } from "../../src/testing/replay_fetch.ts";
import { richRequest } from "./rich_conversation.ts";

const headers = { "content-type": "text/event-stream" };

for (
  const { file, model, create, responseId } of [
    {
      file: "anthropic/text.sse",
      model: "anthropic/claude-sonnet-5-5",
      create: createAnthropic,
      responseId: "msg_01",
    },
    {
      file: "openai/chat_text.sse",
      model: "openai/gpt-4o",
      create: (options: object) => createOpenAI({ ...options, api: "chat" }),
      responseId: "chatcmpl-1",
    },
    {
      file: "openai/responses_text.sse",
      model: "openai/gpt-5",
      create: (options: object) => createOpenAI({ ...options, api: "responses" }),
      responseId: "resp_1",
    },
    {
      file: "google/text.sse",
      model: "google/gemini-2.5-pro",
      create: createGoogle,
      responseId: "RUy4aObyJcTujrEP",
    },
  ]
) {
  Deno.test(`${file}: done has the provider's id of the reply`, async () => {
    const body = await Deno.readFile(new URL(`../fixtures/${file}`, import.meta.url));
    const streamFn = create({ apiKey: "test", fetch: replayFetch({ headers, body }) });
    const { events } = await readReply(streamFn(richRequest(modelSpec(model))));
    const done = events.at(-1);
    assertEquals(done?.type === "done" && done.responseId, responseId);
  });
}
