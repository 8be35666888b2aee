import { assertEquals, assertStringIncludes } from "@std/assert";
import { createOpenAI } from "../../adapters/openai/mod.ts";
import { modelSpec } from "../../src/core/models/model.ts";
import { encodeBase64 } from "../../src/core/text/byte_encoding.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { prompt } from "./rich_conversation.ts";

const KEY = '???Zm9v/YmFy+cXV4"==';
/** Unencoded parts of the key, which remain if the rest is replaced alone. */
const PARTS = /Zm9v|YmFy|cXV4|Wm05di9ZbUZ5/;

const inUrl = encodeURIComponent(KEY);
const inBase64 = encodeBase64(new TextEncoder().encode(KEY));
const inJson = JSON.stringify(KEY).slice(1, -1);

/** The key in the forms in which a server may repeat it. */
const FORMS: Readonly<Record<string, string>> = {
  "as it is": KEY,
  "in a URL": inUrl,
  "in a URL with lower-case digits": inUrl.replace(/%../g, (code) => code.toLowerCase()),
  "in a form": `${new URLSearchParams({ key: KEY })}`,
  "in JSON": inJson,
  "in Base64": inBase64,
  "in Base64 for URLs": inBase64.replaceAll("/", "_").replaceAll("=", ""),
  "in JSON with escaped slashes": inJson.replaceAll("/", "\\/"),
};

async function readError(response: Response): Promise<string> {
  const streamFn = createOpenAI({
    apiKey: KEY,
    api: "chat",
    fetch: () => Promise.resolve(response),
  });
  const { error } = await readReply(streamFn({
    model: modelSpec("openai/gpt-4o"),
    context: { systemPrompt: "", messages: [prompt("Hi")], tools: [] },
    options: {},
    signal: new AbortController().signal,
  }));
  return JSON.stringify([error, `${error?.cause}`]);
}

for (const [name, form] of Object.entries(FORMS)) {
  Deno.test(`adapters: a key ${name} is redacted from errors`, async () => {
    const headers = { "content-type": "text/event-stream", "x-request-id": "r" };
    const frame = `data: {"choices":[{"delta":{"content":5}}],"key":"${form}"}\n\n`;
    const responses = {
      body: new Response(`Denied: ${form}`, { status: 400 }),
      // The error of a redirect has no query.
      redirect: new Response(null, {
        status: 302,
        headers: { location: `https://other.example/login?key=${form}` },
      }),
      "unexpected event": new Response(frame, { headers }),
      "text outside of events": new Response(`Denied: ${form}`, { headers }),
    };
    for (const [place, response] of Object.entries(responses)) {
      const text = await readError(response);
      if (place !== "redirect") assertStringIncludes(text, "[redacted]", place);
      assertEquals(PARTS.exec(text), null, `${place}: ${text}`);
    }
  });
}

Deno.test("adapters: name and password of a URL are redacted from errors, also as the header that fetch sends", async () => {
  const header = encodeBase64(new TextEncoder().encode("dev:pässword"));
  const { error } = await readReply(
    createOpenAI({
      baseUrl: `https://dev:${encodeURIComponent("pässword")}@models.example/v1`,
      keyless: true,
      fetch: () => Promise.resolve(new Response(`Denied: Basic ${header}`, { status: 401 })),
    })({
      model: modelSpec("openai/gpt-4o"),
      context: { systemPrompt: "", messages: [prompt("Hi")], tools: [] },
      options: {},
      signal: new AbortController().signal,
    }),
  );
  assertEquals(error?.message, "openai answered 401: Denied: Basic [redacted]");
});
