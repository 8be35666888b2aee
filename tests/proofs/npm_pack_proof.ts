/**
 * The npm package as its users get it: packed, installed from the registry's packages into an empty project, typed and run.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { buildPackageIfChanged, packPackage } from "../../scripts/npm/build.ts";
import { createDeadline } from "../deadline.ts";
import { listPaths } from "../documentation/project_paths.ts";

const PROGRAM = `
import { Agent, defineTool } from "@swink/agent";
import { FileSessionStore, openSession } from "@swink/agent/memory";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: { left: { type: "number" }, right: { type: "number" } },
    required: ["left", "right"],
  },
  execute: ({ left, right }) => String(left.valueOf() + right.valueOf()),
});
const agent = new Agent({
  model: "any/model",
  tools: [add],
  streamFn: scriptedStream([
    reply([toolCall("add", { left: "19", right: 23 })]), // invalid: ajv explains it
    reply([toolCall("add", { left: 19, right: 23 })]),
    reply("The sum is 42."),
  ]),
});
const session = await openSession(new FileSessionStore({ directory: "sessions" }), {}, agent);
const { text, messages } = await agent.prompt("What is 19 + 23?");
await session[Symbol.asyncDispose]();
console.log(text, messages.filter(({ role }) => role === "tool_result").length);
`;

const CONFIG = {
  compilerOptions: {
    target: "es2022",
    module: "nodenext",
    lib: ["es2022", "dom"],
    types: ["node"],
    strict: true,
    outDir: "out",
  },
  files: ["program.ts"],
};

async function run(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd,
    stdin: "null",
    signal: createDeadline(),
  }).output();
  const [output, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert(success, `${program} ${args.join(" ")}\n${output}${errors}`);
  return output ?? "";
}

const hasRegistry = await new Deno.Command("npm", { args: ["view", "ajv", "version"] }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name:
    "npm package: npm pack and npm install in an empty project give a program that compiles and runs",
  ignore: !hasRegistry,
  async fn() {
    await buildPackageIfChanged();
    const project = await Deno.makeTempDir({ prefix: "swink_pack_" });
    try {
      await Deno.writeTextFile(`${project}/package.json`, '{ "type": "module" }');
      await Deno.writeTextFile(`${project}/tsconfig.json`, JSON.stringify(CONFIG));
      await Deno.writeTextFile(`${project}/program.ts`, PROGRAM);
      const packages = [await packPackage(project), "typescript@5", "@types/node@20"];
      await run(project, "npm", "install", "--silent", "--no-audit", "--no-fund", ...packages);
      const names = await listPaths(new URL(`file://${project}/node_modules/@swink/agent/`));
      for (const name of ["README.md", "LICENSE", "docs/README.md", "mod.d.ts", "bin/swink.js"]) {
        assert(names.includes(name), name);
      }
      assertEquals(names.filter((name) => /_test\.js$|testdata/.test(name)), []);
      await run(project, "npx", "tsc", "--project", "tsconfig.json");
      assertEquals(await run(project, "node", "out/program.js"), "The sum is 42. 2\n");
    } finally {
      await Deno.remove(project, { recursive: true });
    }
  },
});
