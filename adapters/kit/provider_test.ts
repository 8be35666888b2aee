import { assertEquals, assertStringIncludes } from "@std/assert";
import { zeroUsage } from "../../src/core/models/usage.ts";
import { readReply } from "../../src/testing/read_reply.ts";
import { createMinimalRequest } from "../../tests/adapters/wire_tests.ts";
import { resolveSettings } from "./options/adapter_options.ts";
import { appendQuery, createStreamFn, type Provider } from "./provider.ts";
import { NdjsonParser } from "./stream/ndjson.ts";

type Steps = Pick<Provider<string>, "createParser" | "createReplyReader"> & {
  readonly fetch: typeof globalThis.fetch;
};

/** Calls a provider without keys. */
function call({ fetch, ...reading }: Steps) {
  const url = "https://acme.example";
  const streamFn = createStreamFn({
    settings: resolveSettings({ fetch }, url),
    keyless: true,
    prepare: () => ({ url, headers: {}, body: "{}" }),
    ...reading,
  });
  return readReply(streamFn(createMinimalRequest("acme", "a")));
}

Deno.test("createStreamFn(): parser and reader are created when the request has been sent, before the answer", async () => {
  const steps: string[] = [];
  const { text } = await call({
    async fetch() {
      steps.push("sent");
      await Promise.resolve();
      steps.push("answered");
      return new Response("text\n");
    },
    async createParser() {
      steps.push("parser");
      return await Promise.resolve(new NdjsonParser());
    },
    async createReplyReader({ writer }) {
      steps.push("reader");
      return await Promise.resolve({
        read: (line) => writer.writeText(line),
        end: () => writer.finish({ stopReason: "stop", usage: zeroUsage() }),
      });
    },
  });
  assertEquals(text, "text");
  assertEquals(steps, ["sent", "parser", "reader", "answered"]);
});

Deno.test("createStreamFn(): closes the connection when the reader cannot be created", async () => {
  let connection: AbortSignal | null | undefined;
  const { error } = await call({
    fetch(_url, options) {
      connection = options?.signal;
      return new Promise(() => {});
    },
    createParser: () => new NdjsonParser(),
    createReplyReader: () => Promise.reject(new Error("no such file")),
  });
  assertStringIncludes(error?.message ?? "", "no such file");
  assertEquals(connection?.aborted, true);
});

Deno.test("appendQuery(): appends a query to a URL with or without one", () => {
  assertEquals(appendQuery("https://a.example/v1", "k=1&b"), "https://a.example/v1?k=1&b");
  assertEquals(
    appendQuery("https://a.example/v1?alt=sse", "k=1"),
    "https://a.example/v1?alt=sse&k=1",
  );
  for (const query of [undefined, ""]) {
    assertEquals(appendQuery("https://a.example/v1", query), "https://a.example/v1");
  }
});
