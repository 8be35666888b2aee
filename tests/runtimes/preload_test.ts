import { assertEquals } from "@std/assert";
import { root, runDeno } from "../project.ts";

/** Runs an agent with a tool, and prints the modules that are compiled meanwhile. */
const program = `
import { Session } from "node:inspector";
import { Agent, defineTool, preload } from ${JSON.stringify(new URL("mod.ts", root).href)};

if (Deno.args[0] === "preload") await preload();

const session = new Session();
session.connect();
const modules = [];
session.on("Debugger.scriptParsed", ({ params }) => modules.push(params.url));
session.post("Debugger.enable");
modules.length = 0;

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, total: 2 };
let turn = 0;
async function* streamFn() {
  yield { type: "start" };
  if (turn++ > 0) return yield { type: "done", stopReason: "stop", usage };
  yield { type: "tool_call_start", contentIndex: 0, id: "call", name: "add" };
  yield { type: "tool_call_delta", contentIndex: 0, delta: '{"left":1,"right":2}' };
  yield { type: "tool_call_end", contentIndex: 0 };
  yield { type: "done", stopReason: "tool_use", usage };
}
const number = { type: "number" };
const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  parameters: { type: "object", properties: { left: number, right: number }, required: ["left", "right"] },
  execute: ({ left, right }) => left + right,
});
const agent = new Agent({ model: "test/model", streamFn, tools: [add] });
const { messages } = await agent.prompt("Add");
session.disconnect();
const results = messages.filter(({ role }) => role === "tool_result").map(({ content }) => content);
const names = modules.filter((url) => url.startsWith(${JSON.stringify(root.href)}));
console.log(JSON.stringify({ results, hasLoaded: names.length > 0 }));
Deno.exit(0);
`;

async function runProgram(argument: string): Promise<unknown> {
  const path = await Deno.makeTempFile({ prefix: "swink_preload_", suffix: ".js" });
  try {
    await Deno.writeTextFile(path, program);
    const { text } = await runDeno("run", ["-A", path, argument]);
    return JSON.parse(text);
  } finally {
    await Deno.remove(path);
  }
}

Deno.test("preload(): a run with a tool loads no further modules", async () => {
  const results = [[{ type: "text", text: "3" }]];
  assertEquals(await runProgram("preload"), { results, hasLoaded: false });
  assertEquals(await runProgram("none"), { results, hasLoaded: true });
});
