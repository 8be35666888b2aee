import { assertEquals } from "@std/assert";
import { sourceFiles } from "../architecture/imports.ts";
import { readPublicModules, root } from "../project.ts";
import { PACKAGES_DIRECTORY } from "./runtimes.ts";
import { getSharedApp } from "./shared_app.ts";
import { checkTypes, type TypeCheck } from "./type_check.ts";

const hasTypes = await Deno.stat(`${PACKAGES_DIRECTORY}/node_modules/@types/node`).then(
  () => true,
  () => false,
);

/** A program with the parts of the library whose types depend on the platform: streams, disposal, files. */
const CONSUMER = `
import { Agent, defineTool } from "@swink/agent";
import { createOpenAI } from "@swink/agent/adapters/openai";
import { recordFetch } from "@swink/agent/cassettes";
import { FileSessionStore, recordSession } from "@swink/agent/memory";
import { scriptedStream } from "@swink/agent/testing";
import { codingTools, createSandbox } from "@swink/agent/tools";

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  parameters: {
    type: "object",
    properties: { left: { type: "number" }, right: { type: "number" } },
    required: ["left", "right"],
  },
  execute: ({ left, right }) => String(left + right),
});

export async function main(): Promise<string[]> {
  const sandbox = createSandbox({ cwd: "." });
  const agent = new Agent({
    model: "openai/gpt-6",
    streamFn: createOpenAI({ apiKey: "key", fetch: recordFetch(fetch, "a.jsonl") }),
    tools: [add, ...codingTools({ sandbox })],
  });
  const recording = await recordSession(agent, new FileSessionStore({ directory: "sessions" }));
  const types: string[] = [];
  for await (const event of agent.promptStream("Hi")) {
    types.push(event.type);
    if (event.type === "message_update") types.push(event.delta.type);
  }
  await recording.stop();
  await sandbox[Symbol.asyncDispose]();
  return types.concat(typeof scriptedStream);
}
`;

const CONFIGURATIONS: Readonly<Record<string, Omit<TypeCheck, "files" | "directory">>> = {
  "nodenext with types of Node and DOM": {
    lib: ["es2022", "dom"],
    types: ["node"],
    moduleResolution: "nodenext",
  },
  // Without DOM, TypeScript's own declarations for iterating over streams have errors.
  "nodenext with types of Node, skipLibCheck": {
    lib: ["es2022"],
    types: ["node"],
    moduleResolution: "nodenext",
    skipLibCheck: true,
  },
  "bundler with types of DOM": {
    lib: ["es2022", "dom"],
    types: [],
    moduleResolution: "bundler",
  },
};

for (const [name, configuration] of Object.entries(CONFIGURATIONS)) {
  Deno.test({
    name: `npm package: its types can be used with TypeScript, ${name}`,
    ignore: !hasTypes,
    async fn() {
      const app = await getSharedApp();
      const modules = Object.keys(await readPublicModules());
      const imports = modules.map((module, index) =>
        `export * as m${index} from "@swink/agent${module.slice(1)}";`
      );
      const files = [`${app.path}/modules.ts`, `${app.path}/consumer.ts`] as const;
      await Deno.writeTextFile(files[0], imports.join("\n"));
      await Deno.writeTextFile(files[1], CONSUMER);
      assertEquals(checkTypes({ ...configuration, files, directory: app.path }), []);
    },
  });
}

/** Declarations for the check of the source: of Deno, of JSR's packages, and of modules that Node 20 does not have. */
const AMBIENT = `
declare namespace Deno {
  type ForeignLibraryInterface = unknown;
  type DynamicLibrary<Symbols> = any;
}
declare const Deno: any;
interface ImportMeta { readonly main: boolean }
declare module "@std/*";
declare module "node:sqlite" {
  export const DatabaseSync: any;
  export type DatabaseSync = any;
  export type StatementSync = any;
}
`;

/** Features of ECMAScript that Node 20 has, and those that are lowered. */
const NODE_20_LIBRARIES = ["es2023", "es2024.string", "dom", "dom.iterable", "dom.asynciterable"];

Deno.test({
  name: "library: uses only functions that Node 20 has",
  ignore: !hasTypes,
  async fn() {
    const { "./cli": _program, ...modules } = await readPublicModules();
    const results = decodeURIComponent(new URL("dist/node_20_types", root).pathname);
    await Deno.mkdir(results, { recursive: true });
    const ambient = `${results}/ambient.d.ts`;
    await Deno.writeTextFile(ambient, AMBIENT);
    const paths = Object.values(modules).map((path) => new URL(path, root).pathname);
    const errors = checkTypes({
      files: [...paths.map(decodeURIComponent), ambient],
      lib: [...NODE_20_LIBRARIES, "esnext.disposable"],
      types: ["node"],
      moduleResolution: "bundler",
      directory: PACKAGES_DIRECTORY,
      isSource: true,
      skipLibCheck: true,
      resultsPath: `${results}/results.tsbuildinfo`,
    });
    assertEquals(errors.filter((error) => !IMPLICIT_ANY.test(error)), []);
  },
});

/** Functions of the web platform in TypeScript's declarations of DOM that Node 20.16 does not have. */
const NEWER_FUNCTIONS = /\bURL\.parse\(|\bPromise\.try\(|\.bytes\(\)/;

Deno.test("library: uses no function of the web platform that Node 20.16 does not have", async () => {
  const found: string[] = [];
  for (const directory of ["adapters", "src"]) {
    for await (const path of sourceFiles(directory)) {
      const text = await Deno.readTextFile(new URL(path, root));
      if (!path.endsWith("_test.ts") && NEWER_FUNCTIONS.test(text)) found.push(path);
    }
  }
  assertEquals(found, []);
});

/** Matches errors that follow from the types of {@linkcode AMBIENT}. */
const IMPLICIT_ANY = /implicitly has an 'any' type|reachable end point/;
