import { assertRejects, assertThrows } from "@std/assert";
import { Agent } from "../agent/agent.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { scriptedStream } from "../testing/scripted_stream.ts";
import { contextGauge } from "./context/context_gauge.ts";
import { resumeSession } from "./recording/resume.ts";
import { InMemorySessionStore } from "./storage/in_memory_store.ts";
import { exportHtml } from "./transfer/export_html.ts";
import { exportJsonl } from "./transfer/export_jsonl.ts";
import { exportMarkdown } from "./transfer/export_markdown.ts";
import { forkSession } from "./transfer/fork.ts";

const misspelt: object = { frok: true };

async function createStore(): Promise<InMemorySessionStore> {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "a" });
  session.append({ type: "title", title: "A" });
  return store;
}

Deno.test("resumeSession(), forkSession() and contextGauge() reject options with unknown names", async () => {
  const store = await createStore();
  const isRefused = (call: () => Promise<unknown>) =>
    assertRejects(call, BadRequestError, 'Unknown option "frok"');
  await isRefused(() => resumeSession(store, "a", misspelt));
  await isRefused(() => forkSession(store, "a", misspelt));
  const agent = new Agent({ model: "p/m", streamFn: scriptedStream([]) });
  assertThrows(() => contextGauge(agent, misspelt), BadRequestError, 'Unknown option "frok"');
});

Deno.test("exports reject options with unknown names, such as a misspelt redact", async () => {
  const store = await createStore();
  await using session = await store.open("a", { access: "read" });
  for (const write of [exportJsonl, exportMarkdown, exportHtml]) {
    await assertRejects(
      () => write(session, { redakt: String } as object),
      BadRequestError,
      "did you mean redact?",
    );
  }
});

Deno.test("exportJsonl() rejects a leaf, since it writes all branches", async () => {
  const store = await createStore();
  await using session = await store.open("a", { access: "read" });
  const options: object = { leaf: null };
  await assertRejects(
    () => exportJsonl(session, options),
    BadRequestError,
    'Unknown option "leaf"',
  );
});
