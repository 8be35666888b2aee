import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { extractText } from "../../core/messages/content.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { isolatedTool } from "./isolated_tool.ts";

const toolModule = new URL("../../core/tools/tool.ts", import.meta.url).href;

/** Writes a tool module with the source and calls `run` with its path. */
async function withModule(source: string, run: (module: string) => Promise<void>): Promise<void> {
  const directory = await Deno.realPath(await Deno.makeTempDir());
  try {
    const module = `${directory}/tool.ts`;
    await Deno.writeTextFile(module, `import { defineTool } from "${toolModule}";\n${source}`);
    await run(module);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const TOOL = `
export default defineTool({
  name: "probe",
  label: "Probe",
  description: "Tries things.",
  parameters: { type: "object", properties: { do: { type: "string" }, path: { type: "string" } }, required: ["do"] },
  readOnly: true,
  async execute({ do: action, path = "" }, { onUpdate }) {
    onUpdate("trying");
    console.log("noise");
    switch (action) {
      case "read": return await Deno.readTextFile(path);
      case "write": await Deno.writeTextFile(path, "x"); return "written";
      case "net": await fetch("http://127.0.0.1:59999"); return "fetched";
      case "env": return Deno.env.get("HOME") ?? "none";
      case "run": await new Deno.Command("true").output(); return "ran";
      case "hang": return await new Promise(() => setInterval(() => {}, 1000));
      case "exit": Deno.exit(1);
      default: return "nothing";
    }
  },
});`;

async function callTool(tool: AgentTool, args: JsonObject, signal = new AbortController().signal) {
  const updates: unknown[] = [];
  const result = await tool.execute(
    args,
    testToolContext({
      signal,
      onUpdate: (update) => updates.push(update),
    }),
  );
  return { text: typeof result === "string" ? result : extractText(result.content), updates };
}

Deno.test("isolatedTool(): runs the tool with its declared permissions", async () => {
  await withModule(TOOL, async (module) => {
    await Deno.writeTextFile(`${module}.txt`, "content");
    const tool = await isolatedTool({ module, permissions: { read: [`${module}.txt`] } });
    const { name, label, description, readOnly } = tool;
    assertEquals([name, label, description, readOnly], ["probe", "Probe", "Tries things.", true]);
    const read = await callTool(tool, { do: "read", path: `${module}.txt` });
    assertEquals(read, { text: "content", updates: ["trying"] });
  });
});

Deno.test("isolatedTool(): a path may have characters with a meaning in URLs", async () => {
  await withModule(TOOL, async (module) => {
    const names = Deno.build.os === "windows" ? [] : ["d?e", "f\\g"];
    for (const name of ["a%41", "b#c", "h i", ...names]) {
      const directory = module.replace("tool.ts", name);
      await Deno.mkdir(directory);
      const path = `${directory}/tool.ts`;
      await Deno.copyFile(module, path);
      assertEquals((await isolatedTool({ module: path })).name, "probe");
    }
  });
});

Deno.test("isolatedTool(): access without a permission fails with an error that names it", async () => {
  await withModule(TOOL, async (module) => {
    const tool = await isolatedTool({ module });
    for (const kind of ["read", "write", "net", "env", "run"]) {
      const error = await assertRejects(
        () => callTool(tool, { do: kind, path: module }),
        BadRequestError,
      );
      assertMatch(error.message, new RegExp(`lacks a permission: .*${kind}`, "i"));
    }
  });
});

Deno.test("isolatedTool(): an abort ends a hanging tool, and an exit of the process is an error", async () => {
  await withModule(TOOL, async (module) => {
    const tool = await isolatedTool({ module });
    const controller = new AbortController();
    const hanging = callTool(tool, { do: "hang" }, controller.signal);
    controller.abort();
    await assertRejects(() => hanging, BadRequestError, "cancelled");
    await assertRejects(
      () => callTool(tool, { do: "exit" }),
      BadRequestError,
      "without a response",
    );
  });
});

const BROKEN_OUTPUTS: readonly (readonly [name: string, statement: string, message: RegExp])[] = [
  ["a truncated response", `print('{"type":"result","resu')`, /invalid response: .*JSON/],
  ["a binary response", "print(new Uint8Array([0, 255, 254, 10]))", /invalid response: .*JSON/],
  [
    "a response of another shape",
    `print('{"type":"result","result":5}')`,
    /invalid response: a re/,
  ],
  [
    "a result without an end",
    `print('{"type":', ""); Deno.exit(3)`,
    /without a response \(exit code 3\)/,
  ],
  [
    "a response, then hangs",
    `print("?"); await new Promise(() => setInterval(() => {}, 1000))`,
    /invalid/,
  ],
];

for (const [name, statement, message] of BROKEN_OUTPUTS) {
  Deno.test(`isolatedTool(): reports an error when the process prints ${name}`, async () => {
    const print = `const print = (data, end = "\\n") => {
      const encode = (text) => Deno.stdout.writeSync(new TextEncoder().encode(text));
      encode("\\u001eswink ");
      typeof data === "string" ? encode(data) : Deno.stdout.writeSync(data);
      encode(end);
    };`;
    const source = `${print}
export default {
  name: "broken", description: "", parameters: {}, async execute() { ${statement}; return "ok"; }
};`;
    await withModule(source, async (module) => {
      const tool = await isolatedTool({ module });
      const error = await assertRejects(() => callTool(tool, {}), BadRequestError);
      assertMatch(error.message, message);
    });
  });
}

Deno.test("isolatedTool(): a listener of updates that throws fails the call and ends the process", async () => {
  await withModule(TOOL, async (module) => {
    const tool = await isolatedTool({ module });
    const context = testToolContext({
      onUpdate: () => {
        throw new Error("closed");
      },
    });
    await assertRejects(async () => await tool.execute({ do: "hang" }, context), Error, "closed");
  });
});

Deno.test("isolatedTool(): rejects a module without a tool, a failing one and a missing one", async () => {
  await withModule("export default 5;", async (module) => {
    await assertRejects(
      () => isolatedTool({ module }),
      BadRequestError,
      "default export of the module is not a tool",
    );
  });
  await withModule("throw new Error('at import');", async (module) => {
    await assertRejects(() => isolatedTool({ module }), BadRequestError, "at import");
    await assertRejects(() => isolatedTool({ module: `file://${module}x` }), BadRequestError);
  });
});
