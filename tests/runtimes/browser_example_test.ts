import { assertStringIncludes } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { choosePackages } from "../../scripts/packages.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";
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
    const profile = await Deno.makeTempDir({ prefix: "swink_chromium_" });
    try {
      const page = await new Deno.Command(program ?? "chromium", {
        args: [
          ...["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
          // Chromium does not run as root with its sandbox.
          ...(Deno.uid() === 0 ? ["--no-sandbox"] : []),
          ...["--dump-dom", "--virtual-time-budget=20000"],
          ...[`--user-data-dir=${profile}`, await readAddress(server.stderr)],
        ],
        stderr: "null",
        signal: createDeadline(),
      }).output();
      const text = new TextDecoder().decode(page.stdout);
      assertStringIncludes(text, '<body style="color: teal;">The page is teal now.</body>');
    } finally {
      server.kill();
      await server.status;
      await Deno.remove(profile, { recursive: true });
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
