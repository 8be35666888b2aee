import { assertEquals, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { extractText } from "../../core/messages/content.ts";
import { testToolContext } from "../../testing/test_tool_context.ts";
import { codingTools } from "../coding_tools.ts";
import { readParentIgnoreRules } from "./file_reading.ts";
import type { Sandbox } from "./sandbox.ts";
import type { DirectoryEntry, SandboxFiles } from "./sandbox_files.ts";

const FILES: Readonly<Record<string, string>> = {
  ".gitignore": "*.log\n",
  "build.log": "needle\n",
  "src/a.ts": "hay\nneedle\n",
};

/** Creates files in memory, below `/memory`. */
function createMemoryFiles(): SandboxFiles {
  const files = new Map(Object.entries(FILES).map(([name, text]) => [`/memory/${name}`, text]));
  const resolve = (path: string) => new URL(path, "file:///memory/").pathname.replace(/\/$/, "");
  const listNames = (directory: string): Map<string, DirectoryEntry> => {
    const paths = [...files.keys()].filter((path) => path.startsWith(`${directory}/`));
    return new Map(paths.map((path) => {
      const [name = "", ...subpath] = path.slice(directory.length + 1).split("/");
      return [name, { name, kind: subpath.length > 0 ? "directory" : "file" }];
    }));
  };
  const readOnly = () => Promise.reject(new BadRequestError("The files are read-only"));
  return {
    resolve: (path) => Promise.resolve(resolve(path)),
    toDisplayPath: (path) => path === "/memory" ? "." : path.replace("/memory/", ""),
    readIfExists(path) {
      const text = files.get(resolve(path));
      return Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
    },
    write: readOnly,
    remove: readOnly,
    readDirectory: (path) => Promise.resolve([...listNames(resolve(path)).values()]),
    getKind(path) {
      if (files.has(resolve(path))) return Promise.resolve("file");
      return Promise.resolve(listNames(resolve(path)).size > 0 ? "directory" : undefined);
    },
  };
}

function createMemorySandbox(): Sandbox {
  return {
    root: "/memory",
    files: createMemoryFiles(),
    startCommand: () => Promise.reject(new BadRequestError("There are no commands")),
    getOutputPath: (name) => Promise.resolve(`/memory/${name}`),
    net: "off",
    setNet: () => {},
    describe: () =>
      Promise.resolve({
        status: "confined",
        confined: true,
        summary: "files in memory",
        rules: [],
        mechanisms: [],
      }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function callMemoryTool(name: string, args: JsonObject): Promise<string> {
  const tool = codingTools({ sandbox: createMemorySandbox() }).find((found) => found.name === name);
  const result = await tool?.execute(args, testToolContext());
  return typeof result === "object" ? extractText(result.content) : result ?? "no such tool";
}

Deno.test("file tools: read, list and search the files of a custom sandbox", async () => {
  assertEquals(await callMemoryTool("read_file", { path: "src/a.ts" }), "1\thay\n2\tneedle");
  assertStringIncludes(await callMemoryTool("read_file", { path: "src/b.ts" }), "does not exist");
  assertEquals(await callMemoryTool("list_directory", {}), ".gitignore\nsrc/\n  a.ts");
  assertEquals(await callMemoryTool("search_files", { pattern: "needle" }), "src/a.ts\n2: needle");
});

Deno.test("readParentIgnoreRules(): reads the rules of the repository around a local sandbox only", async () => {
  await using workspace = new TestWorkspace();
  await Deno.mkdir(`${workspace.outside}/.git`);
  await Deno.writeTextFile(`${workspace.outside}/.gitignore`, "*.log\n");
  const local = await readParentIgnoreRules(workspace.sandbox.files);
  assertEquals(local.map(({ pathPrefix, rules }) => [pathPrefix, rules.length]), [["project/", 1]]);
  assertEquals(await readParentIgnoreRules(createMemoryFiles()), []);
});
