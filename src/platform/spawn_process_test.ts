import { assertEquals, assertRejects } from "@std/assert";
import { spawnProcess } from "./spawn_process.ts";
import { getSystemErrorCode } from "./system_error.ts";

for (
  const [subject, program, cwd] of [
    ["program", "missing-program", "/"],
    ["directory", "true", "/missing"],
  ] as const
) {
  Deno.test(`spawnProcess(): names the program and the directory when the ${subject} does not exist`, async () => {
    const error = await assertRejects(
      () => spawnProcess({ program, args: [], cwd, env: {} }),
      Error,
      `The program ${program} or the directory ${cwd} does not exist`,
    );
    assertEquals(getSystemErrorCode(error), "ENOENT");
  });
}
