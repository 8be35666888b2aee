import { assertEquals, assertStringIncludes } from "@std/assert";
import { createAnthropicFrames, type ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import { serveLoopback } from "../adapters/loopback.ts";
import { createDeadline, withDeadline } from "../deadline.ts";
import { runDeno } from "../project.ts";
import type { PageResult } from "./browser/page.ts";
import { findChromium } from "./find_chromium.ts";

const program = findChromium();

const REPLIES: readonly ScriptedReply[] = [
  { blocks: [{ tool: "add", input: { left: 19, right: 23 } }] },
  { blocks: ["The sum is 42."] },
];

const PAGE = `<!doctype html><script type="module" src="/page.js"></script>`;

/** Opens the page with a content security policy, if any, and returns its result. */
async function openPage(directory: string, policy?: string): Promise<PageResult> {
  const { promise, resolve } = Promise.withResolvers<PageResult>();
  let requests = 0;
  await using server = serveLoopback(async (request) => {
    const { pathname } = new URL(request.url);
    const headers = { "content-type": "text/html" };
    switch (pathname) {
      case "/":
        return new Response(PAGE, {
          headers: { ...headers, ...(policy && { "content-security-policy": policy }) },
        });
      case "/result":
        resolve(await request.json());
        return new Response();
      case "/v1/messages": {
        await request.body?.cancel();
        const frames = createAnthropicFrames(REPLIES[requests++] ?? { blocks: [] }, requests);
        return new Response(frames.join(""), {
          headers: { "content-type": "text/event-stream" },
        });
      }
      default:
        return await readScript(`${directory}${pathname}`);
    }
  });
  await using _browser = startBrowser(`${server.url}/`);
  return await withDeadline(promise);
}

async function readScript(path: string): Promise<Response> {
  const headers = { "content-type": "text/javascript" };
  return await Deno.readFile(path).then(
    (bytes) => new Response(bytes, { headers }),
    () => new Response(null, { status: 404 }),
  );
}

/** Starts Chromium with an empty profile. Disposing it ends the browser. */
function startBrowser(url: string): AsyncDisposable {
  const profile = Deno.makeTempDirSync({ prefix: "swink_chromium_" });
  const child = new Deno.Command(program ?? "chromium", {
    args: [
      ...["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"],
      // Chromium does not run as root with its sandbox.
      ...(Deno.uid() === 0 ? ["--no-sandbox"] : []),
      ...[`--user-data-dir=${profile}`, url],
    ],
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: createDeadline(),
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      Deno.kill(-child.pid, "SIGKILL");
      await child.status;
      await withDeadline(removeProfile(profile));
    },
  };
}

/** Removes a profile, as soon as the last process that writes to it has ended. */
async function removeProfile(profile: string): Promise<void> {
  while (!await Deno.remove(profile, { recursive: true }).then(() => true, () => false));
}

async function bundlePage(): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "swink_page_" });
  const { success, text } = await runDeno("bundle", [
    ...["--platform", "browser", "--code-splitting", "--outdir", directory],
    "tests/runtimes/browser/page.ts",
  ]);
  if (!success) throw new Error(text);
  return directory;
}

Deno.test({
  name: "browser: an agent runs a tool in Chromium, also on a page that forbids eval",
  ignore: program === undefined,
  async fn() {
    const directory = await bundlePage();
    try {
      const { names, filesError, ...result } = await openPage(directory);
      const expected = {
        canEvaluate: true,
        texts: ["What is 19 + 23?", "42", "The sum is 42."],
        stopReason: "stop",
        entries: ["message", "message", "message", "message"],
      };
      assertEquals(result, expected);
      assertEquals(names > 20, true);
      assertStringIncludes(filesError, "BadRequestError: This runtime has no node:fs");

      const policy = "script-src 'self'";
      const { names: _names, filesError: _error, ...withoutEval } = await openPage(
        directory,
        policy,
      );
      assertEquals(withoutEval, { ...expected, canEvaluate: false });
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});
