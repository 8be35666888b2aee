import { assertEquals } from "@std/assert";
import { withDeadline } from "../../../tests/deadline.ts";
import { runGit } from "./git_program.ts";

Deno.test({
  name: "runGit(): ends a call that waits for a pipe in the place of an ignore file",
  ignore: Deno.build.os === "windows",
  async fn() {
    const cwd = await Deno.makeTempDir();
    try {
      const script = "git init -q && mkfifo .gitignore";
      await new Deno.Command("sh", { args: ["-c", script], cwd }).output();
      const call = runGit({ program: "git", cwd, timeoutMs: 200 }, ["status", "--porcelain"]);
      assertEquals(await withDeadline(call, 10_000), {
        type: "failed",
        reason: "it took longer than 200 ms",
        isMissing: false,
      });
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});
