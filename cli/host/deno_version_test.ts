import { assertEquals, assertStringIncludes } from "@std/assert";
import { describeOldDeno } from "./deno_version.ts";

Deno.test("describeOldDeno(): names the version that is needed for one that is too old, and accepts later ones", () => {
  for (const version of ["1.46.3", "2.0.6", "2.7.14"]) {
    const problem = describeOldDeno(version) ?? "";
    assertStringIncludes(problem, `Deno ${version} is too old`);
    assertStringIncludes(problem, "deno upgrade, or where npm has installed it, npm install");
  }
  for (
    const version of ["2.8.0", "2.9.6", "2.10.0", "2.11.0+3f1c0de", "3.0.0", Deno.version.deno]
  ) {
    assertEquals(describeOldDeno(version), undefined);
  }
});

Deno.test("describeOldDeno(): the pages name the same version", async () => {
  const needed = /needs (Deno [\d.]+) or later/.exec(describeOldDeno("2.0.0") ?? "")?.[1] ?? "";
  for (const page of ["README.md", "CHANGELOG.md", "docs/getting_started.md", "docs/runtimes.md"]) {
    const text = await Deno.readTextFile(new URL(`../../${page}`, import.meta.url));
    assertStringIncludes(text, needed, page);
    assertEquals(text.match(/Deno\]?(?:\([^)]*\))? 2(?![.\d])/g), null, page);
  }
});

Deno.test("describeOldDeno(): CI runs tests on the version that is needed", async () => {
  const workflow = await Deno.readTextFile(
    new URL("../../.github/workflows/ci.yml", import.meta.url),
  );
  const [, oldest = ""] = /deno-version: v([\d.]+)$/m.exec(workflow) ?? [];
  assertEquals(describeOldDeno(oldest), undefined);
  const [major = 0, minor = 0] = oldest.split(".").map(Number);
  assertStringIncludes(describeOldDeno(`${major}.${minor - 1}.0`) ?? "", "too old");
});
