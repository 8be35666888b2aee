import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { TestWorkspace } from "../../../tests/sandbox/test_workspace.ts";
import { seededRandom } from "../../testing/seeded_random.ts";
import { resolveCanonicalPath } from "./canonical_path.ts";

Deno.test("write_file: writes the target of a dangling link inside the root, and rejects one outside [A99]", async () => {
  await using workspace = new TestWorkspace();
  Deno.symlinkSync("../outside/file", `${workspace.directory}/out`);
  Deno.symlinkSync("inside/file", `${workspace.directory}/in`);
  const written = await workspace.callTool("write_file", { path: "in", content: "x" });
  assertEquals(written.text, "Created inside/file (1 line)");
  const refused = await workspace.callTool("write_file", { path: "out", content: "x" });
  assertStringIncludes(refused.text, "outside");
  assertEquals([...Deno.readDirSync(workspace.outside)].map(({ name }) => name), ["project"]);
});

Deno.test("resolveCanonicalPath(): follows links, then `..`, when the path does not exist", async () => {
  await using workspace = new TestWorkspace();
  const { directory } = workspace;
  workspace.writeFile("real/deep/file", "");
  Deno.symlinkSync("real/deep", `${directory}/link`);
  const resolve = (path: string) => resolveCanonicalPath(path, directory);
  assertEquals(await resolve("link/new"), `${directory}/real/deep/new`);
  assertEquals(await resolve("link/../new"), `${directory}/real/new`);
  assertEquals(await resolve("none/../link/x/./y"), `${directory}/real/deep/x/y`);
  assertEquals(await resolve("/../../etc/none"), "/etc/none");
  Deno.symlinkSync("loop", `${directory}/loop`);
  await assertRejects(() => resolve("loop/x"));
});

Deno.test("resolveCanonicalPath(): resolves random links as the operating system does", async () => {
  await using workspace = new TestWorkspace();
  const { directory } = workspace;
  const random = seededRandom(17);
  const pick = (from: readonly string[]) => from[Math.floor(random() * from.length)] ?? "";
  const names = ["a", "b", "c", "d"];
  for (const name of names) workspace.writeFile(`${name}/file`, "");
  for (let link = 0; link < 40; link++) {
    const target = Array.from({ length: 3 }, () => pick([...names, "..", "l1", "l2"])).join("/");
    try {
      Deno.symlinkSync(target, `${directory}/${pick(names)}/l${Math.floor(random() * 4)}`);
    } catch {
      // A link of that name exists.
    }
  }
  for (let round = 0; round < 400; round++) {
    const path = Array.from(
      { length: 4 },
      () => pick([...names, "l0", "l1", "l2", "l3", "..", "file"]),
    ).join("/");
    const real = await Deno.realPath(`${directory}/${path}`).catch(() => undefined);
    const missing = await resolveCanonicalPath(`${path}/missing`, directory).catch(() => undefined);
    if (real === undefined || !Deno.statSync(real).isDirectory) continue;
    assertEquals(missing, `${real === "/" ? "" : real}/missing`, path);
  }
});
