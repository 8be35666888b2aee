import { assertEquals } from "@std/assert";

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
