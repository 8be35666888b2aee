import { assertEquals, assertStringIncludes } from "@std/assert";
import { findLlamaProblem, type LlamaInstallation } from "./llama_check.ts";

const INSTALLED: LlamaInstallation = {
  isExecutable: false,
  url: "file:///usr/lib/node_modules/@swink/agent/cli/models/llama_check.js",
  resolve: (name) => `file:///usr/lib/node_modules/${name}/dist/index.js`,
};

function refuse(name: string): string {
  throw new Error(`Could not find package '${name}'`);
}

Deno.test("findLlamaProblem(): Deno downloads llama.cpp, but not for an executable or an npm package", () => {
  assertEquals(findLlamaProblem(), undefined);
  assertEquals(findLlamaProblem(INSTALLED), undefined);
  const url = "https://packages.test/@swink/agent/cli/models/llama_check.ts";
  assertEquals(findLlamaProblem({ ...INSTALLED, url, resolve: refuse }), undefined);
  const missing = findLlamaProblem({ ...INSTALLED, resolve: refuse });
  assertStringIncludes(missing ?? "", "npm install node-llama-cpp");
  const executable = findLlamaProblem({ ...INSTALLED, isExecutable: true });
  assertStringIncludes(executable ?? "", "executable");
});
