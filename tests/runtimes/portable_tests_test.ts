import { assertEquals } from "@std/assert";
import { getSpecifiers } from "../../scripts/npm/specifiers.ts";
import { root } from "../project.ts";
import { Deno as shim } from "./deno_shim.ts";
import { EXCLUDED_TESTS } from "./excluded_tests.ts";
import { listPortableTests } from "./portable_tests.ts";

/** Members of `Deno` that only excluded tests use, or as types, or that isolated tools use, which run on Deno. */
const UNUSED = new Set(["createHttpClient", "errors", "exit", "FileInfo", "FsFile", "stdout"]);

Deno.test("listPortableTests(): the tests import modules only, and use what the shim of Deno has", async () => {
  const problems: string[] = [];
  for (const path of await listPortableTests()) {
    const source = await Deno.readTextFile(new URL(path, root));
    const others = getSpecifiers(source).filter((name) => /^\..*(?<!\.[jt]s)$/.test(name));
    const members = [...source.matchAll(/\bDeno\.(\w+)/g)].map(([, name = ""]) => name);
    const missing = members.filter((name) => !(name in shim) && !UNUSED.has(name));
    for (const name of [...others, ...missing]) problems.push(`${path}: ${name}`);
  }
  assertEquals(problems, []);
});

Deno.test("EXCLUDED_TESTS: has every test of these files that runs Deno", async () => {
  const titles: string[] = [];
  for (const path of await listPortableTests()) {
    const source = await Deno.readTextFile(new URL(path, root));
    for (const test of source.split(/\bDeno\.test\(\s*/).slice(1)) {
      const [title = ""] = /(?<=^["`])[^"`]+/.exec(test) ?? [];
      if (test.includes("await runDeno(")) titles.push(title);
    }
  }
  const isExcluded = (name: string) => EXCLUDED_TESTS.some(({ title }) => title.test(name));
  assertEquals(titles.filter((title) => !isExcluded(title)), []);
});
