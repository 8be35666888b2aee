import { assertEquals } from "@std/assert";
import { type Build, buildOnce } from "./build_once.ts";

const dist = new URL("../dist/", import.meta.url);

Deno.test("buildOnce(): builds again for other inputs, for another variant, when it is forced and when the result is missing, and only then", async () => {
  const name = `build_once_test_${crypto.randomUUID()}`;
  const result = new URL(name, dist);
  const builds: string[] = [];
  const run = (input: string, variant: string, options: Pick<Build, "isForced"> = {}) =>
    buildOnce(name, {
      inputs: [input],
      variant,
      build: async () => {
        builds.push(`${input} ${variant}`);
        await Deno.mkdir(result, { recursive: true });
      },
      ...options,
    });
  try {
    await run("LICENSE", "jsr");
    await run("LICENSE", "jsr");
    await run("LICENSE", "offline");
    await run("README.md", "offline");
    await run("README.md", "offline", { isForced: true });
    await Deno.remove(result);
    await run("README.md", "offline");
    await run("README.md", "offline");
    const readme = "README.md offline";
    assertEquals(builds, ["LICENSE jsr", "LICENSE offline", readme, readme, readme]);
  } finally {
    for (const path of [name, `${name}.lock`, `${name}.sha256`]) {
      await Deno.remove(new URL(path, dist));
    }
  }
});
