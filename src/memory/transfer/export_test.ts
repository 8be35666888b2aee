import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { SessionError } from "../../core/errors/errors.ts";
import { type AgentMessage, userMessage } from "../../core/messages/message.ts";
import type { Session } from "../../core/sessions/session.ts";
import {
  assistantMessage,
  text,
  thinking,
  toolCall,
  toolResultMessage,
} from "../../testing/messages.ts";
import { FileSessionStore } from "../file/file_store.ts";
import { InMemorySessionStore } from "../storage/in_memory_store.ts";
import { exportHtml } from "./export_html.ts";
import { exportJsonl } from "./export_jsonl.ts";
import { exportMarkdown } from "./export_markdown.ts";
import { forkSession } from "./fork.ts";
import { importSession } from "./import_session.ts";

const MALICIOUS_TEXT = `<script>alert("1")</script> & 'x' \u001b[31m`;

async function createSampleSession(): Promise<Session> {
  let id = 0;
  const store = new InMemorySessionStore({ now: () => 86_400_000, newId: () => `e${++id}` });
  const session = await store.create({ id: "sample", cwd: "/work" });
  const call = toolCall("bash", { command: "echo ````" }, { id: "call_1" });
  const unanswered = toolCall("bash", {}, { id: "call_2" });
  const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, total: 120 };
  session.append({ type: "message", message: userMessage(`Hello ${MALICIOUS_TEXT}`, 86_400_000) });
  session.append({
    type: "message",
    message: assistantMessage([thinking("hm\nhm"), text("I look."), call, unanswered], { usage }),
  });
  session.append({
    type: "approval",
    toolCallId: "call_1",
    name: "bash",
    decision: { type: "approved" },
  });
  session.append({
    type: "message",
    message: toolResultMessage(call, [
      text("Exit code: 0\n```\nfence\n```"),
      { type: "image", source: { type: "base64", mediaType: "image/png", data: "iVBORw0K" } },
      { type: "image", source: { type: "base64", mediaType: "image/svg+xml", data: "PHN2Zz4=" } },
      { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
    ]),
  });
  session.append({
    type: "message",
    message: assistantMessage("Oh", { stopReason: "error", errorMessage: MALICIOUS_TEXT }),
  });
  session.append({ type: "plan_mode", active: true });
  return session;
}

Deno.test("exportHtml() escapes every text, makes tool calls collapsible and loads no resources", async () => {
  const page = await exportHtml(await createSampleSession());
  assert(!page.includes("<script"));
  assert(!page.includes("\u001b"));
  assert(page.includes("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"));
  assert(page.includes(`default-src 'none'`));
  assert(!/(src|href)="(?!data:image\/png;base64,iVBORw0K)/.test(page));
  assertEquals(page.match(/<details class="tool/g)?.length, 2);
  assertEquals(page.match(/<details class="thinking/g)?.length, 1);
  assert(page.includes("<summary>bash: done</summary>"));
  assert(page.includes("<summary>bash: no result</summary>"));
  assert(page.includes("(an image, image/svg+xml)"));
  assert(page.includes("Approved: bash"));
  assert(page.includes("120 tokens"));
  assert(page.includes("1970-01-02T00:00:00.000Z"));
});

/** Creates a session with a change of a file whose diff would be HTML. */
async function createChangedSession(): Promise<Session> {
  const session = await new InMemorySessionStore().create({ id: "changed" });
  const call = toolCall("edit_file", { path: "a.ts" }, { id: "call_1" });
  const diff = "--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n same\n-<b>old\n+```new\n--- x\n";
  const details = { change: { path: "a.ts", before: "", after: "", diff } };
  session.append({ type: "message", message: assistantMessage([call]) });
  session.append({
    type: "message",
    message: { ...toolResultMessage(call, [text("Edited a.ts (+1 -1)")]), details },
  });
  return session;
}

Deno.test("exportHtml() shows the diff of a change with a class for each kind of line", async () => {
  const page = await exportHtml(await createChangedSession());
  assert(
    page.includes(
      '<details class="tool" open><summary>edit_file: done</summary><h3>Change</h3><pre class="diff">' +
        '<span class="file">--- a/a.ts</span>\n<span class="file">+++ b/a.ts</span>\n' +
        '<span class="hunk">@@ -1,2 +1,2 @@</span>\n same\n' +
        '<span class="removed">-&lt;b&gt;old</span>\n<span class="added">+```new</span>\n' +
        '<span class="removed">--- x</span></pre>',
    ),
    page,
  );
  const redacted = await exportHtml(await createChangedSession(), {
    redact: (text) => text.replaceAll("old", "…"),
  });
  assert(!redacted.includes("old"));
});

Deno.test("exportMarkdown() shows the diff of a change", async () => {
  const markdown = await exportMarkdown(await createChangedSession());
  assert(
    markdown.endsWith(
      "Change:\n\n````diff\n--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,2 @@\n same\n-<b>old\n+```new\n--- x\n````\n",
    ),
    markdown,
  );
});

Deno.test("exportMarkdown() shows every turn, with fences longer than those in tool output", async () => {
  const markdown = await exportMarkdown(await createSampleSession());
  assertEquals(
    markdown.replaceAll(MALICIOUS_TEXT.trim(), "EVIL"),
    `# Hello EVIL

Session \`sample\` · 1970-01-02T00:00:00.000Z · in \`/work\` · 120 tokens

## User

Hello EVIL

## Assistant (test/test-model)

> hm
> hm

I look.

### Tool: bash

\`\`\`\`\`json
{
  "command": "echo \`\`\`\`"
}
\`\`\`\`\`

Result:

\`\`\`\`
Exit code: 0
\`\`\`
fence
\`\`\`
\`\`\`\`

*(an image, image/png)*

*(an image, image/svg+xml)*

*(an image: <https://example.com/a.png>)*

### Tool: bash

\`\`\`json
{}
\`\`\`

No result

> Approved: bash

## Assistant (test/test-model)

Oh

**Error:** EVIL

> Plan mode: read-only tools
`,
  );
});

Deno.test("exportMarkdown() exports a result with very many backticks", async () => {
  const session = await new InMemorySessionStore().create();
  const call = toolCall("read", {});
  session.append({ type: "message", message: assistantMessage([call]) });
  const result = toolResultMessage(call, [text("``` ".repeat(200_000))]);
  session.append({ type: "message", message: result });
  assert((await exportMarkdown(session)).includes("\n````\n``` ```"));
});

Deno.test("exportMarkdown() shows a label, and nothing for a removed one", async () => {
  const session = await new InMemorySessionStore().create();
  const { id } = session.append({ type: "message", message: userMessage("Hello", 1) });
  session.append({ type: "label", targetId: id, label: "before the change" });
  session.append({ type: "label", targetId: id, label: null });
  const markdown = await exportMarkdown(session);
  assertEquals(markdown.match(/^> .*$/gm), ["> Label: before the change"]);
});

Deno.test("exports show a reply without amounts in the session to which it was appended", async () => {
  const store = new InMemorySessionStore();
  const { usage: _usage, cost: _cost, ...reply } = assistantMessage("Hello");
  await using session = await store.create({ id: "s" });
  session.append({ type: "message", message: reply as AgentMessage });
  await session.flush();
  await using stored = await store.open("s", { access: "read" });
  assertEquals(await session.path(), await stored.path());
  for (const exportSession of [exportMarkdown, exportHtml, exportJsonl]) {
    const text = await exportSession(session);
    assert(text.includes("Hello"));
    assertEquals(text, await exportSession(stored));
  }
});

Deno.test("importSession() restores the entries of all branches from exportJsonl()", async () => {
  const session = await createSampleSession();
  const [first] = session.outline;
  session.moveLeaf(first?.id ?? null);
  const store = new InMemorySessionStore();
  const { session: copy, damage } = await importSession(store, await exportJsonl(session));
  assertEquals(damage, []);
  assertEquals(await copy.path(), await session.path());
  assertEquals(copy.outline, session.outline);
  assertEquals(copy.header.cwd, "/work");
  assert(copy.id !== session.id);
});

Deno.test("importSession() keeps the time of creation, the tenant, the user and the metadata", async () => {
  const store = new InMemorySessionStore();
  const about = {
    created: 1000,
    tenant: "acme",
    user: "amy@example.com",
    metadata: { plan: "pro" },
  };
  await using session = await store.create({ id: "a", cwd: "/work", ...about });
  session.append({ type: "title", title: "Old" });
  const jsonl = await exportJsonl(session);
  const { session: copy } = await importSession(store, jsonl, { id: "b", created: 2000 });
  assertEquals(copy.header, { ...session.header, id: "b" });
  await copy.close();
  const { session: list } = await importSession(
    store,
    JSON.stringify(userMessage("Hi", 5)),
    { created: 2000 },
  );
  assertEquals(list.header.created, 2000);
  await list.close();
});

Deno.test("importSession() returns the damage, and rejects if there is no entry", async () => {
  const store = new InMemorySessionStore();
  const message = JSON.stringify(userMessage("hi", 1));
  const { session, damage } = await importSession(store, `${message}\nnoise\n${message}`, {
    id: "x",
  });
  assertEquals(session.id, "x");
  assertEquals((await session.path()).length, 2);
  assertEquals(damage.map(({ type }) => type), ["broken_line"]);
  for (const jsonl of ["", "noise", `{"type":"session","version":1,"id":"s","created":1}`]) {
    await assertRejects(() => importSession(store, jsonl), SessionError, "no session entry");
  }
});

Deno.test("exportJsonl(), exportMarkdown(), exportHtml(): redact is applied to every text", async () => {
  const store = new InMemorySessionStore();
  const session = await store.create({
    id: "SECRET@example.com",
    cwd: "/home/SECRET",
    metadata: { id: "SECRET", "a SECRET key": 1 },
  });
  const call = toolCall(
    "SECRET",
    { id: "SECRET", deep: [{ type: "SECRET", SECRET: [{ "a SECRET key": 1 }] }] },
    { id: "call_1" },
  );
  session.append({ type: "title", title: "SECRET" });
  session.append({ type: "message", message: assistantMessage([text("SECRET"), call]) });
  session.append({
    type: "message",
    message: toolResultMessage(call, "SECRET", { details: { id: "SECRET" } }),
  });
  const redact = (text: string) => text.replaceAll("SECRET", "…");
  for (const write of [exportJsonl, exportMarkdown, exportHtml]) {
    assert((await write(session)).includes("SECRET"));
    const redacted = await write(session, { redact });
    assert(!redacted.includes("SECRET"), redacted);
    assert(redacted.includes("…"));
  }
  const { session: copy } = await importSession(store, await exportJsonl(session, { redact }));
  assertEquals(copy.outline, session.outline);
});

Deno.test("exportMarkdown() exports the path to another leaf", async () => {
  const session = await createSampleSession();
  const markdown = await exportMarkdown(session, { leaf: session.outline[0]?.id ?? null });
  assert(!markdown.includes("Assistant"));
});

Deno.test("exportHtml(), exportMarkdown(): a log of another version may have any time and any block", async () => {
  const jsonl = [
    { type: "session", version: 1, id: "s", created: 1e300 },
    {
      type: "message",
      id: "a",
      parentId: null,
      timestamp: -1e300,
      message: { role: "user", content: [{ type: "hologram", depth: 3 }], timestamp: 1 },
    },
    { type: "plan_mode", id: "b", parentId: "a", timestamp: 9e15, active: true },
  ].map((line) => JSON.stringify(line)).join("\n");
  const { session } = await importSession(new InMemorySessionStore(), jsonl);
  for (const write of [exportHtml, exportMarkdown]) {
    const page = await write(session);
    assert(page.includes("hologram"), page);
    assert(page.includes("time 1e+300"), page);
  }
  await session.close();
});

Deno.test("importSession(), forkSession(): leave out what is nested too deeply, and keep the rest", async () => {
  const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
  const jsonl = [
    `{"type":"session","version":1,"id":"s","created":1,"metadata":${deep}}`,
    `{"type":"custom","id":"a","parentId":null,"timestamp":1,"name":"deep","data":${deep}}`,
    `{"type":"title","id":"b","parentId":"a","timestamp":2,"title":"kept"}`,
  ];
  const directory = await Deno.makeTempDir();
  await Deno.writeTextFile(`${directory}/s.jsonl`, jsonl.join("\n") + "\n");
  const store = new FileSessionStore({ directory });
  const imported = await importSession(store, jsonl.join("\n"), { id: "imported" });
  const fork = await forkSession(store, "s", { id: "fork" });
  for (const session of [imported.session, fork]) {
    assertEquals(session.outline.map(({ id }) => id), ["b"]);
    assertEquals(session.header.metadata, undefined);
    await session.close();
  }
  assertEquals(imported.damage.map(({ type, entryId }) => [type, entryId]), [[
    "broken_entry",
    "a",
  ]]);
  await Deno.remove(directory, { recursive: true });
});

Deno.test("exportHtml() and exportMarkdown() export data of any depth in a log of another program", async () => {
  const directory = await createDeepLog("needle");
  await using session = await new FileSessionStore({ directory }).open("s", { access: "read" });
  for (const page of [await exportHtml(session), await exportMarkdown(session)]) {
    assert(page.includes("needle"));
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("exportMarkdown(): closes a code block that an aborted reply leaves open", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create();
  const append = (content: string) =>
    session.append({ type: "message", message: assistantMessage(content) });
  append("Run:\n~~~~sh\n~~~\n```\nls");
  append("```ts\nconst a = 1;\n```\n```inline``` and ~~struck~~ text");
  append("```md\n~~~\n```js\n````");
  const markdown = await exportMarkdown(session);
  assert(markdown.includes("```\nls\n~~~~\n\n## Assistant"), markdown);
  assert(markdown.includes("~~struck~~ text\n\n## Assistant"), markdown);
  assert(markdown.endsWith("```js\n````\n"), markdown);
});

Deno.test("exports redact data of any depth in a log of another program", async () => {
  const directory = await createDeepLog("SECRET");
  await using session = await new FileSessionStore({ directory }).open("s", { access: "read" });
  const redact = (text: string) => text.replaceAll("SECRET", "…");
  for (const write of [exportHtml, exportMarkdown, exportJsonl]) {
    const redacted = await write(session, { redact });
    assert(redacted.includes("…") && !redacted.includes("SECRET"));
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("exportMarkdown(): a call has its own result if each reply has a call with the same id", async () => {
  const store = new InMemorySessionStore();
  const messages = ["Paris", "Rome"].flatMap((city) => {
    const call = toolCall("weather", { city }, { id: "call_0" });
    return [assistantMessage([call]), toolResultMessage(call, `The weather of ${city}`)];
  });
  const lines = [userMessage("Where does the sun shine?", 1), ...messages];
  const { session } = await importSession(
    store,
    lines.map((line) => JSON.stringify(line)).join("\n"),
  );
  const markdown = await exportMarkdown(session);
  assert(
    /"Paris"[^#]*The weather of Paris[^]*"Rome"[^#]*The weather of Rome/.test(markdown),
    markdown,
  );
  await session.close();
});

Deno.test("exportHtml(), exportMarkdown(): a decision names its rule, or who made it", async () => {
  const store = new InMemorySessionStore();
  await using session = await store.create({ id: "decisions" });
  const decisions: readonly ApprovalDecision[] = [
    { type: "approved", rule: "Bash(<b> *)", ruleSource: "/rules.toml", origin: "rule" },
    { type: "approved", scope: "prefix", prefix: "git", origin: "person" },
    { type: "denied", reason: "No.", origin: "policy" },
    { type: "denied" },
    // Of another version.
    { type: "denied", origin: "constructor" as "person" },
  ];
  for (const decision of decisions) {
    session.append({ type: "approval", toolCallId: "c", name: "bash", decision });
  }
  const notes = [
    "Approved: bash, by the rule Bash(<b> *) of /rules.toml",
    "Approved for the session: bash git…, by a person",
    "Denied: bash (No.), by a policy",
    "Denied: bash",
    "Denied: bash, by constructor",
  ];
  const markdown = await exportMarkdown(session);
  for (const note of notes) assert(markdown.includes(note), markdown);
  const page = await exportHtml(session);
  assert(page.includes("by the rule Bash(&lt;b&gt; *) of /rules.toml"), page);
});

/** Writes the log of another program, a message of which has a text at great depth; returns its directory. */
async function createDeepLog(text: string): Promise<string> {
  const directory = await Deno.makeTempDir();
  const data = `${"[".repeat(20_000)}"${text}"${"]".repeat(20_000)}`;
  const position = `"id":"e1","parentId":null,"timestamp":1`;
  const message = `{"role":"custom","type":"note","timestamp":1,"data":${data}}`;
  await Deno.writeTextFile(
    `${directory}/s.jsonl`,
    `{"type":"session","version":1,"id":"s","created":1}\n{"type":"message",${position},"message":${message}}\n`,
  );
  return directory;
}
