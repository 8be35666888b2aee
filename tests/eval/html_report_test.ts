import { assertEquals, assertStringIncludes } from "@std/assert";
import { formatHtmlReport } from "../../src/eval/mod.ts";
import { chromium, Page } from "./chromium.ts";
import { createResult, createRun, MIXED_RUN } from "./report_run.ts";

const history = [0.4, 0.7].map((_, index) =>
  createRun([createResult("hello", index === 0 ? "failed" : "passed")], { id: `run-0${index}` })
);

const isVisible = (selector: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].map((e) => e.checkVisibility())`;

Deno.test({
  name: "formatHtmlReport: in Chromium the page shows each call, filters cases and runs no script",
  ignore: chromium === undefined,
  async fn() {
    const directory = await Deno.makeTempDir({ prefix: "swink_report_" });
    try {
      const baseline = history[0];
      const report = formatHtmlReport(MIXED_RUN, { history: [...history, MIXED_RUN], baseline });
      await Deno.writeTextFile(`${directory}/report.html`, report);
      await using page = await Page.open(`file://${directory}/report.html`);

      assertEquals(await page.evaluate("document.title"), "Evaluation of greetings");
      assertEquals(await page.evaluate("document.querySelectorAll('svg').length"), 4);
      assertEquals(await page.evaluate("document.querySelectorAll('.charts .bar').length"), 12);
      assertEquals(await page.evaluate("document.querySelectorAll('script, img, link').length"), 0);

      // A case, its calls, and a call of the agent that a call runs.
      assertEquals(await page.evaluate(isVisible("#case-goodbye .call")), [false, false, false]);
      await page.click("#case-goodbye > summary");
      assertEquals(await page.evaluate(isVisible("#case-goodbye .call")), [true, true, false]);
      await page.click("#case-goodbye > .call > summary");
      const text = await page.evaluate(
        "document.querySelector('#case-goodbye > .call > pre:last-of-type').innerText",
      );
      assertStringIncludes(String(text), "first line\n</pre><script>");
      await page.click("#case-goodbye > .call.failed > summary");
      assertEquals(await page.evaluate(isVisible("#case-goodbye .call")), [true, true, true]);
      await page.click("#case-goodbye .call .call > summary");
      assertEquals(await page.evaluate(isVisible("#case-goodbye .call .call pre")), [true, true]);

      await page.click("#show-failed");
      assertEquals(await page.evaluate(isVisible(".case")), [false, true, true, false]);
      await page.click("#show-passed");
      assertEquals(await page.evaluate(isVisible(".case")), [true, false, false, false]);
      await page.click("#show-all");
      assertEquals(await page.evaluate(isVisible(".case")), [true, true, true, true]);

      assertEquals(await page.evaluate("document.title"), "Evaluation of greetings");
      const requests = page.events.filter((method) => method === "Network.requestWillBeSent");
      assertEquals(requests.length, 1);

      const picture = Deno.env.get("SWINK_REPORT_PICTURE");
      if (picture !== undefined) await Deno.writeFile(picture, await page.takeScreenshot());
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});
