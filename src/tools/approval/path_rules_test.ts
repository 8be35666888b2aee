import { assertEquals, assertThrows } from "@std/assert";
import { createSandbox } from "../sandbox/local_sandbox.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { createPathRule, findCallPath, pathHasPrefix } from "./path_rules.ts";

interface Call {
  readonly name?: string;
  readonly files?: Sandbox["files"];
}

async function decide(pattern: string, path: string | undefined, call: Call = {}) {
  const { name = "read_file", files } = call;
  const found = await findCallPath({ name, arguments: path === undefined ? {} : { path } }, files);
  const rule = createPathRule(pattern);
  return `${rule.covers(found) ? "allowed" : "asked"}, ${rule.concerns(found)}`;
}

Deno.test("rules for paths: a path as it is written", async () => {
  for (
    const [pattern, path, expected] of [
      ["src/**", "src/a", "allowed, certain"],
      ["./src/**", ".//src/./a", "allowed, certain"],
      ["src/**", "../src/a", "asked, possible"],
      ["src/**", "lib/../src/a", "asked, certain"],
      ["src/**", "lib/../../a", "asked, possible"],
      ["src/**", "SRC/a", "asked, possible"],
      ["s\u00e9cret/**", "se\u0301cret/a", "asked, possible"],
      ["src/**", "lib/a", "asked, none"],
      ["src/**", "/work/src/a", "asked, possible"],
      ["src/**", "/work/lib/a", "asked, none"],
      ["src/", "src/a/b", "allowed, certain"],
      ["src", "src/a", "asked, certain"],
      ["*.key", "a/b.key", "allowed, certain"],
      ["/data/**", "/data/a", "allowed, certain"],
      ["//data/**", "/data/a", "allowed, certain"],
      ["/data/**", "data/a", "asked, none"],
      ["**", "/data/a", "asked, possible"],
      ["src/**", `${"a/".repeat(5_000)}b`, "asked, possible"],
    ] as const
  ) assertEquals(await decide(pattern, path), expected, `${pattern} ${path.slice(0, 20)}`);
  assertThrows(() => createPathRule("~/.ssh/**"), RangeError, '"~" is not expanded');
});

Deno.test("rules for paths: a denied directory concerns a search or a list of it", async () => {
  const inDirectory = (name: string, path?: string) => decide("src/**", path, { name });
  assertEquals(await inDirectory("search_files", "src"), "asked, certain");
  assertEquals(await inDirectory("list_directory", "./src/"), "asked, certain");
  assertEquals(await inDirectory("read_file", "src"), "asked, none");
  assertEquals(await inDirectory("search_files"), "asked, none");
  assertEquals(await inDirectory("delete_files"), "asked, possible");
  assertEquals(await decide("**", undefined, { name: "search_files" }), "allowed, certain");
});

Deno.test("rules for paths: with a sandbox they apply to the file behind a link", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    await using sandbox = createSandbox({ cwd, confinement: "off" });
    const { files, root } = sandbox;
    for (const name of ["src", "lib/deep"]) await Deno.mkdir(`${cwd}/${name}`, { recursive: true });
    await Deno.symlink("../lib", `${cwd}/src/lib`);
    await Deno.symlink("lib/deep", `${cwd}/deep`);
    for (
      const [pattern, path, expected] of [
        ["src/**", "src/a", "allowed, certain"],
        ["src/**", `${root}/src/a`, "allowed, certain"],
        [`${root}/src/**`, "src/a", "allowed, certain"],
        ["src/**", "src/lib/a", "asked, certain"],
        ["lib/**", "src/lib/a", "allowed, certain"],
        ["lib/**", "deep/../a", "allowed, certain"],
        ["src/**", "src/lib/../a", "asked, certain"],
        ["src/**", "lib/../src/a", "allowed, certain"],
        ["src/**", "lib/../a", "asked, none"],
        ["src/**", "/other/src/a", "asked, possible"],
      ] as const
    ) assertEquals(await decide(pattern, path, { files }), expected, `${pattern} ${path}`);
    const find = async (path: string) => {
      const found = await findCallPath({ name: "edit_file", arguments: { path } }, files);
      return found !== undefined && pathHasPrefix(found, "src");
    };
    assertEquals(await find("src/a"), true);
    assertEquals(await find("src/lib/a"), false);
    assertEquals(await find("lib/../src/a"), true);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});
