import { assert, assertEquals } from "@std/assert";
import { Agent, defineTool } from "../../mod.ts";
import { InMemorySessionStore } from "../../src/memory/mod.ts";
import { createAgentServer } from "../../src/server/mod.ts";
import { hang, reply, scriptedStream, text, thinking, toolCall } from "../../src/testing/mod.ts";
import { serveLoopback } from "../adapters/loopback.ts";
import { chromium, Page } from "../eval/chromium.ts";
import { DurableWorkers } from "./durable_workers.ts";
import { authenticate, createCounter, TestServer, TOKENS } from "./server_fixture.ts";

const ATTACK = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

/** Replaces the script's answer of `confirm()`, and records violations of the policy. */
const PREPARATION = `
  window.confirm = () => true;
  window.violations = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    window.violations.push(event.violatedDirective + " " + event.blockedURI));
`;

/** Waits in the page until an expression is true. */
async function waitFor(page: Page, expression: string): Promise<void> {
  const found = await page.evaluate(`new Promise((resolve) => {
    const until = Date.now() + 8000;
    const check = () => {
      if (${expression}) resolve("");
      else if (Date.now() > until) resolve(document.body.innerText);
      else setTimeout(check, 20);
    };
    check();
  })`);
  assertEquals(found, "", `The page does not show: ${expression}`);
}

function hasText(selector: string, text: string): string {
  return `document.querySelector(${JSON.stringify(selector)})?.innerText.includes(${
    JSON.stringify(text)
  })`;
}

async function type(page: Page, typed: string): Promise<void> {
  await page.click("#text");
  await page.send("Input.insertText", { text: typed });
}

Deno.test({
  name:
    "page: in Chromium a user signs in, talks, approves, steers, aborts and reloads, without any request to elsewhere",
  ignore: chromium === undefined,
  async fn() {
    const calls: string[] = [];
    const tool = defineTool({
      name: "write_note",
      description: "Writes a note.",
      parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      execute: ({ text }) => {
        calls.push(text);
        return `Wrote ${text}`;
      },
    });
    const streamFn = scriptedStream([
      reply([thinking("The user greets me."), text(`Hello ${ATTACK}`)]),
      reply([
        text("I will write two notes."),
        toolCall("write_note", { text: "first" }),
        toolCall("write_note", { text: "second\u202e\u200b" }),
      ]),
      reply("The first note is written."),
      hang(),
    ]);
    const agents = createAgentServer({
      store: new InMemorySessionStore(),
      createAgent: () =>
        new Agent({
          model: "test/model",
          streamFn,
          tools: [tool],
          approve: () => ({ type: "pending" }),
        }),
      authenticate,
    });
    await using server = serveLoopback((request, connection) => agents.fetch(request, connection));
    await using page = await Page.open(`${server.url}/`);
    await page.evaluate(PREPARATION);
    await waitFor(page, `!document.getElementById("login").hidden`);
    await page.click("#token");
    await page.send("Input.insertText", { text: "not-the-token-of-anyone" });
    await page.click("#login button");
    await waitFor(page, hasText("#login-problem", "valid token"));
    await page.click("#token");
    await page.send("Input.insertText", { text: TOKENS.acme });
    await page.click("#login button");
    await waitFor(page, `!document.getElementById("app").hidden`);

    await page.click("#create");
    await waitFor(page, `!document.getElementById("session").hidden`);
    await type(page, "Hello?");
    await page.click("#send");
    await waitFor(page, hasText("#transcript", ATTACK));
    await waitFor(page, hasText("#status", "idle"));
    assertEquals(await page.evaluate("document.title"), "Sessions");
    assertEquals(await page.evaluate("document.querySelectorAll('#transcript img').length"), 0);

    await type(page, "Write two notes");
    await page.click("#send");
    await waitFor(page, `document.querySelectorAll("#calls fieldset").length === 2`);
    await waitFor(page, hasText("#calls", "second<U+202E><U+200B>"));
    await page.click('#calls fieldset:nth-child(1) input[value="approved"]');
    await page.click('#calls fieldset:nth-child(2) input[value="denied"]');
    await page.click('#calls fieldset:nth-child(2) input[name^="reason"]');
    await page.send("Input.insertText", { text: "one is enough" });
    const file = Deno.env.get("SWINK_SCREENSHOT");
    if (file) await Deno.writeFile(file, await page.takeScreenshot());
    await page.click("#approvals > button");
    await waitFor(page, hasText("#transcript", "The first note is written."));
    await waitFor(page, hasText("#status", "idle"));
    assertEquals(calls, ["first"]);

    await type(page, "Think long");
    await page.click("#send");
    await waitFor(page, hasText("#status", "running"));
    await type(page, "Faster, please");
    await page.click("#steer");
    await waitFor(page, `document.getElementById("text").value === ""`);
    await page.click("#abort");
    await waitFor(page, hasText("#transcript", "Aborted"));

    await page.send("Page.reload");
    await waitFor(page, hasText("#sessions", "Hello?"));
    await page.evaluate(PREPARATION);
    await page.click("#sessions button");
    await waitFor(page, hasText("#transcript", "The first note is written."));
    const messages = "document.querySelectorAll('#transcript article.user').length";
    assertEquals(await page.evaluate(messages), 3);
    if (file) await Deno.writeFile(`${file}.end.png`, await page.takeScreenshot());
    await page.click("#delete");
    await waitFor(page, `document.getElementById("session").hidden`);
    await waitFor(page, `document.querySelectorAll("#sessions button").length === 0`);

    const hosts = await page.evaluate(
      "[...new Set(performance.getEntriesByType('resource').map(({ name }) => new URL(name).origin))]",
    );
    assertEquals(hosts, [server.url]);
    assertEquals(await page.evaluate("window.violations"), []);
    await agents.close();
  },
});

Deno.test({
  name:
    "page: in Chromium a token of the address is used and removed from it, and inline code is blocked",
  ignore: chromium === undefined,
  async fn() {
    const test = new TestServer();
    await test.create({ title: "From the address" });
    await using server = serveLoopback((request, connection) =>
      test.server.fetch(request, connection)
    );
    await using page = await Page.open(`${server.url}/#token=${TOKENS.acme}`);
    await waitFor(page, hasText("#sessions", "From the address"));
    assertEquals(await page.evaluate("location.href"), `${server.url}/`);
    await page.evaluate(PREPARATION);
    await page.evaluate(`
      const button = document.createElement("div");
      try {
        button.setAttribute("onclick", "document.title = 'attacked'");
      } catch {
        // Trusted Types of the policy refuse it.
      }
      document.body.append(button);
      button.click();
    `);
    await waitFor(page, "window.violations.length > 0");
    assertEquals(await page.evaluate("document.title"), "Sessions");
    await page.click("#leave");
    await waitFor(page, `!document.getElementById("login").hidden`);
    assertEquals(await page.evaluate("sessionStorage.length"), 0);
    await test.server.close();
  },
});

Deno.test({
  name:
    "page: in Chromium a durable run is aborted, and no prompt is offered, while it waits for approval",
  ignore: chromium === undefined,
  async fn() {
    await using workers = new DurableWorkers();
    const calls: string[] = [];
    const { test } = await workers.start({
      agent: {
        streamFn: scriptedStream([reply([toolCall("count", { what: "sheep" })])]),
        tools: [createCounter(calls)],
        approve: () => ({ type: "pending" }),
      },
    });
    const id = await test.create();
    await test.prompt(id, "Count");
    await using server = serveLoopback((request, connection) =>
      test.server.fetch(request, connection)
    );
    await using page = await Page.open(`${server.url}/#token=${TOKENS.acme}`);
    await waitFor(page, hasText("#sessions", "Count"));
    await page.click("#sessions button");
    await waitFor(page, `document.querySelectorAll("#calls fieldset").length === 1`);
    const hidden = "[...document.querySelectorAll('#send, #delete')].every(({ hidden }) => hidden)";
    assertEquals(await page.evaluate(hidden), true);
    await page.click("#abort");
    await waitFor(page, hasText("#transcript", "Aborted"));
    await waitFor(page, `!document.getElementById("send").hidden`);
    assertEquals(calls, []);
  },
});

Deno.test("page: its policy allows neither inline code nor other hosts, and it can be turned off", async () => {
  const test = new TestServer();
  for (const path of ["/", "/page.js", "/page.css"]) {
    const response = await test.call("GET", path, { token: "" });
    const policy = response.headers.get("content-security-policy") ?? "";
    assert(policy.includes("default-src 'none'") && policy.includes("frame-ancestors 'none'"));
    assert(!/unsafe|https?:|\*/.test(policy), policy);
    const text = await response.text();
    assert(!/https?:\/\//.test(text), path);
    if (path === "/") assert(!/<script>|<style>| on\w+=| style=/.test(text));
  }
  await test.server.close();
  const without = new TestServer({ page: false });
  await without.json(401, "GET", "/", { token: "" });
  await without.json(404, "GET", "/");
  await without.server.close();
});
