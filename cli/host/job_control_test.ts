import { assertEquals, assertFalse, assertMatch } from "@std/assert";

/** Prints the result of `hasJobControl()` in a process of its own. */
const PROGRAM = `import { hasJobControl } from ${
  JSON.stringify(import.meta.resolve("./job_control.ts"))
}; console.log(await hasJobControl());`;

Deno.test({
  name: "hasJobControl(): a job of a shell has it, the first process of a session has not",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const script =
      'run() { "$0" eval --no-config "$1"; }; set -m; run "$@"; setsid -w "$0" eval --no-config "$1"';
    const { stdout } = await new Deno.Command("bash", {
      args: ["-c", script, Deno.execPath(), PROGRAM],
      stderr: "null",
    }).output();
    assertEquals(new TextDecoder().decode(stdout), "true\nfalse\n");
  },
});

Deno.test({
  name: "hasJobControl(): runs no program that a command has made in a directory of PATH",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const directory = await Deno.realPath(await Deno.makeTempDir());
    const [module = "", program = "", marker] = ["run.ts", "ps", "marker"].map((name) =>
      `${directory}/${name}`
    );
    Deno.writeTextFileSync(program, `#!/bin/sh\n: > "${marker}"\n`, { mode: 0o755 });
    const note = `import { noteWritableDirectory } from ${
      JSON.stringify(import.meta.resolve("../../src/platform/writable_directories.ts"))
    }; noteWritableDirectory(${JSON.stringify(directory)});`;
    Deno.writeTextFileSync(module, note + PROGRAM);
    // Without all permissions, the kernel's file about the process cannot be read.
    const permissions = ["--allow-read", "--allow-run", "--allow-env"];
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-config", "--no-lock", ...permissions, module],
      env: { PATH: `${directory}:${Deno.env.get("PATH")}` },
      stderr: "inherit",
    }).output();
    assertMatch(new TextDecoder().decode(stdout), /^(?:true|false)\n$/);
    assertFalse(Array.from(Deno.readDirSync(directory), ({ name }) => name).includes("marker"));
    await Deno.remove(directory, { recursive: true });
  },
});
