import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { seededRandom, TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { resolveCanonicalPath } from "./canonical_path.ts";

Deno.test("A 99: a dangling link is seen to lead where it leads", async () => {
  await using bench = new TestWorkspace();
  Deno.symlinkSync("../outside/file", `${bench.directory}/out`);
  Deno.symlinkSync("inside/file", `${bench.directory}/in`);
  const written = await bench.callTool("write_file", { path: "in", content: "x" });
  assertEquals(written.text, "Created inside/file (1 line)");
  const refused = await bench.callTool("write_file", { path: "out", content: "x" });
  assertStringIncludes(refused.text, "outside");
  assertEquals([...Deno.readDirSync(bench.outside)].map(({ name }) => name), ["project"]);
});

Deno.test("a path that does not exist is resolved as far as it does, `..` after links included", async () => {
  await using bench = new TestWorkspace();
  const { directory: folder } = bench;
  bench.writeFile("real/deep/file", "");
  Deno.symlinkSync("real/deep", `${folder}/link`);
  const resolved = (path: string) => resolveCanonicalPath(path, folder);
  assertEquals(await resolved("link/new"), `${folder}/real/deep/new`);
  assertEquals(await resolved("link/../new"), `${folder}/real/new`);
  assertEquals(await resolved("none/../link/x/./y"), `${folder}/real/deep/x/y`);
  assertEquals(await resolved("/../../etc/none"), "/etc/none");
  Deno.symlinkSync("loop", `${folder}/loop`);
  await assertRejects(() => resolved("loop/x"));
});

Deno.test("random links: what exists resolves as the system resolves it", async () => {
  await using bench = new TestWorkspace();
  const { directory: folder } = bench;
  const random = seededRandom(17);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "";
  const names = ["a", "b", "c", "d"];
  for (const name of names) bench.writeFile(`${name}/file`, "");
  for (let link = 0; link < 40; link++) {
    const target = Array.from({ length: 3 }, () => pick([...names, "..", "l1", "l2"])).join("/");
    try {
      Deno.symlinkSync(target, `${folder}/${pick(names)}/l${Math.floor(random() * 4)}`);
    } catch {
      // There is one already.
    }
  }
  for (let round = 0; round < 400; round++) {
    const path = Array.from(
      { length: 4 },
      () => pick([...names, "l0", "l1", "l2", "l3", "..", "file"]),
    ).join("/");
    const real = await Deno.realPath(`${folder}/${path}`).catch(() => undefined);
    const missing = await resolveCanonicalPath(`${path}/missing`, folder).catch(() => undefined);
    if (real === undefined || !Deno.statSync(real).isDirectory) continue;
    assertEquals(missing, `${real === "/" ? "" : real}/missing`, path);
  }
});
