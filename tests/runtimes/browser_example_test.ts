import { assertEquals } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { choosePackages } from "../../scripts/packages.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";
import { ChromiumPage } from "./chromium_page.ts";
import { findChromium } from "./find_chromium.ts";

const program = findChromium();

Deno.test({
  name:
    "browser: the agent of examples/25_browser.ts changes its page in Chromium, which forbids eval",
  ignore: program === undefined,
  async fn() {
    const { config } = await choosePackages();
    const server = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "-c", config, "examples/25_browser.ts", "--serve"],
      cwd: root,
      env: { NO_COLOR: "1" },
      stdout: "null",
      stderr: "piped",
      signal: createDeadline(),
    }).spawn();
    try {
      const address = await readAddress(server.stderr);
      await using page = await ChromiumPage.open(program ?? "chromium", address);
      await page.waitFor('document.body.textContent === "The page is teal now."');
      assertEquals(await page.evaluate("document.body.style.color"), "teal");
    } finally {
      server.kill();
      await server.status;
    }
  },
});

/** Reads the address that `Deno.serve()` prints. */
async function readAddress(output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  const lines = output.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
  for await (const line of lines) {
    const [address] = line.match(/http:\/\/\S+/) ?? [];
    if (address) return address;
  }
  throw new Error("The server has not started");
}
