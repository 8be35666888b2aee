/**
 * The example page of AG-UI in Chromium.
 *
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createHandler } from "../../examples/ag_ui/server.ts";
import { fail, hang, reply, scriptedStream } from "../../src/testing/mod.ts";
import { serveLoopback } from "../adapters/loopback.ts";
import { chromium, Page } from "../eval/chromium.ts";

/** Returns the messages of the page: its class and its text. */
const MESSAGES = `Array.from(document.querySelectorAll("#messages > *"), (element) =>
  [element.className, element.textContent])`;

/** Waits until a condition holds in the page. */
async function until(page: Page, condition: string): Promise<void> {
  await page.evaluate(
    `new Promise((resolve) => { const check = () => (${condition}) ? resolve(true) : setTimeout(check, 10); check(); })`,
  );
}

const IDLE = `document.body.dataset.running === "false"`;

Deno.test({
  name: "AG-UI example page: shows a run, asks about a call and continues",
  ignore: chromium === undefined,
  async fn() {
    await using server = serveLoopback(createHandler());
    await using page = await Page.open(`${server.url}/`);
    await page.click("#send");
    await until(page, `document.querySelector(".allow") && ${IDLE}`);
    assertEquals(await page.evaluate(MESSAGES), [
      ["message user", "Tell Ada about the weather in Bern"],
      ["reasoning", "ThoughtsThe user wants a mail about the weather, so I look it up first."],
      ["message", "I look up the weather in Bern."],
      ["tool", `weather {"city":"Bern"}Sunny in Bern, 21 °C`],
      ["message", "It is sunny. I write to Ada."],
      ["tool", `send_mail {"to":"ada@example.org","text":"Sunny, 21 °C"}AllowRefuse`],
    ]);
    const directory = Deno.env.get("SWINK_SCREENSHOTS");
    const takeScreenshot = async (name: string) => {
      const bytes = await page.takeScreenshot();
      assert(bytes.length > 10_000);
      if (directory) await Deno.writeFile(`${directory}/${name}.png`, bytes);
    };
    await takeScreenshot("ag_ui_question");
    await page.click(".allow");
    await until(page, `document.body.textContent.includes("on its way") && ${IDLE}`);
    await takeScreenshot("ag_ui_end");
    const texts = await page.evaluate(MESSAGES) as [string, string][];
    assertStringIncludes(texts[5]?.[1] ?? "", "Sent to ada@example.org");
    assertEquals(texts.at(-1), ["message", "The mail is on its way."]);
  },
});

Deno.test("AG-UI example page: other sites cannot use the agent", async () => {
  const handler = createHandler();
  const post = (headers: Record<string, string>) =>
    handler(
      new Request("http://127.0.0.1/agent", {
        method: "POST",
        headers,
        body: JSON.stringify({ threadId: "t", runId: "r", messages: [] }),
      }),
    );
  for (const headers of [{}, { origin: "https://other.example" }]) {
    assertEquals((await post(headers)).status, 403);
  }
  assertEquals((await handler(new Request("http://127.0.0.1/none"))).status, 404);
});

Deno.test({
  name: "AG-UI example page: text that looks like HTML, an error and a stop",
  ignore: chromium === undefined,
  async fn() {
    const streamFn = scriptedStream([
      reply(`<img src=x onerror="document.title = 'unsafe'">`),
      fail("auth_error", "The key is wrong"),
      hang({ after: "I begin" }),
    ]);
    await using server = serveLoopback(createHandler({ streamFn, retry: () => null }));
    await using page = await Page.open(`${server.url}/`);
    const send = async (text: string) => {
      await page.evaluate(`document.getElementById("text").value = ${JSON.stringify(text)}`);
      await page.click("#send");
    };
    await send("One");
    await until(page, `document.querySelectorAll(".message").length === 2 && ${IDLE}`);
    assertEquals(await page.evaluate("[document.title, document.images.length]"), ["Agent", 0]);
    await send("Two");
    await until(page, `document.querySelector(".error") && ${IDLE}`);
    await send("Three");
    await until(page, `document.body.textContent.includes("I begin")`);
    await page.click("#stop");
    await until(page, IDLE);
    const texts = await page.evaluate(MESSAGES) as [string, string][];
    assertEquals(texts.filter(([name]) => name.includes("error")).map(([, text]) => text), [
      "The key is wrong",
      "Stopped",
    ]);
  },
});

Deno.test({
  name:
    "AG-UI example page: a retry takes back its own thoughts and texts, and nothing of earlier runs",
  ignore: chromium === undefined,
  async fn() {
    const streamFn = scriptedStream([
      reply("First"),
      fail("network_error", "down", {
        after: [{ type: "thinking", thinking: "Half" }, { type: "text", text: "Wro" }],
      }),
      reply([{ type: "thinking", thinking: "A thought" }, { type: "text", text: "Second" }]),
    ]);
    const options = { streamFn, retry: () => 0, sleep: () => Promise.resolve() };
    await using server = serveLoopback(createHandler(options));
    await using page = await Page.open(`${server.url}/`);
    const send = async (text: string) => {
      await page.evaluate(`document.getElementById("text").value = ${JSON.stringify(text)}`);
      await page.click("#send");
    };
    await send("One");
    await until(page, `document.body.textContent.includes("First") && ${IDLE}`);
    await send("Two");
    await until(page, `document.body.textContent.includes("Second") && ${IDLE}`);
    assertEquals(await page.evaluate(MESSAGES), [
      ["message user", "One"],
      ["message", "First"],
      ["message user", "Two"],
      ["reasoning", "ThoughtsA thought"],
      ["message", "Second"],
    ]);
  },
});
