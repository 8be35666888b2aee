import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../core/json/json.ts";
import { createSandbox } from "../../sandbox/local_sandbox.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
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
  for (const pattern of ["../a", "a/../../b/**", "*/../a", "/../a", ".."]) {
    assertThrows(() => createPathRule(pattern), RangeError, "write the path from / on");
  }
});

Deno.test("rules for paths: a denied directory concerns a search or a list of it", async () => {
  const inDirectory = (name: string, path?: string) => decide("src/**", path, { name });
  assertEquals(await inDirectory("search_files", "src"), "asked, certain");
  assertEquals(await inDirectory("list_directory", "./src/"), "asked, certain");
  assertEquals(await inDirectory("read_file", "src"), "asked, none");
  assertEquals(await inDirectory("search_files", "lib"), "asked, none");
  assertEquals(await inDirectory("delete_files"), "asked, possible");
  assertEquals(await decide("**", undefined, { name: "search_files" }), "allowed, certain");
});

Deno.test("rules for paths: a denied path below a directory concerns a search or a list of it, unless it is left out", async () => {
  for (
    const [pattern, path, expected] of [
      ["src/**", ".", "below"],
      ["src/a/b", "src/a", "below"],
      ["src/a/b", "src/b", "none"],
      ["src/a/b", "SRC", "below"],
      ["src/*/b", "src/x", "below"],
      ["src/*/b", "src/x/y", "none"],
      ["src/**/b", "src/x/y", "below"],
      ["{lib,src/a}/b", "src", "below"],
      ["{lib,src/a}/b", "docs", "none"],
      [".env", "docs", "below"],
      ["src/[a/b]c", "docs", "below"],
      ["src/**", "/work", "below"],
      ["/data/a/*", "/data", "below"],
      ["/data/a/*", "/", "below"],
      ["/data/a/*", "/other", "none"],
      ["/data/a/*", ".", "none"],
    ] as const
  ) {
    const rule = createPathRule(pattern);
    const concern = async (args: JsonObject) =>
      rule.concerns(await findCallPath({ name: "search_files", arguments: args }, undefined));
    assertEquals(await concern({ path }), expected, `${pattern} ${path}`);
    assertEquals(
      await concern({ path, exclude_paths: [`./${pattern}`.replace("./\/", "/")] }),
      "none",
    );
    assertEquals(await concern({ path, exclude_paths: [`${pattern}x`, 1] }), expected);
  }
  const file = createPathRule("src/").concerns(
    await findCallPath(
      { name: "list_directory", arguments: { exclude_paths: ["src/**"] } },
      undefined,
    ),
  );
  assertEquals(file, "none");
});

Deno.test("rules for paths: with a sandbox, a search of a file or of another directory hides nothing", async () => {
  const parent = await Deno.makeTempDir();
  try {
    const cwd = `${parent}/work`;
    await Deno.mkdir(`${cwd}/src`, { recursive: true });
    await Deno.mkdir(`${parent}/other`);
    await Deno.writeTextFile(`${cwd}/notes.txt`, "");
    await using sandbox = createSandbox({ cwd, readRoots: [parent], confinement: "off" });
    const { files, root } = sandbox;
    const concern = async (pattern: string, path: string) =>
      createPathRule(pattern).concerns(
        await findCallPath({ name: "search_files", arguments: { path } }, files),
      );
    assertEquals(await concern(".env", "."), "below");
    assertEquals(await concern(".env", "notes.txt"), "none");
    assertEquals(await concern("src/**", ".."), "below");
    assertEquals(await concern("src/**", "/"), "below");
    assertEquals(await concern("src/**", "../other"), "none");
    assertEquals(await concern(`${root}/src/**`, "."), "below");
    assertEquals(await concern(`${root}/src/**`, "../other"), "none");
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
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
