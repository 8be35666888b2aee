// Serves a page whose agent runs in the browser, with a tool that changes the page. The proxy has the model and its key.
//
// `deno run -A examples/25_browser.ts --serve` serves it until Ctrl+C. Without the option, this program is the client.

import { serveProxy } from "@swink/agent/adapters/proxy";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";
import { chat } from "./browser/chat.ts";

// In production: connect(), which calls the providers with the keys of the server.
const models = scriptedStream(
  Array.from({ length: 100 }, () => [
    reply([toolCall("set_color", { color: "teal" })]),
    reply("The page is teal now."),
  ]).flat(),
);
const proxy = serveProxy(models, { authorize: (token) => token === "token-of-the-user" });

/** Bundles the script of the page into a directory. */
async function bundle(): Promise<string> {
  const directory = await Deno.makeTempDir();
  const script = import.meta.resolve("./browser/chat.ts");
  const options = ["--platform", "browser", "--code-splitting", "--external", "@std/*"];
  const args = ["bundle", "--quiet", ...options, "--outdir", directory, script];
  const { success } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  if (!success) throw new Error("The script of the page could not be bundled");
  return directory;
}

const isServing = Deno.args.includes("--serve");
const scripts = isServing ? await bundle() : "";
const options = { hostname: "127.0.0.1", port: 0, ...(!isServing && { onListen() {} }) };
const server = Deno.serve(options, async (request, info) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/models") return await proxy(request, info);
  if (pathname.endsWith(".js")) {
    const headers = { "content-type": "text/javascript" };
    return new Response(await Deno.readFile(`${scripts}${pathname}`), { headers });
  }
  const headers = { "content-type": "text/html", "content-security-policy": "script-src 'self'" };
  const page = new URL("browser/page.html", import.meta.url);
  return new Response(await Deno.readFile(page), { headers });
});

if (!isServing) {
  const url = `http://127.0.0.1:${server.addr.port}/models`;
  await chat(url, { write: console.log, setColor: (color) => console.log(`color: ${color}`) });
  await server.shutdown();
}

// Prints:
// color: teal
// The page is teal now.
