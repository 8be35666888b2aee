/**
 * Tests that change the environment of the process. Each file has a process of its own, since test files that run in
 * parallel share one environment.
 *
 * @module
 */

import { assert } from "@std/assert";
import { root, runDeno } from "./project.ts";

const directory = new URL("tests/environment/", root);

for (const { name } of Deno.readDirSync(directory)) {
  Deno.test(`environment: the tests of ${name} pass in a process of their own`, async () => {
    const { success, text } = await runDeno("test", [
      "-A",
      "--no-check",
      new URL(name, directory).href,
    ]);
    assert(success, text);
  });
}
