import { assertEquals } from "@std/assert";
import { type Build, buildOnce } from "./build_once.ts";

Deno.test("buildOnce(): builds again for other inputs and for another variant, and only then", async () => {
  const name = `build_once_test_${crypto.randomUUID()}`;
  const builds: string[] = [];
  const run = (inputs: Build["inputs"], variant: string) =>
    buildOnce(name, {
      inputs,
      variant,
      build: () => Promise.resolve(void builds.push(`${inputs} ${variant}`)),
    });
  try {
    await run(["LICENSE"], "jsr");
    await run(["LICENSE"], "jsr");
    await run(["LICENSE"], "offline");
    await run(["README.md"], "offline");
    assertEquals(builds, ["LICENSE jsr", "LICENSE offline", "README.md offline"]);
  } finally {
    for (const extension of ["lock", "sha256"]) {
      await Deno.remove(new URL(`../dist/${name}.${extension}`, import.meta.url));
    }
  }
});
