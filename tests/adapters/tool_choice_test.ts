import { assertEquals } from "@std/assert";
import { webSearch } from "../../src/core/server_tool.ts";
import type { StreamOptions, ToolSpec } from "../../src/core/stream.ts";
import { NINE_PROVIDERS, type ProviderSubject } from "./nine_providers.ts";
import { READ_FILE } from "./handmade_streams.ts";
import { prompt } from "./rich_conversation.ts";
import { captureRequest } from "./sent_request.ts";

/** Sends a request, and returns its body as text and the warnings about the tool choice. */
async function send(
  { createStreamFn, model }: ProviderSubject,
  tools: readonly ToolSpec[],
  options: StreamOptions,
): Promise<{ readonly body: string; readonly warnings: readonly string[] }> {
  const context = { systemPrompt: "", messages: [prompt("Hi")], tools };
  const signal = new AbortController().signal;
  const request = { model, context, options, signal };
  const { body, warnings } = await captureRequest((fetch) => createStreamFn({ fetch }), request);
  return {
    body: JSON.stringify(body),
    warnings: warnings.filter(({ code }) => code === "tool_choice_left_out")
      .map(({ message }) => message),
  };
}

Deno.test("adapters: a tool choice without its tool is omitted with a warning", async () => {
  for (const subject of NINE_PROVIDERS) {
    const missing = await send(subject, [READ_FILE], { toolChoice: { name: "write_file" } });
    const message = 'toolChoice names "write_file", which is not a tool of the request';
    assertEquals(missing.warnings, [message], subject.name);
    assertEquals(missing.body, (await send(subject, [READ_FILE], {})).body, subject.name);
    const required = await send(subject, [], { toolChoice: "required" });
    const problem = "toolChoice requires a call, but the request has no tools";
    assertEquals(required.warnings, [problem], subject.name);
    assertEquals(required.body, (await send(subject, [], {})).body, subject.name);
    for (const toolChoice of ["auto", "none"] as const) {
      assertEquals((await send(subject, [], { toolChoice })).warnings, [], subject.name);
    }
  }
});

Deno.test("adapters: a forced call of a server tool is sent, or omitted with a warning", async () => {
  for (const subject of NINE_PROVIDERS) {
    const serverTools = [webSearch()];
    for (const toolChoice of ["required", { name: "web_search" }] as const) {
      const { body, warnings } = await send(subject, [], { serverTools, toolChoice });
      const isSent = body !== (await send(subject, [], { serverTools })).body;
      assertEquals(isSent, warnings.length === 0, `${subject.name}: ${warnings}`);
    }
  }
});
