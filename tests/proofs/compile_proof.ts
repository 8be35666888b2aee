import { assert, assertStringIncludes } from "@std/assert";
import { createCompileArgs } from "../../scripts/compile/compile.ts";
import { findLateImports } from "../../scripts/compile/late_imports.ts";
import { choosePackages } from "../../scripts/packages.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";

/** Uses Deno itself as the runtime of the compiled program, so that none is downloaded. */
const env = { DENORT_BIN: Deno.execPath(), NO_COLOR: "1" };

Deno.test("compile: the executable contains everything that the program imports", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_compile_" });
  try {
    const { config } = await choosePackages();
    const args = await createCompileArgs({ config });
    const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: args.map((arg) => arg === "dist/swink" ? `${directory}/swink` : arg),
      cwd: root,
      env,
      signal: createDeadline(),
    }).output();
    const text = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert(success, text);
    assertStringIncludes(text, "Embedded Files");
    const { packages } = await findLateImports("cli/main.ts");
    const names = packages.map((specifier) =>
      specifier.replace(/^npm:(?:@[^/]+\/)?([^@]+)@.*$/, "$1")
    );
    // Large directories are listed without their files.
    for (const name of ["program.ts", "bash.ts", "agent.ts", "anthropic", "ajv", ...names]) {
      assertStringIncludes(text, name);
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
