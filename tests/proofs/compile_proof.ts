import { assert, assertStringIncludes } from "@std/assert";
import { deno } from "../project.ts";

/** Deno itself stands in for the runtime that a compiled program is appended to, which would be downloaded. */
const env = { DENORT_BIN: Deno.execPath(), NO_COLOR: "1" };

Deno.test("the program compiles to one file that has everything it imports", async () => {
  const folder = await Deno.makeTempDir({ prefix: "swink_compile_" });
  try {
    const args = ["-A", "--output", `${folder}/swink`, "cli/main.ts"];
    const { success, text } = await deno("compile", args, env);
    assert(success, text);
    assertStringIncludes(text, "Embedded Files");
    for (const part of ["cli/", "src/", "adapters/", "ajv"]) assertStringIncludes(text, part);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
